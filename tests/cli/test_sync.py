"""`negmem diff`, `sync` and `automation`: what they say, write and refuse, and with which exit code."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.snapshots import Snapshots

EDIT = (
    "CREATE OR REPLACE FUNCTION negentropy.rrf_score(p_rank bigint, p_k integer DEFAULT 60)"
    " RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 1.2::float8 $$"
)
DROP = "DROP FUNCTION negentropy.proactive_rank"
COSMETIC = (
    "CREATE OR REPLACE FUNCTION negentropy.weighted_score(p_semantic float8, p_keyword float8,"
    " p_semantic_weight float8 DEFAULT 0.7, p_keyword_weight float8 DEFAULT 0.3) RETURNS float8"
    " LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT p_semantic_weight * COALESCE(NULLIF("
    "p_semantic, 'NaN'), 0) + p_keyword_weight * COALESCE(NULLIF(p_keyword, 'NaN'), 0)$$"
)


def declare(negmem: CliRunner, text: str) -> Path:
    path = negmem.cwd / "negmem.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def stored(database: TestDatabase, path: str) -> Any:
    return database.value(
        "SELECT config #> %s::text[] FROM negentropy.memory_automation_configs WHERE is_main",
        ("{" + path.replace(".", ",") + "}",),
    )


def test_no_drift_after_init(negmem: CliRunner) -> None:
    for word in ("diff", "sync"):
        text = negmem(word).ok()
        assert "nothing to do" in text.stdout or "no drift" in text.stdout
    document = negmem("diff", "--json").ok().json
    assert list(document)[:4] == ["schema", "drift", "changes", "unmanaged"]
    assert document["schema"] == "negmem.diff/1"
    assert (document["drift"], document["changes"]) == (False, [])
    document = negmem("sync", "--json").ok().json
    assert document["schema"] == "negmem.sync/1"
    assert (document["applied"], document["skipped"], document["degraded_reasons"]) == ([], [], [])
    assert document["unchanged"] > 30


def test_drift_is_shown_and_left_where_a_person_made_it(
    negmem: CliRunner, database: TestDatabase, snapshots: Snapshots
) -> None:
    for statement in (EDIT, DROP, COSMETIC):
        database.rows(statement)
    database.rows("CREATE FUNCTION negentropy.theirs() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    shown = negmem("diff")
    verbose = negmem("diff", "-v", "rrf_score", "weighted_score")
    dry = negmem("sync", "--dry-run")
    done = negmem("sync")
    again = negmem("sync")
    assert [shown.code, verbose.code, dry.code, done.code, again.code] == [3, 3, 0, 3, 3]
    assert negmem("diff", "--exit-zero").code == 0
    alone = negmem("diff", "weighted_score").ok()
    assert "no drift: 0 things as declared · 1 cosmetic" in alone.stdout
    document = negmem("sync", "--json").json
    count = document["unchanged"]
    hide = {
        document["target"]: "<target>",
        f"unchanged {count}": "unchanged <n>",
        f"unchanged {count - 1}": "unchanged <n - 1>",
    }
    snapshots.check("sync_drift", shown, verbose, dry, done, again, hide=hide)


def test_the_json_of_a_change(negmem: CliRunner, database: TestDatabase) -> None:
    database.rows(EDIT)
    result = negmem("diff", "--json")
    assert result.code == 3
    (change,) = result.json["changes"]
    assert {
        key: change[key] for key in ("kind", "name", "state", "reason", "action", "significance")
    } == {
        "kind": "function",
        "name": "rrf_score(bigint, integer)",
        "state": "drifted",
        "reason": "edited",
        "action": "update",
        "significance": "semantic",
    }
    assert "SELECT 1.2" in change["before"]
    assert "GREATEST(0, p_k)" in change["after"]


def test_overwriting_by_hand_needs_a_word(negmem: CliRunner, database: TestDatabase) -> None:
    database.rows(EDIT)
    refused = negmem("sync", "--overwrite-edited")
    assert refused.code == 2
    assert "error[confirmation_needed]" in refused.stderr
    typed = negmem("sync", "--overwrite-edited", subprocess=True)
    assert "fix: negmem sync --overwrite-edited --yes\n" in typed.stderr
    hidden = negmem("sync", "--overwrite-edited", "--dsn", database.dsn, subprocess=True)
    assert "fix: negmem sync … --yes\n" in hidden.stderr
    assert negmem("diff").code == 3
    done = negmem("sync", "--overwrite-edited", "--yes", "--json").ok().json
    assert [change["name"] for change in done["applied"]] == ["rrf_score(bigint, integer)"]
    assert negmem("diff").code == 0
    negmem("sync", "--overwrite-edited").ok()


def test_with_a_terminal_the_plan_is_shown_and_asked_about(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows(DROP)
    for answer, code in ((b"n\n", 2), (b"y\n", 0)):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "negmem.cli", "sync"],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=negmem.environment({"PYTHONPATH": str(Path(__file__).parents[2])}),
            cwd=negmem.cwd,
        )
        os.write(ours, answer)
        _, said = process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        assert "proactive_rank  missing" in said.decode()
        assert "apply 1 change to" in said.decode()
        assert process.returncode == code
    assert negmem("diff").code == 0


def test_the_yaml_wins_where_it_alone_changed(negmem: CliRunner, database: TestDatabase) -> None:
    declare(negmem, "automation:\n  retention: {low_retention_threshold: 0.05}\n")
    shown = negmem("diff", "--json")
    assert shown.code == 3
    config = [change for change in shown.json["changes"] if change["kind"] == "config"]
    assert [(c["name"], c["before"], c["after"], c["reason"]) for c in config] == [
        ("automation.retention.low_retention_threshold", "0.0001", "0.05", "yaml_changed")
    ]
    done = negmem("sync", "--json").ok().json
    for told in (shown.json, done):
        assert [w["message"].partition(":")[0] for w in told["warnings"]] == [
            "with low_retention_threshold 0.05"
        ]
    assert {change["kind"] for change in done["applied"]} == {"config", "function"}
    assert stored(database, "retention.low_retention_threshold") == 0.05
    assert database.rows(
        "SELECT changed_keys, reason FROM negentropy.memory_automation_config_history"
        " ORDER BY revision DESC LIMIT 1"
    ) == [(["automation.retention.low_retention_threshold"], "sync")]
    assert negmem("diff").code == 0
    assert negmem("sync", "--json").ok().json["applied"] == []
    assert stored(database, "retention.min_age_days") == 640


def test_the_database_wins_where_it_alone_changed(
    negmem: CliRunner, database: TestDatabase
) -> None:
    declare(negmem, "automation:\n  retention: {min_age_days: 7}\n")
    negmem("sync").ok()
    negmem("config", "set", "automation.retention.min_age_days", "30").ok()
    assert negmem("diff").code == 3
    kept = negmem("sync", "--json")
    assert kept.code == 3
    assert [(c["name"], c["reason"]) for c in kept.json["skipped"]] == [
        ("automation.retention.min_age_days", "stored_changed")
    ]
    # The functions follow what is stored: it is what runs.
    assert {c["kind"] for c in kept.json["applied"]} == {"function"}
    assert stored(database, "retention.min_age_days") == 30
    assert negmem("sync").code == 3
    negmem("sync", "--take", "yaml").ok()
    assert stored(database, "retention.min_age_days") == 7
    assert negmem("diff").code == 0


def test_nothing_is_done_where_both_changed(negmem: CliRunner, database: TestDatabase) -> None:
    declare(negmem, "automation:\n  retention: {min_age_days: 7}\n")
    negmem("sync").ok()
    negmem("config", "set", "automation.retention.min_age_days", "30").ok()
    declare(negmem, "automation:\n  retention: {min_age_days: 14}\n")
    database.rows(DROP)
    stuck = negmem("sync", "--json")
    assert (stuck.code, stuck.json["applied"]) == (3, [])
    reasons = {c["name"].partition("(")[0]: c["reason"] for c in stuck.json["skipped"]}
    assert reasons["automation.retention.min_age_days"] == "both_changed"
    assert reasons["proactive_rank"] == "missing"
    assert stored(database, "retention.min_age_days") == 30
    taken = negmem("sync", "--take", "stored", "--json")
    assert taken.code == 3
    assert "proactive_rank" in {c["name"] for c in taken.json["applied"]}
    assert stored(database, "retention.min_age_days") == 30
    negmem("sync", "--take", "yaml").ok()
    assert stored(database, "retention.min_age_days") == 14
    assert negmem("diff").code == 0


def test_without_a_section_the_stored_config_is_the_declaration(negmem: CliRunner) -> None:
    declare(negmem, "retrieval: {limit: 5}\n")
    negmem("automation", "enable", "cleanup_memories").ok()
    negmem("config", "set", "automation.consolidation.schedule", "5 * * * *").ok()
    assert negmem("diff").code == 0


def test_an_app_of_its_own_leaves_the_defaults_alone(
    negmem: CliRunner, database: TestDatabase
) -> None:
    negmem("init", "--app", "crm", "--embedder", "none")
    declare(negmem, "automation:\n  retention: {low_retention_threshold: 0.3}\n")
    done = negmem("sync", "--app", "crm", "--json").ok().json
    assert {change["kind"] for change in done["applied"]} == {"config"}
    assert stored(database, "retention.low_retention_threshold") == 0.0001
    shown = negmem("automation", "show", "--app", "crm", "--json").ok().json
    assert [job["name"] for job in shown["jobs"]] == [
        "cleanup_memories@crm",
        "trigger_consolidation@crm",
        "reweight_relevance@crm",
    ]
    assert shown["jobs"][0]["command"] == (
        "SELECT negentropy.cleanup_low_value_memories(0.3, 640, 0.1, p_app_name => 'crm',"
        " p_max_share => 0.2, p_max_rows => 10000)"
    )
    database.rows(shown["jobs"][0]["command"])


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("sync", "--take", "both"), "usage", 2),
        (("automation", "enable", "cleanup"), "job_unknown", 2),
        (("automation", "disable", "nightly-vacuum"), "job_unknown", 2),
        (("diff", "--app", "nobody"), "app_unknown", 1),
        (("automation", "enable", "cleanup_memories", "--app", "nobody"), "app_unknown", 1),
        (("sync", "--schema", "elsewhere"), "schema_missing", 1),
    ],
)
def test_refusals(negmem: CliRunner, arguments: tuple[str, ...], code: str, exit_code: int) -> None:
    text, document = negmem(*arguments), negmem(*arguments, "--json")
    assert text.code == document.code == exit_code
    assert f"error[{code}]" in text.stderr
    assert document.json["error"]["code"] == code


def test_diff_tells_a_dead_server_and_bad_yaml_from_drift(negmem: CliRunner) -> None:
    dead = negmem("diff", "--dsn", "host=127.0.0.1 port=1 dbname=none connect_timeout=2")
    assert dead.code == 1
    declare(negmem, "automation: {retention: {min_age_day: 3}}\n")
    assert negmem("diff").code == 2


def test_enabling_stores_the_wish_and_says_what_runs_it(
    negmem: CliRunner, database: TestDatabase, snapshots: Snapshots
) -> None:
    dry = negmem("automation", "enable", "cleanup_memories", "--dry-run")
    assert stored(database, "retention.auto_cleanup_enabled") is False
    done = negmem("automation", "enable", "cleanup_memories")
    again = negmem("automation", "enable", "cleanup_memories", "--json")
    shown = negmem("automation", "show", "-v")
    sync = negmem("sync")
    off = negmem("automation", "disable", "cleanup_memories")
    assert [r.code for r in (dry, done, again, shown, sync, off)] == [0, 0, 0, 0, 3, 0]
    assert database.rows(
        "SELECT changed_keys, reason, changed_by <> '' FROM"
        " negentropy.memory_automation_config_history WHERE revision > 1 ORDER BY revision"
    ) == [
        (["automation.retention.auto_cleanup_enabled"], f"automation {verb} cleanup_memories", True)
        for verb in ("enable", "disable")
    ]
    hide = {shown.stdout.split(" · ")[0]: "<target>", again.json["actor"]: "<actor>"}
    version = database.value("SHOW server_version").split()[0]
    vector = database.value("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    hide |= {f"PostgreSQL {version} · vector {vector}": "<versions>"}
    count = len(negmem("automation", "show", "--json").json["functions"])
    things = negmem("sync", "--json").json["unchanged"]
    hide |= {
        f"{things} things": "<n> things",
        f"{count} of {count} present": "<n> of <n> present",
        f"{count} functions": "<n> functions",
    }
    snapshots.check("automation", dry, done, again, shown, sync, off, hide=hide)


@pytest.mark.servers("sixteen", "full", "pooled")
def test_the_commands_work_on_every_server(negmem: CliRunner, database: TestDatabase) -> None:
    negmem("diff").ok()
    database.rows(DROP)
    assert negmem("diff").code == 3
    negmem("sync").ok()
    negmem("diff").ok()
    negmem("config", "set", "automation.jobs.prefix", f"{database.name}."[-32:]).ok()
    negmem("automation", "enable", "trigger_consolidation").ok()
    shown = negmem("automation", "show", "--json").ok().json
    off = negmem("automation", "disable", "trigger_consolidation", "--json").ok().json
    status = {job["job_key"]: job["status"] for job in shown["jobs"]}
    has_cron = database.server.name != "sixteen"
    assert status["trigger_consolidation"] == ("scheduled" if has_cron else "degraded")
    assert [change["action"] for change in off["applied"]] == (["delete"] if has_cron else [])
    command = next(j["command"] for j in shown["jobs"] if j["job_key"] == "trigger_consolidation")
    assert command == "SELECT negentropy.trigger_maintenance_consolidation('1 hour'::interval)"
    assert database.value(command) == 0
    assert json.dumps(shown, ensure_ascii=False)


@pytest.mark.parametrize("flags", [[], ["--json"], ["--format", "github"], ["--format", "junit"]])
def test_drift_is_told_to_a_reader_that_left_too(
    negmem: CliRunner, database: TestDatabase, flags: list[str]
) -> None:
    """`negmem diff | head -0` under pipefail: the exit code is that of the finding."""
    database.rows(EDIT)
    words = " ".join([sys.executable, "-m", "negmem.cli", "diff", *flags])
    for sink in ("| head -c 0", ">&-"):
        code = f'{words} {sink} ; echo "${{PIPESTATUS[0]}}" >&2'
        done = subprocess.run(
            ["bash", "-c", code],
            capture_output=True,
            text=True,
            check=False,
            cwd=negmem.cwd,
            env=negmem.environment({"PYTHONPATH": str(Path(__file__).parents[2])}),
        )
        assert done.stderr == "3\n", (sink, done.stderr)


def test_a_plan_is_written_looked_at_and_carried_out(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows(DROP)
    database.rows("DROP INDEX negentropy.idx_memories_due")
    path = negmem.cwd / "plan.json"
    planned = negmem("sync", "--plan-out", path, "--json").ok()
    assert {c["name"] for c in planned.json["applied"]} == {"proactive_rank", "idx_memories_due"}
    assert negmem("diff").code == 3
    held = json.loads(path.read_text(encoding="utf-8"))
    assert held["format"] == "negmem.plan/1"
    assert [c["name"] for c in held["changes"]] == ["proactive_rank", "idx_memories_due"]
    done = negmem("sync", "--plan", path, "--json").ok()
    assert {c["name"] for c in done.json["applied"]} == {"proactive_rank", "idx_memories_due"}
    assert negmem("diff").code == 0
    again = negmem("sync", "--plan", path)
    assert again.code == 1
    assert "error[plan_stale]" in again.stderr


@pytest.mark.parametrize(
    "moved",
    [
        EDIT,
        "DROP INDEX negentropy.idx_memories_due",
        "REVOKE EXECUTE ON FUNCTION negentropy.rrf_score FROM PUBLIC",
        "UPDATE negentropy.memory_automation_configs SET revision = revision + 1",
    ],
)
def test_a_plan_is_refused_when_the_database_moved_on(
    negmem: CliRunner, database: TestDatabase, moved: str
) -> None:
    database.rows(DROP)
    path = negmem.cwd / "plan.json"
    negmem("sync", "--plan-out", path).ok()
    database.rows(moved)
    refused = negmem("sync", "--plan", path)
    assert refused.code == 1
    assert "error[plan_stale]" in refused.stderr
    assert "proactive_rank" in negmem("diff", "--json").stdout


def test_a_plan_of_another_place_or_no_plan_is_refused(
    negmem: CliRunner, database: TestDatabase
) -> None:
    path = negmem.cwd / "plan.json"
    negmem("sync", "--plan-out", path).ok()
    held = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**held, "installation": "elsewhere"}), encoding="utf-8")
    assert "error[plan_elsewhere]" in negmem("sync", "--plan", path).stderr
    for text in ("", "[]", '{"format": "negmem.plan/2"}', json.dumps({**held, "more": 1})):
        path.write_text(text, encoding="utf-8")
        refused = negmem("sync", "--plan", path)
        assert refused.code == 2, text
        assert "error[plan_unreadable]" in refused.stderr
    assert negmem("sync", "--plan", negmem.cwd / "none.json").code == 2
    for place in (negmem.cwd / "none" / "plan.json", negmem.cwd):
        refused = negmem("sync", "--plan-out", place)
        assert refused.code == 2
        assert "error[plan_not_written]" in refused.stderr
    assert negmem("sync", "--plan", path, "--prune").code == 2


def test_other_programs_read_the_difference(negmem: CliRunner, database: TestDatabase) -> None:
    import xml.etree.ElementTree

    assert negmem("diff", "--format", "github").ok().stdout.startswith("negmem diff: no drift")
    for statement in (EDIT, DROP, COSMETIC):
        database.rows(statement)
    said = negmem("diff", "--format", "github")
    assert said.code == 3
    assert "::error title=negmem diff function edited::function rrf_score(" in said.stdout
    assert "::error title=negmem diff function missing::function proactive_rank" in said.stdout
    assert "::notice title=negmem diff function edited::function weighted_score(" in said.stdout
    said = negmem("diff", "--format", "junit")
    assert said.code == 3
    suite = xml.etree.ElementTree.fromstring(said.stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    assert len(suite.findall("testcase/failure")) == 2
    assert negmem("diff", "--format", "yaml").code == 2
    assert negmem("diff", "--format", "json").json["schema"] == "negmem.diff/1"
