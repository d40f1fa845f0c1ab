"""Who wins, where a value comes from, and what is refused before anything is connected to."""

from __future__ import annotations

from pathlib import Path

import pytest

from negmem.config.load import find_config, load_config
from negmem.config.problems import ConfigError
from negmem.errors import NegmemError, UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder and an empty config folder of the user."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return tmp_path / "work"


def problems(text: str, env: dict[str, str] | None = None) -> list[tuple[str, str]]:
    Path("negmem.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(None, env or {})
    assert caught.value.exit_code == 2
    return [(p.code, str(p)) for p in caught.value.problems]


def test_flag_over_variable_over_yaml_over_default(folder: Path) -> None:
    (folder / "negmem.yaml").write_text(
        "connection:\n  app: from-yaml\n  schema: from_yaml\n  lock_timeout_ms: 70\n"
    )
    env = {"NEGMEM_APP": "from-variable", "NEGMEM_SCHEMA": "from_variable"}
    loaded = load_config(None, env, {"connection.schema": "from_flag", "connection.dsn": None})
    connection = loaded.config.connection
    assert (connection.schema_name, connection.app) == ("from_flag", "from-variable")
    assert (connection.lock_timeout_ms, connection.connect_timeout_s) == (70, 5)
    assert {key: str(loaded.origins[f"connection.{key}"]) for key in
            ("schema", "app", "lock_timeout_ms", "connect_timeout_s")} == {
        "schema": "--schema",
        "app": "NEGMEM_APP",
        "lock_timeout_ms": "negmem.yaml:4",
        "connect_timeout_s": "default",
    }  # fmt: skip


def test_every_key_has_a_variable_but_automation(folder: Path) -> None:
    env = {
        "NEGMEM_RETRIEVAL__LIMIT": "25",
        "NEGMEM_DOCTOR__ACCEPT": "pg_cron_not_installed, embedding_missing",
        "NEGMEM_EMBEDDING__QUERY_PREFIX": "query: ",
        "NEGMEM_PAGER": "less",
        "NEGMEM_APP": "",
    }
    config = load_config(None, env).config
    assert config.retrieval.limit == 25
    assert config.doctor.accept == ("pg_cron_not_installed", "embedding_missing")
    assert config.embedding.query_prefix == "query: "
    assert config.connection.app == "negmem"
    with pytest.raises(ConfigError) as caught:
        load_config(None, {"NEGMEM_RETRIEVAL__LIMT": "3", "NEGMEM_AUTOMATION__X__Y": "1"})
    assert caught.value.code == "config_unknown_key"
    assert "negmem config set automation.KEY VALUE" in caught.value.why
    assert "did you mean NEGMEM_RETRIEVAL__LIMIT?" in caught.value.why


def test_the_file_is_searched_here_then_in_the_users_folder(folder: Path) -> None:
    assert find_config(None, {}).path is None
    home = folder.parent / "home" / "negmem"
    home.mkdir(parents=True)
    (home / "negmem.yaml").write_text("connection: {app: home}")
    assert load_config(None, {}).path == home / "negmem.yaml"
    (folder / "negmem.yaml").write_text("connection: {app: here}")
    assert load_config(None, {}).config.connection.app == "here"
    (folder / "other.yaml").write_text("connection: {app: named}")
    assert load_config(None, {"NEGMEM_CONFIG": "other.yaml"}).config.connection.app == "named"
    assert load_config(Path("other.yaml"), {"NEGMEM_CONFIG": "x"}).config.connection.app == "named"


def test_a_named_file_must_exist_unless_it_is_to_be_made(folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_config(Path("absent.yaml"), {})
    assert caught.value.code == "config_not_found"
    assert "named by --config" in caught.value.why
    assert load_config(Path("absent.yaml"), {}, may_be_missing=True).path is None


@pytest.mark.parametrize("kind", ["binary", "latin1", "folder", "huge"])
def test_what_is_no_text_file_is_refused(folder: Path, kind: str) -> None:
    path = folder / "negmem.yaml"
    if kind == "binary":
        path.write_bytes(b"\x7fELF\x00\xff\xfe")
    elif kind == "latin1":
        path.write_bytes("connection: {app: café}".encode("latin1"))
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"# " + b"x" * 5_000_000)
    with pytest.raises(UsageError) as caught:
        load_config(None, {})
    assert caught.value.code == "config_unreadable"


def test_a_byte_order_mark_and_windows_lines_are_read(folder: Path) -> None:
    (folder / "negmem.yaml").write_bytes(b"\xef\xbb\xbfconnection:\r\n  app: crm\r\n")
    assert load_config(None, {}).config.connection.app == "crm"


def test_the_surprises_of_old_yaml_do_not_happen(folder: Path) -> None:
    (folder / "negmem.yaml").write_text(
        "connection: {app: no, schema: 1.10}\n"
        "automation: {retention: {decay_lambda: 1e-3}}\n"
        "embedding: {model: 22:30, query_prefix: on}\n"
    )
    config = load_config(None, {}).config
    assert (config.connection.app, config.connection.schema_name) == ("no", "1.10")
    assert (config.embedding.model, config.embedding.query_prefix) == ("22:30", "on")
    assert config.automation is not None
    assert config.automation.retention.decay_lambda == 0.001


def test_every_fault_is_told_at_once_with_its_place(folder: Path) -> None:
    found = problems(
        "curator: {protect_tag: [vip]}\n"
        "automation:\n"
        "  retention:\n"
        "    min_age_day: 30\n"
        "    min_age_days: 0\n"
        "    auto_cleanup_enabled: yes\n"
        "    cleanup_schedule: 22:30\n"
        "retention: {min_age_days: 3, run_log_days: '7'}\n"
        "retrieval: {limit: 5, limit: 50}\n"
        "learning: {profile: {mode: alway}, session_context: {mode: hitl}}\n"
        "llm: [a]\n",
    )
    assert [text.split(" ")[0] for _, text in found] == [
        "negmem.yaml:1:1:", "negmem.yaml:4:5:", "negmem.yaml:5:19:", "negmem.yaml:6:27:",
        "negmem.yaml:7:23:", "negmem.yaml:8:13:", "negmem.yaml:8:44:", "negmem.yaml:9:23:",
        "negmem.yaml:10:28:", "negmem.yaml:10:60:", "negmem.yaml:11:6:",
    ]  # fmt: skip
    said = "\n".join(text for _, text in found)
    assert "did you mean automation.retention.min_age_days?" in said
    assert "must be a whole number from 1 to 36500, got 0" in said
    assert "must be true or false, got 'yes' (in YAML 1.2 that is a word)" in said
    assert "did you mean always?" in said
    assert "the key 'limit' stands in line 9 already" in said
    assert "known here: connection, embedding" in said


def test_one_kind_of_fault_gives_its_own_code(folder: Path) -> None:
    (folder / "negmem.yaml").write_text("curator: {protect_tag: [vip], min_age_day: 30}\n")
    with pytest.raises(UsageError) as caught:
        load_config(None, {})
    assert caught.value.code == "config_unknown_key"
    assert caught.value.message == "the configuration has an error"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("connection: {app: ''}", "not empty"),
        ("connection: {app: null}", "must be text"),
        ("connection: {app: ' x'}", "no blanks around it"),
        ("connection: {schema: pg_catalog}", "reserved"),
        (f"connection: {{schema: {'x' * 64}}}", "at most 63 bytes, got 64"),
        (f"connection: {{schema: {'模' * 22}}}", "at most 63 bytes, got 66"),
        ("connection: {dsn: ''}", "not empty"),
        ("connection: {lock_timeout_ms: 1.5}", "a whole number"),
        ("connection: {lock_timeout_ms: true}", "a whole number"),
        ("retrieval: {limit: [1]}", "got a list"),
        ("retrieval: {semantic_weight: 0, keyword_weight: 0}", "nothing could rank"),
        ("retrieval: {semantic_weight: .nan}", "a number from 0 to 1"),
        ("retrieval: {semantic_weight: 1e999}", "a number from 0 to 1"),
        ("automation: {retention: {decay_lambda: 0}}", "over 0 and at most 10"),
        ("automation: {retention: {max_share: 0}}", "over 0 and at most 1"),
        ("automation: {context_assembler: {memory_ratio: 0.7}}", "1.2 together, at most 1"),
        ("automation: {context_assembler: {max_tokens: 255}}", "from 256 to 2000000"),
        ("automation: {consolidation: {lookback_interval: 0 hours}}", "over zero"),
        ("automation: {consolidation: {lookback_interval: -1 hour}}", "over zero"),
        ("automation: {consolidation: {lookback_interval: soon}}", "not an interval"),
        ("automation: {reweight_relevance: {schedule: '@daily'}}", "five fields"),
        ("embedding: {provider: litellm}", "needs embedding.model"),
        ("embedding: {provider: onnx}", "needs embedding.path"),
        ("embedding: {provider: locl}", "did you mean local?"),
        ("embedding: {api_key_env: sk-abc-123}", "it must match"),
        ("doctor: {accept: pg_cron_not_installed}", "a list of words"),
        ("doctor: {accept: [{a: b}]}", "got a mapping in it"),
        ("doctor: {accept: [Bad Code]}", "it must match"),
        ("learning: {decision_log: {mode: always}}", "must be agentic"),
        ("1: x", "unknown key 1"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_wanted(folder: Path, line: str, said: str) -> None:
    found = problems(line + "\n")
    assert len(found) == 1
    assert said in found[0][1]


def test_a_value_that_may_be_a_secret_is_not_repeated(folder: Path) -> None:
    found = problems("embedding: {api_key_env: sk-abc-123}\nconnection: {dsn: [s3cr3t]}\n")
    assert "sk-abc" not in str(found)
    assert "s3cr3t" not in str(found)


def test_a_password_in_clear_is_refused_with_the_remedy(folder: Path) -> None:
    [(code, text)] = problems("connection:\n  dsn: postgresql://me:s3cr3t@h/db\n")
    assert code == "config_secret_in_yaml"
    assert "negmem.yaml:2:8" in text
    assert "${PGPASSWORD}" in text
    assert "s3cr3t" not in text


def test_an_address_with_a_password_is_refused_too(folder: Path) -> None:
    [(code, text)] = problems("embedding: {api_base: 'https://me:s3cr3t@models.example.org/v1'}\n")
    assert code == "config_secret_in_yaml"
    assert "s3cr3t" not in text


def test_variables_are_filled_in(folder: Path) -> None:
    (folder / "negmem.yaml").write_text(
        "connection: {dsn: 'postgresql://me:${PW}@h/${DB:-agents}', app: a$$b}\n"
        "retrieval: {limit: '${LIMIT}'}\n"
        "embedding: {model: '${MODEL}'}\n"
    )
    env = {"PW": "p: ${no}", "LIMIT": "7", "MODEL": "no"}
    config = load_config(None, env).config
    assert config.connection.dsn is not None
    assert config.connection.dsn.get_secret_value() == "postgresql://me:p: ${no}@h/agents"
    assert config.connection.app == "a$b"
    assert config.retrieval.limit == 7
    assert config.embedding.model == "no"


def test_an_unset_variable_is_an_error_with_the_path_of_its_key(folder: Path) -> None:
    found = problems("connection: {dsn: '${NEGMEM_DSN}', app: '${'}\n")
    assert [code for code, _ in found] == ["config_variable_unset"] * 2
    assert "connection.dsn: variable NEGMEM_DSN is not set" in found[0][1]


def test_a_variable_that_is_empty_does_not_pass_for_a_target(folder: Path) -> None:
    [(_, text)] = problems("connection: {dsn: '${EMPTY}'}\n", {"EMPTY": ""})
    assert "connection.dsn must be text, not empty or null" in text


def test_values_that_only_fit_together_across_sources_are_accepted(folder: Path) -> None:
    (folder / "negmem.yaml").write_text("embedding: {provider: litellm}\n")
    loaded = load_config(None, {"NEGMEM_EMBEDDING__MODEL": "text-embedding-3-small"})
    assert loaded.config.embedding.model == "text-embedding-3-small"
    with pytest.raises(ConfigError, match="an error") as caught:
        load_config(None, {})
    assert "negmem.yaml:1: embedding: provider litellm needs embedding.model" in caught.value.why


def test_automation_is_declared_only_by_what_stands_there(folder: Path) -> None:
    assert load_config(None, {}).declared_automation is None
    (folder / "negmem.yaml").write_text("automation:\n")
    assert load_config(None, {}).declared_automation is None
    (folder / "negmem.yaml").write_text("automation:\n  retention:\n    min_age_days: 30\n")
    loaded = load_config(None, {})
    assert loaded.declared_automation == {"retention": {"min_age_days": 30}}
    assert loaded.config.automation is not None
    assert loaded.config.automation.retention.decay_lambda == 0.1


def test_a_wrong_flag_is_named_as_the_flag(folder: Path) -> None:
    with pytest.raises(NegmemError) as caught:
        load_config(None, {}, {"connection.app": "", "embedding.dims": 0})
    assert "--app: connection.app must be text, not empty" in caught.value.why
    assert "--dims: embedding.dims must be a whole number from 1 to 4000" in caught.value.why


def test_a_connection_string_is_not_shown_by_the_config_object(folder: Path) -> None:
    config = load_config(None, {"NEGMEM_DSN": "postgresql://u:s3cr3t@h/d"}).config
    assert "s3cr3t" not in repr(config) + str(config) + config.model_dump_json()
