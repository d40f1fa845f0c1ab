"""`negmem config`: what it shows, refuses and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.snapshots import Snapshots

SECRET = "s3cr3t"


def write(run_cli: CliRunner, text: str) -> Path:
    path = run_cli.cwd / "negmem.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_show_says_where_each_value_comes_from(run_cli: CliRunner, snapshots: Snapshots) -> None:
    write(run_cli, "connection:\n  app: crm\nretrieval: {limit: 25}\ndoctor: {accept: [a_code]}\n")
    shown = run_cli(
        "config", "show", "--app", "sales", env={"NEGMEM_RETRIEVAL__REPEAT_WINDOW_S": "9"}
    )
    section = run_cli("config", "show", "retrieval", "--json")
    snapshots.check("config_show", shown.ok(), section.ok())


def test_every_fault_is_told_at_once_and_nothing_is_tried(
    run_cli: CliRunner, snapshots: Snapshots
) -> None:
    write(
        run_cli,
        "curator: {protect_tag: [vip], min_age_day: 30}\n"
        "connection:\n  dsn: ${NEGMEM_DSN}\n"
        "automation:\n  retention: {min_age_days: 0, auto_cleanup_enabled: yes}\n",
    )
    text = run_cli("config", "validate")
    document = run_cli("config", "validate", "--json")
    assert text.code == document.code == 2
    assert document.json["error"]["code"] == "config_invalid"
    snapshots.check("config_invalid", text, document)
    assert run_cli("memory", "list", "--user", "alice").code == 2


def test_a_valid_file_is_said_to_be_so(run_cli: CliRunner) -> None:
    write(run_cli, "connection: {app: crm}\n")
    assert run_cli("config", "validate").ok().stdout == "valid  negmem.yaml, 1 keys set\n"
    (run_cli.cwd / "other.yaml").write_text("llm: {model: a}\n")
    assert run_cli("config", "validate", "other.yaml", "--json").ok().json["keys_set"] == 1


@pytest.mark.parametrize(
    "dsn",
    [
        f"postgresql:/u:{SECRET}@h/db",
        f"postgresql+psycopg://u:{SECRET}%zz@h/db",
        f"postgresql://u:p@{SECRET}@localhost/db",
        f"host=h password='{SECRET}'",
    ],
)
@pytest.mark.parametrize("extra", [(), ("--json",), ("-vv",)])
def test_a_password_is_never_shown(run_cli: CliRunner, dsn: str, extra: tuple[str, ...]) -> None:
    for result in (
        run_cli("config", "show", "--dsn", dsn, *extra),
        run_cli("config", "show", *extra, env={"NEGMEM_DSN": dsn}),
        run_cli("config", "set", "connection.dsn", dsn, *extra),
    ):
        assert SECRET not in result.stdout + result.stderr
    write(run_cli, f'connection: {{dsn: "{dsn}"}}\n')
    for words in (("config", "show"), ("config", "set", "connection.dsn", dsn), ("memory", "list")):
        result = run_cli(*words, *extra)
        assert result.code == 2
        assert SECRET not in result.stdout + result.stderr


def test_set_changes_one_place_of_the_file(run_cli: CliRunner, snapshots: Snapshots) -> None:
    path = write(run_cli, "# ours\nretrieval:\n  limit: 5  # few\n")
    planned = run_cli("config", "set", "retrieval.limit", "7", "--dry-run")
    assert path.read_text() == "# ours\nretrieval:\n  limit: 5  # few\n"
    done = run_cli("config", "set", "retrieval.limit", "7")
    assert path.read_text() == "# ours\nretrieval:\n  limit: 7  # few\n"
    again = run_cli("config", "set", "retrieval.limit", "7", "--json")
    wrong = run_cli("config", "set", "retrieval.limit", "many")
    unknown = run_cli("config", "set", "retrieval.limt", "7")
    section = run_cli("config", "set", "retrieval", "7")
    snapshots.check("config_set", planned.ok(), done.ok(), again.ok(), wrong, unknown, section)


def test_set_without_a_file_says_how_to_get_one(run_cli: CliRunner) -> None:
    result = run_cli("config", "set", "retrieval.limit", "7", env={"XDG_CONFIG_HOME": "/nowhere"})
    assert result.code == 2
    assert "negmem init" in result.stderr


def test_path_is_the_file_that_counts(run_cli: CliRunner) -> None:
    assert run_cli("config", "path").ok().stdout == ""
    write(run_cli, "")
    assert run_cli("config", "path").ok().stdout == "negmem.yaml\n"
    named = run_cli("config", "path", "--json", env={"NEGMEM_CONFIG": "x.yaml"}).ok().json
    assert (named["path"], named["origin"]) == ("x.yaml", "NEGMEM_CONFIG")


def test_the_json_schema_is_printed_as_it_is(run_cli: CliRunner) -> None:
    schema = json.loads(run_cli("config", "schema").ok().stdout)
    assert schema["properties"].keys() >= {"connection", "automation", "doctor"}
    assert run_cli("config", "schema", "--json").ok().json["document"] == schema


def test_the_defaults_are_the_shipped_file(run_cli: CliRunner) -> None:
    shipped = Path(__file__).parents[2] / "configs" / "default.yaml"
    assert run_cli("config", "show", "--defaults").ok().stdout == shipped.read_text()


def test_automation_is_set_in_the_database(negmem: CliRunner, database: TestDatabase) -> None:
    actor = {"NEGMEM_GOVERNANCE__ACTOR": "王芳"}
    key = "automation.retention.min_age_days"
    planned = negmem("config", "set", key, "30", "--dry-run", "--json").ok().json
    assert (planned["dry_run"], planned["before"], planned["after"]) == (True, 640, 30)
    done = negmem("config", "set", key, "30", "--json", env=actor).ok().json
    assert (done["target"], done["changed"], done["actor"]) == ("stored", True, "王芳")
    assert negmem("config", "set", key, "30", "--json").ok().json["changed"] is False
    row = database.rows(
        "SELECT config #>> '{retention,min_age_days}', revision, updated_by"
        " FROM negentropy.memory_automation_configs"
    )
    assert row == [("30", 2, "王芳")]
    history = database.rows(
        "SELECT revision, changed_keys, changed_by, reason"
        " FROM negentropy.memory_automation_config_history ORDER BY revision"
    )
    assert history[1:] == [(2, [key], "王芳", "config set")]
    shown = negmem("config", "show", "automation.retention", "--stored", "--json").ok().json
    values = {value["key"]: value for value in shown["values"]}
    assert values[key]["value"] == 30
    assert values[key]["origin"].startswith("stored by 王芳, ")
    exported = negmem("config", "export").ok().stdout
    assert "    min_age_days: 30\n" in exported
    write(negmem, exported)
    assert negmem("config", "validate").ok()
    assert negmem("config", "export", "--json").ok().json["revision"] == 2


def test_a_wrong_automation_value_reaches_no_database(run_cli: CliRunner) -> None:
    nowhere = {"NEGMEM_DSN": "postgresql://nobody@127.0.0.1:1/none"}
    result = run_cli("config", "set", "automation.retention.min_age_days", "0", env=nowhere)
    assert result.code == 2
    assert "from 1 to 36500, got 0" in result.stderr


def test_a_declaration_in_the_yaml_that_says_otherwise_is_warned_of(negmem: CliRunner) -> None:
    write(negmem, "automation:\n  retention: {min_age_days: 14}\n")
    result = negmem("config", "set", "automation.retention.min_age_days", "30", "--json").ok().json
    found = {warning["code"]: warning for warning in result["warnings"]}
    assert set(found) == {"yaml_declares_otherwise", "retention_effect"}
    warning = found["yaml_declares_otherwise"]
    assert "negmem.yaml:2 declares automation.retention.min_age_days: 14" in warning["message"]


def test_an_app_without_a_row_is_told_how_to_get_one(negmem: CliRunner) -> None:
    result = negmem("config", "export", "--app", "elsewhere")
    assert result.code == 1
    assert "negmem init --app elsewhere" in result.stderr


def test_the_history_of_the_stored_config(negmem: CliRunner) -> None:
    negmem("config", "set", "automation.retention.min_age_days", "30").ok()
    negmem("automation", "enable", "cleanup_memories").ok()
    found = negmem("config", "history", "--json").ok().json
    assert [(one["revision"], one["reason"]) for one in found["revisions"][:2]] == [
        (3, "automation enable cleanup_memories"),
        (2, "config set"),
    ]
    assert found["revisions"][1]["changes"] == [
        {"key": "automation.retention.min_age_days", "before": 640, "after": 30}
    ]
    assert all(one["actor"] and one["at"].endswith("Z") for one in found["revisions"])
    text = negmem("config", "history", "-n", "1").ok().stdout
    assert "      automation.retention.auto_cleanup_enabled  false → true\n" in text
    assert text.endswith("1 of 3 revisions (-n 3)\n")
    unknown = negmem("config", "history", "--app", "订单", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (1, "app_unknown")
