"""What negmem writes as YAML says what the model says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from negmem.config.automation import default_document
from negmem.config.document import parse_document
from negmem.config.keys import Key, all_keys
from negmem.config.load import load_config
from negmem.config.model import Automation, Config, Learning
from negmem.config.render import (
    preset_names,
    render_default_yaml,
    render_document,
    render_initial_yaml,
    schema_document,
)
from negmem.errors import UsageError

CONFIGS = Path(__file__).parents[3] / "configs"
UNITS = (
    "_days",
    "_ms",
    "_s",
    "_tokens",
    "_chars",
    "_turns",
    "_rows",
    "_texts",
    "_calls",
    "_usd",
    "workers",
    "limit",
    "dims",
)
UNIT_WORDS = ("1/day", "0..1", "0..2", "times:", "rows", "numbers in", "tokens", "votes")


def test_the_file_of_defaults_is_current() -> None:
    assert (CONFIGS / "default.yaml").read_text(encoding="utf-8") == render_default_yaml()


def test_the_file_of_defaults_says_what_the_model_says() -> None:
    loaded = load_config(CONFIGS / "default.yaml", {})
    assert loaded.config.model_copy(update={"automation": None}) == Config()
    assert loaded.config.automation == Automation()
    assert loaded.declared_automation == default_document()
    assert all(origin.kind == "yaml" for origin in loaded.origins.values())
    assert yaml.safe_load((CONFIGS / "default.yaml").read_text()) == loaded.config.model_dump(
        mode="json", by_alias=True
    )


@pytest.mark.parametrize("key", list(all_keys().values()), ids=lambda key: key.path)
def test_every_key_says_what_it_means_and_in_which_unit(key: Key) -> None:
    assert key.field.description
    if key.kinds & {int, float}:
        named = key.attribute.endswith(UNITS)
        assert named or any(word in key.field.description for word in UNIT_WORDS)


def test_the_presets_are_three_and_differ_in_their_stores() -> None:
    assert preset_names() == ["complete", "minimal", "standard"]
    enabled = {}
    for preset in preset_names():
        learning = load_config(CONFIGS / "presets" / f"{preset}.yaml", {}).config.learning
        stores = [(name, store) for name, store in learning if hasattr(store, "enabled")]
        enabled[preset] = [name for name, store in stores if store.enabled]
    assert enabled["minimal"] == ["profile"]
    assert enabled["standard"] == ["profile", "memory", "entity"]
    assert enabled["complete"] == [name for name, _ in stores]
    standard = load_config(CONFIGS / "presets" / "standard.yaml", {}).config
    assert standard.learning == Learning()


@pytest.mark.parametrize("preset", ["minimal", "standard", "complete"])
def test_the_first_file_is_read_back_and_declares_no_automation(
    tmp_path: Path, preset: str
) -> None:
    text = render_initial_yaml(schema="mem", app="no", embedder="local", dims=384, preset=preset)
    path = tmp_path / "negmem.yaml"
    path.write_text(text)
    loaded = load_config(path, {})
    assert loaded.declared_automation is None
    connection, embedding = loaded.config.connection, loaded.config.embedding
    assert (connection.schema_name, connection.app) == ("mem", "no")
    assert (embedding.provider, embedding.dims) == ("local", 384)
    example = "\n".join(
        line[2:]
        for line in text[text.index("# automation:") :].splitlines()
        if line.startswith("# ")
    )
    document = parse_document(example, "example", {})
    assert document.problems == []
    assert document.values["automation"]["retention"]["auto_cleanup_enabled"] is True


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        render_initial_yaml(schema="s", app="a", embedder="none", preset="huge")
    assert caught.value.code == "preset_unknown"


def test_a_stored_document_comes_back_from_its_yaml(tmp_path: Path) -> None:
    document = default_document()
    document["retention"]["decay_lambda"] = 1e-07
    path = tmp_path / "negmem.yaml"
    path.write_text(render_document(document))
    assert load_config(path, {}).declared_automation == document
    assert render_document({}) == "automation: {}\n"


def test_the_json_schema_accepts_the_defaults_and_refuses_the_unknown() -> None:
    schema = schema_document()
    json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    defaults = yaml.safe_load(render_default_yaml())
    jsonschema.validate(defaults, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"curator": {}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"automation": {"retention": {"min_age_days": 0}}}, schema)
