"""The control plane under what a DBA or a CI job does to it by mistake."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.jobs import cron_desk
from tests.support.roles import as_role, login_role


def test_a_mistyped_name_is_no_agreement(negmem: CliRunner) -> None:
    for word in ("proactive_rnk", "automation.retention.min_age", "idx_memories_deu", "记忆"):
        refused = negmem("diff", word)
        assert (refused.code, refused.stdout) == (2, "")
        assert "name_unknown" in refused.stderr
    assert negmem("diff", "proactive_rank", "proactive_rnk", "--json").json["error"]["hint"] == (
        "negmem diff proactive_rank"
    )
    for word in (
        "proactive_rank",
        "rrf_score(bigint, integer)",
        "automation.retention.min_age_days",
        "idx_memories_due",
        "cleanup_memories",
        "vector",
        "embedding.dims",
    ):
        negmem("diff", word).ok()


def test_what_is_not_negmems_is_known_by_name(negmem: CliRunner, database: TestDatabase) -> None:
    assert negmem("diff", "theirs").code == 2
    database.rows("CREATE FUNCTION negentropy.theirs() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    negmem("diff", "theirs").ok()


@pytest.mark.needs_cron
def test_a_job_is_asked_for_with_or_without_its_prefix(
    negmem: CliRunner, database: TestDatabase
) -> None:
    with cron_desk(database, on=("cleanup_memories",)) as desk:
        negmem("sync").ok()
        desk.alter(schedule="5 5 * * *")
        for word in ("cleanup_memories", desk.name("cleanup_memories")):
            document = negmem("diff", word, "--json").json
            assert [c["name"] for c in document["changes"]] == [desk.name("cleanup_memories")]
        negmem("diff", "trigger_consolidation").ok()


@pytest.mark.needs_cron
def test_no_statement_is_offered_that_replaces_another_job(
    negmem: CliRunner, database: TestDatabase
) -> None:
    with cron_desk(database) as desk:
        desk.sql(
            "SELECT cron.schedule_in_database(%s, '* 3 * * *', 'SELECT 1', %s)",
            (desk.name("trigger_consolidation"), database.name),
        )
        desk.sql(
            "SELECT cron.schedule_in_database(%s, '* 3 * * *', 'SELECT 2', 'postgres')",
            (desk.name("cleanup_memories"),),
        )
        for key in ("trigger_consolidation", "cleanup_memories"):
            for verb in ("enable", "reconcile"):
                told = negmem("automation", verb, key)
                assert told.code == 3
                assert f"in the way: negmem automation reconcile {key}" in told.stderr
                assert "schedule_in_database" not in told.stderr
        commands = {row["command"] for row in desk.jobs()}
        assert commands == {"SELECT 1", "SELECT 2"}


def test_a_key_on_which_both_sides_agree_is_no_conflict(
    negmem: CliRunner, database: TestDatabase
) -> None:
    negmem("config", "set", "automation.jobs.prefix", "crm_").ok()
    declared = negmem.cwd / "negmem.yaml"
    declared.write_text("automation: {jobs: {prefix: crm_}, retention: {min_age_days: 12}}\n")
    (change,) = [c for c in negmem("diff", "--json").json["changes"] if c["kind"] == "config"]
    assert (change["name"], change["reason"]) == (
        "automation.retention.min_age_days",
        "yaml_changed",
    )
    negmem("sync").ok()
    negmem("diff").ok()
    negmem("config", "set", "automation.jobs.prefix", "erp_").ok()
    declared.write_text("automation: {jobs: {prefix: erp_}, retention: {min_age_days: 13}}\n")
    negmem("sync").ok()
    negmem("config", "set", "automation.retention.min_age_days", "20").ok()
    declared.write_text("automation: {jobs: {prefix: erp_}, retention: {min_age_days: 14}}\n")
    assert negmem("sync").code == 3


def test_agreement_on_one_key_leaves_the_other_sides_change(negmem: CliRunner) -> None:
    negmem("config", "set", "automation.jobs.prefix", "crm_").ok()
    negmem("config", "set", "automation.retention.min_age_days", "9").ok()
    declared = negmem.cwd / "negmem.yaml"
    declared.write_text("automation: {jobs: {prefix: crm_}, retention: {min_age_days: 640}}\n")
    (change,) = [c for c in negmem("diff", "--json").json["changes"] if c["kind"] == "config"]
    assert change["reason"] == "stored_changed"


def test_a_full_disk_under_stdout_is_no_traceback(negmem: CliRunner) -> None:
    for words in ("diff --json", "sync --json", "diff --json --config nowhere.yaml", "diff"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m negmem.cli {words} >/dev/full"],
            env=negmem.environment(),
            cwd=negmem.cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (2 if "nowhere" in words else 1)
        assert done.stderr.startswith("error[")
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr


def test_json_and_another_format_exclude_each_other(negmem: CliRunner) -> None:
    for name in ("github", "junit"):
        assert negmem("diff", "--json", "--format", name).code == 2
    negmem("diff", "--json", "--format", "json").ok()


def test_junit_says_nothing_of_a_side_that_is_not_there(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows("DROP FUNCTION negentropy.proactive_rank")
    told = negmem("diff", "--format", "junit")
    shown = negmem("automation", "show").stdout
    assert "missing" in shown and "missing: missing" not in shown
    (failure,) = ElementTree.fromstring(told.stdout).iter("failure")
    assert (failure.text or "").startswith("declared:\nCREATE")


def test_once_says_that_it_could_not_lead(negmem: CliRunner, database: TestDatabase) -> None:
    with login_role(database.server, database.name) as role:
        database.rows(f"GRANT USAGE ON SCHEMA negentropy TO {role}")
        database.rows(f"GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO {role}")
        ended = negmem("scheduler", "run", "--once", "--dsn", as_role(database.dsn, role))
    assert ended.code == 1
    assert "error[privilege_missing]" in ended.stderr


def test_an_owner_that_is_put_right_is_not_told_as_kept(
    empty_database: TestDatabase, run_cli: CliRunner
) -> None:
    name = empty_database.name
    roles = ", ".join(f"{key}: {name}_{key}" for key in ("owner", "app", "reader", "auditor"))
    (run_cli.cwd / "negmem.yaml").write_text(
        f"governance: {{roles: {{{roles}}}}}\nembedding: {{provider: none}}\n"
    )
    target = ("--dsn", empty_database.dsn)
    run_cli("init", "--roles", *target).ok()
    try:
        run_cli("diff", f"{name}_app", f"memories to {name}_app", *target).ok()
        assert run_cli("diff", f"memories to {name}_ap", *target).code == 2
        empty_database.rows("ALTER TABLE negentropy.facts OWNER TO CURRENT_USER")
        (change,) = run_cli("diff", "--json", *target).json["changes"]
        assert (change["name"], change["reason"]) == ("facts", "owner_differs")
        done = run_cli("sync", *target).ok()
        assert "facts  updated" in done.stdout
        assert "access_recorded" not in done.stderr
    finally:
        run_cli("uninstall", "--yes", *target)


@pytest.mark.needs_cron
def test_whether_a_hidden_job_is_scheduled_is_not_claimed(
    negmem: CliRunner, database: TestDatabase
) -> None:
    with (
        cron_desk(database, on=("cleanup_memories",)),
        login_role(database.server, database.name) as role,
    ):
        negmem("sync").ok()
        database.rows(f"GRANT USAGE ON SCHEMA negentropy TO {role}")
        database.rows(f"GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO {role}")
        told = negmem("sync", "--dry-run", "--dsn", as_role(database.dsn, role))
    assert "this role can't tell" in told.stderr
    assert "enabled and not scheduled" not in told.stderr


@pytest.mark.needs_cron
def test_a_plan_warns_of_what_it_leaves_alone(negmem: CliRunner, database: TestDatabase) -> None:
    with (
        cron_desk(database, on=("cleanup_memories",)) as desk,
        login_role(database.server, database.name, str(database.server.cron_database)) as role,
    ):
        for words in (
            ("sync", "--dry-run"),
            ("automation", "enable", "cleanup_memories", "--dry-run"),
        ):
            told = negmem(*words, "--json").ok().json
            assert [change["name"] for change in told["applied"]] == [desk.name("cleanup_memories")]
            assert told["warnings"] == [], words
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{role}"')
        database.rows(f'GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO "{role}"')
        database.rows(f'GRANT pg_read_all_settings TO "{role}"')
        desk.sql(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
        # Whoever runs the statement may be an administrator: the job is this role's all the same.
        told = negmem("sync", "--dry-run", env={"NEGMEM_DSN": as_role(database.dsn, role)}).ok()
        assert "schedule it: SELECT cron.schedule_in_database(" in told.stderr
        assert f"'{database.name}', '{role}');" in told.stderr
        negmem("sync").ok()
        desk.alter(active=False, username=role)
        assert "schedule_in_database" not in negmem("sync", "--dry-run").ok().stderr
