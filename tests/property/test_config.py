"""Any YAML text gives either a configuration or an error of ours; any edit keeps the rest."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from negmem.config import yamltext
from negmem.config.document import expand, parse_document
from negmem.config.edit import plan_edit
from negmem.config.keys import all_keys, tree
from negmem.config.load import load_config, read_argument
from negmem.config.model import Config
from negmem.config.problems import ConfigError, check
from negmem.config.secrets import mask_dsn
from negmem.core.models.schedule import parse_cron, parse_interval
from negmem.errors import UsageError

KEYS = sorted(all_keys())
SECTIONS = sorted({part for key in KEYS for part in key.split(".")})
WORDS = st.one_of(
    st.sampled_from(
        ["no", "1e-3", "22:30", "~", "''", "[1, 2]", "{a: b}", "&a 3", "*a", "| \n  x", "!!int 3",
         "${HOME}", "${", "$$", "0x1f", ".nan", "1e999", "9" * 30, "true", "0 2 * * *", "1 hour"]
    ),
    st.text(max_size=12),
    st.integers().map(str),
    st.floats().map(str),
)  # fmt: skip
LINES = st.builds(
    lambda depth, name, word: "  " * depth + f"{name}: {word}",
    st.integers(0, 3),
    st.sampled_from([*SECTIONS, "<<", "x", ""]),
    st.one_of(st.just(""), WORDS),
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(LINES, max_size=12).map("\n".join))


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_configuration_or_an_error(loader: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(yaml, "CSafeLoader", getattr(yaml, loader))
        path = Path(folder) / "negmem.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        with contextlib.suppress(UsageError):
            assert isinstance(load_config(path, {"HOME": "/root"}).config, Config)


@given(data=st.binary(max_size=100))
def test_any_bytes_are_a_configuration_or_an_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "negmem.yaml"
        path.write_bytes(data)
        with contextlib.suppress(UsageError):
            load_config(path, {})


def good_value(key: str) -> st.SearchStrategy[str]:
    """Values that a key takes, as a command line gives them."""
    leaf = all_keys()[key]
    if leaf.choices:
        return st.sampled_from(leaf.choices)
    if bool in leaf.kinds:
        return st.sampled_from(["true", "false"])
    if int in leaf.kinds:
        low, _, high = leaf.bounds.partition("..")
        return st.integers(int(low), int(high) if high else 10**9).map(str)
    if float in leaf.kinds:
        return st.sampled_from(["0.5", "0.25", "1e-3"])
    if "schedule" in key:
        return st.sampled_from(["0 2 * * *", "30 seconds", "*/5 1-3 * jan *"])
    if "languages" in key:
        return st.sampled_from(["zh", "en"])
    if key == "learning.profile.fields":
        return st.sampled_from(["team:text", "started:date"])
    if key == "learning.tools.limits":
        return st.sampled_from(["memory_search:30", "remember:0"])
    if "interval" in key:
        return st.sampled_from(["1 hour", "2 days 03:00", "90 min"])
    return st.sampled_from(["no", "a_b", "x1", "null_", "on"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A good file in some layout: block or flow sections, comments, indents, line ends."""
    tree_of: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=10)):
        inner = tree_of
        *sections, name = key.split(".")
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[name] = yamltext.render(read_argument(all_keys()[key], draw(good_value(key))))
    step = draw(st.sampled_from([2, 3, 4]))
    lines: list[str] = []

    def comment() -> str:
        return draw(st.sampled_from(["", "", "  # 说明: a note", "   #x"]))

    def flow(values: dict[str, Any]) -> str:
        parts = [f"{k}: {flow(v) if isinstance(v, dict) else v}" for k, v in values.items()]
        return "{" + ", ".join(parts) + "}"

    def block(values: dict[str, Any], depth: int) -> None:
        for name, value in values.items():
            indent = " " * (step * depth)
            if draw(st.booleans()):
                lines.append(draw(st.sampled_from(["", f"{indent}# above {name}", "# far left"])))
            if not isinstance(value, dict):
                lines.append(f"{indent}{name}: {value}{comment()}")
            elif draw(st.booleans()):
                lines.append(f"{indent}{name}: {flow(value)}{comment()}")
            else:
                lines.append(f"{indent}{name}:{comment()}")
                block(value, depth + 1)

    block(tree_of, 0)
    lines += draw(st.sampled_from([[], [""], ["# the end"], ["", "# the end", ""]]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return newline.join(lines) + draw(st.sampled_from(["", newline]))


def without(values: dict[str, Any], key: str) -> dict[str, Any]:
    """Nested values without one key and without the sections that are empty then."""
    head, _, rest = key.partition(".")
    found = dict(values)
    if rest and isinstance(found.get(head), dict):
        found[head] = without(found[head], rest)
    elif not rest:
        found.pop(head, None)
    return {name: value for name, value in found.items() if value != {}}


def comments(text: str) -> list[str]:
    return [line[line.index("#") :].strip() for line in text.splitlines() if "#" in line]


@given(data=st.data(), text=documents(), key=st.sampled_from(KEYS))
@settings(max_examples=200, deadline=None)
def test_an_edit_changes_one_key_and_keeps_every_comment(
    data: st.DataObject, text: str, key: str
) -> None:
    value = data.draw(good_value(key))
    try:
        edit = plan_edit(text, "f", key, value, {})
    except ConfigError as error:  # values that do not fit together, such as litellm without a model
        assert error.problems[0].key not in all_keys()
        reject()
    old, new = (parse_document(each, "f", {}) for each in (text, edit.text))
    assert without(new.values, key) == without(old.values, key)
    assert new.problems == []
    assert comments(edit.text) == comments(text)
    assert plan_edit(edit.text, "f", key, value, {}).text == edit.text


@given(text=TEXTS, key=st.sampled_from(KEYS), value=WORDS)
def test_an_edit_of_anything_is_done_or_refused(text: str, key: str, value: str) -> None:
    with contextlib.suppress(UsageError):
        assert isinstance(plan_edit(text, "f", key, value, {"HOME": "/root"}).text, str)


@given(env=st.dictionaries(st.sampled_from([k.variable or "" for k in all_keys().values()]), WORDS))
def test_any_variables_are_a_configuration_or_an_error(env: dict[str, str]) -> None:
    with contextlib.suppress(UsageError):
        load_config(Path("/dev/null"), env)


@given(
    values=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(SECTIONS), inner, max_size=4)
        ),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict))
)
def test_any_document_is_checked_without_a_crash(values: dict[str, object]) -> None:
    model, single, joint = check(Config, values, tree(), lambda path: path)
    assert (model is None) == bool(single or joint)


@given(text=st.text())
def test_a_rendered_text_is_read_back(text: str) -> None:
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        return
    root, _ = yamltext.parse(f"k: {yamltext.render(text)}\n")
    node = root.entries["k"][1]
    assert isinstance(node, yamltext.Scalar)
    assert node.text == text
    assert not (node.is_plain and yamltext.resolve(text) != text)


@given(text=st.text())
def test_expansion_without_references_changes_nothing(text: str) -> None:
    if "$" not in text:
        assert expand(text, {}) == (text, False, [])


@given(
    user=st.from_regex(r"[a-z]{1,8}", fullmatch=True),
    secret=st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=3).filter(
        lambda text: text not in "postgresql://user@host:5432/db?password=" and "***" not in text
    ),
    form=st.sampled_from(
        ["postgresql://{u}:{p}@host:5432/db", "postgresql:/{u}:{p}@host/db", "{u}:{p}@host/db"]
    ),
)
def test_a_masked_url_never_holds_the_password(user: str, secret: str, form: str) -> None:
    shown = mask_dsn(form.format(u=user, p=secret))
    assert secret not in shown.replace(user, "", 1)


@given(text=st.text(max_size=30))
def test_schedules_and_intervals_are_read_or_refused(text: str) -> None:
    for parse in (parse_cron, parse_interval):
        with contextlib.suppress(ValueError):
            parse(text)
