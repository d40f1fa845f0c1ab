"""`negmem automation reconcile, run, logs, export` and `scheduler`: what they say and refuse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from psycopg.conninfo import make_conninfo

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.jobs import CronDesk, cron_desk
from tests.support.memories import add_memory, live
from tests.support.roles import login_role
from tests.support.waiting import eventually

S = "negentropy"
C = "cleanup_memories"


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_a_job_runs_now_without_pg_cron_and_is_logged(
    negmem: CliRunner, database: TestDatabase
) -> None:
    add_memory(database, "前年的航班", days=700)
    dry = negmem("automation", "run", C, "--dry-run").ok()
    assert "would run  SELECT negentropy.cleanup_low_value_memories(0.0001, 640, 0.1)" in dry.stdout
    assert len(live(database)) == 1
    done = negmem("automation", "run", C, "--json").ok().json
    assert (done["status"], done["rows_touched"], done["calls"]) == ("succeeded", 1, 2)
    assert live(database) == set()
    negmem("automation", "run", "reweight_relevance", "-q").ok()
    log = negmem("automation", "logs", "--json").ok().json
    assert [run["job_key"] for run in log["runs"]] == ["reweight_relevance", C, C]
    assert {run["started_through"] for run in log["runs"]} == {"manual"}
    assert log["runs"][0]["sources"] == ["automation_runs"]
    shown = negmem("automation", "logs", C, "--limit", "1").ok()
    assert len(shown.stdout.splitlines()) == 1
    assert "the latest 1" in shown.stderr
    assert "no run on record" in negmem("automation", "logs", "trigger_consolidation").ok().stdout


def test_a_run_that_overlaps_says_skipped(negmem: CliRunner, database: TestDatabase) -> None:
    holder = database.connect(autocommit=False)
    holder.execute(b"SELECT negentropy.reweight_all_users_relevance()")
    done = negmem("automation", "run", "reweight_relevance", "--json").ok().json
    assert (done["status"], done["message"]) == ("skipped", "skipped, already running")
    assert "skipped  reweight_relevance" in negmem("automation", "run", "reweight_relevance").stdout
    holder.commit()
    assert negmem("automation", "run", "reweight_relevance", "--json").json["status"] == "succeeded"
    statuses = [r["status"] for r in negmem("automation", "logs", "--json").json["runs"]]
    assert sorted(statuses) == ["skipped", "skipped", "succeeded", "succeeded"]


def test_a_run_that_fails_is_exit_1_and_on_record(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows(f"DROP FUNCTION {S}.reweight_all_users_relevance")
    failed = negmem("automation", "run", "reweight_relevance", "--json")
    assert (failed.code, failed.json["error"]["code"]) == (1, "function_missing")
    (run,) = negmem("automation", "logs", "--json").ok().json["runs"]
    assert (run["status"], run["started_through"]) == ("failed", "manual")
    assert "reweight_all_users_relevance" in run["message"]


@pytest.mark.parametrize("verb", ["enable", "disable", "reconcile", "run", "logs", "export"])
def test_only_the_predefined_jobs(negmem: CliRunner, verb: str) -> None:
    refused = negmem("automation", verb, "cleanup_memory", "--json")
    error = refused.json["error"]
    assert (refused.code, error["code"]) == (2, "job_unknown")
    assert error["hint"].endswith(C)
    assert "nightly" in negmem("automation", verb, "nightly-vacuum").stderr


def test_the_export_is_a_file_of_each_format(negmem: CliRunner, database: TestDatabase) -> None:
    every = negmem("automation", "export").ok()
    assert "no job is switched on" in every.stderr
    negmem("automation", "enable", C)
    crontab = negmem("automation", "export", "--format", "crontab").ok().stdout
    assert crontab.splitlines()[-2:] == [
        f"0 2 * * * negmem automation run {C} -q",
        "45 2 * * * negmem automation purge -q",
    ]
    units = negmem("automation", "export", "--format", "systemd").ok().stdout
    assert "OnCalendar=*-*-* 02:00:00 UTC" in units
    assert f"ExecStart=/usr/bin/env negmem automation run {C} -q" in units
    assert "enable --now negmem-cleanup-memories.timer negmem-purge-run-log.timer" in units
    document, purge = yaml.safe_load_all(
        negmem("automation", "export", "--format", "kubernetes").ok().stdout
    )
    assert (document["kind"], document["spec"]["schedule"]) == ("CronJob", "0 2 * * *")
    assert document["spec"]["concurrencyPolicy"] == "Forbid"
    named = negmem("automation", "export", "trigger_consolidation", "--json").ok().json
    assert named["jobs"] == ["trigger_consolidation"] and "purge" not in named["text"]
    assert purge["metadata"]["name"] == "negmem-purge-run-log"
    assert database.dsn not in crontab + units
    negmem("config", "set", "automation.retention.cleanup_schedule", "30 seconds").ok()
    refused = negmem("automation", "export", "--format", "kubernetes", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "schedule_not_exportable")
    assert "OnUnitActiveSec=30" in negmem("automation", "export", "--format", "systemd").stdout
    assert negmem("automation", "export", "--format", "launchd").code == 2


def test_the_export_of_another_app_has_names_that_are_taken(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows(f"INSERT INTO {S}.memory_automation_configs (app_name) VALUES ('订单 50%')")
    every = [
        negmem("automation", "export", C, "--app", "订单 50%", "--format", name).ok().stdout
        for name in ("crontab", "systemd", "kubernetes")
    ]
    assert "--app '订单 50\\%'" in every[0]
    assert '--app "订单 50%%"' in every[1]
    (document,) = yaml.safe_load_all(every[2])
    assert re.fullmatch(r"negmem-cleanup-memories-50-[0-9a-f]{6}", document["metadata"]["name"])
    container = document["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    assert container["command"][-2:] == ["--app", "订单 50%"]


def test_the_scheduler_does_what_is_due_once(negmem: CliRunner, database: TestDatabase) -> None:
    assert "no built-in scheduler runs" in negmem("scheduler", "status").stdout
    negmem("automation", "enable", "trigger_consolidation")
    database.rows(f"UPDATE {S}.memory_automation_configs SET updated_at = now() - interval '1 day'")
    done = negmem("scheduler", "run", "--once", "--json")
    assert (done.code, done.json["succeeded"], done.json["stopped_by"]) == (0, 1, "once")
    events = [dict(re.findall(r"(\w+)=(\S+)", line))["event"] for line in done.stderr.splitlines()]
    assert events == ["started", "leads", "run_started", "run_ended", "stopped"]
    again = negmem("scheduler", "run", "--once", "--log-format", "json").ok()
    assert [json.loads(line)["event"] for line in again.stderr.splitlines()][-1] == "stopped"
    (run,) = negmem("automation", "logs", "--json").json["runs"]
    assert run["started_through"] == "scheduler"
    assert negmem("scheduler", "run", "--log-format", "xml").code == 2


def test_with_a_living_scheduler_nothing_is_degraded(
    negmem: CliRunner, database: TestDatabase
) -> None:
    negmem("automation", "enable", C)
    assert negmem("sync").code == 3
    process = subprocess.Popen(
        [sys.executable, "-m", "negmem.cli", "scheduler", "run", "-q"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=negmem.environment({"PYTHONPATH": str(Path(__file__).parents[2])}),
        cwd=negmem.cwd,
    )
    try:
        assert eventually(lambda: negmem("scheduler", "status").code == 0, limit_s=60)
        negmem("sync").ok()
        shown = negmem("automation", "show").ok().stdout
        assert "scheduled" in shown
        assert "healthy" in shown
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert negmem("sync").code == 3


@pytest.fixture
def desk(database: TestDatabase) -> Iterator[CronDesk]:
    with cron_desk(database) as made:
        yield made


@pytest.mark.needs_cron
def test_a_job_is_put_right_by_name(negmem: CliRunner, desk: CronDesk) -> None:
    done = negmem("automation", "enable", C).ok()
    assert f"scheduled  {desk.name(C)}" in done.stdout
    desk.alter(schedule="0 4 * * *", active=False)
    shown = negmem("diff", "--json")
    (change,) = shown.json["changes"]
    assert (shown.code, change["kind"], change["reason"]) == (3, "job", "schedule, active")
    assert change["differences"] == ["schedule", "active"]
    assert "schedule" in negmem("diff").stdout
    fixed = negmem("automation", "reconcile", C, "--json").ok().json
    assert [c["action"] for c in fixed["applied"]] == ["update"]
    assert fixed["job"]["status"] == "scheduled"
    assert "unchanged" in negmem("automation", "reconcile", C).ok().stdout
    text = negmem("automation", "show", "-v").ok().stdout
    assert len(re.findall(r"next      \d{4}-\d\d-\d\d 02:00 UTC", text)) == 3
    zoned = negmem("automation", "show", "--json", env={"TZ": "America/New_York"}, subprocess=True)
    job = next(j for j in zoned.json["jobs"] if j["job_key"] == C)
    assert re.match(r"\d{4}-\d\d-\d\d 2[12]:00 E[SD]T", job["next_runs"][0]["local"])
    off = negmem("automation", "disable", C).ok().stdout
    assert f"removed  {desk.name(C)}" in off
    assert "0 2 * * *" in off  # so that it can be put back


@pytest.mark.needs_cron
def test_the_log_of_a_huge_history_is_read_from_its_end(
    negmem: CliRunner, desk: CronDesk, database: TestDatabase
) -> None:
    negmem("automation", "enable", C).ok()
    job_id = desk.job()["jobid"]
    desk.sql(
        "INSERT INTO cron.job_run_details (jobid, runid, database, username, command, status,"
        " return_message, start_time, end_time)"
        " SELECT CASE WHEN n % 1000 = 0 THEN %s ELSE 0 END, nextval('cron.runid_seq'), 'x', 'x',"
        " 'SELECT 1', 'failed', '磁盘已满', now() - n * interval '1 s', now()"
        " FROM generate_series(1, 20000) AS n".replace("%", "%%").replace("%%s", "%s"),
        (job_id,),
    )
    try:
        log = negmem("automation", "logs", C, "--json").ok().json
    finally:
        desk.sql("DELETE FROM cron.job_run_details WHERE database = 'x'")
    assert len(log["runs"]) == 5  # those among the latest 5,000
    assert {run["message"] for run in log["runs"]} == {"磁盘已满"}
    assert log["runs"][0]["sources"] == ["cron.job_run_details"]


@pytest.mark.needs_cron
def test_old_runs_go_and_those_of_others_stay(
    negmem: CliRunner, desk: CronDesk, database: TestDatabase
) -> None:
    negmem("automation", "enable", C).ok()
    job_id = desk.job()["jobid"]
    gone = "SELECT negentropy.cleanup_low_value_memories(0.2, 7, 0.1)"
    # In the log's order: 200,000 old ones of others, old ones of ours, of a job of ours that is gone, new ones.
    for job, where, command, age, count in (
        (0, "x", "SELECT 1", "200 days", 200_000),
        (job_id, database.name, "SELECT 2", "100 days", 30),
        (-1, database.name, gone, "100 days", 4),
        (-1, "x", gone, "100 days", 4),
        (job_id, database.name, "SELECT 2", "80 days", 5),
    ):
        desk.sql(
            "INSERT INTO cron.job_run_details (jobid, runid, database, username, command, status,"
            " start_time, end_time) SELECT %s, nextval('cron.runid_seq'), %s, 'x', %s, 'succeeded',"
            " now() - %s::interval, now() - %s::interval FROM generate_series(1, %s)",
            (job, where, command, age, age, count),
        )
    database.rows(
        "INSERT INTO negentropy.automation_runs (job, status, started_at) SELECT job, 'succeeded',"
        " now() - n * interval '1 day' FROM generate_series(95, 110) AS n, unnest(ARRAY['"
        "cleanup_memories', 'reweight_relevance']) AS job"
    )
    database.rows(
        "INSERT INTO negentropy.automation_runs (job, status) VALUES ('cleanup_memories', 'failed')"
    )
    left = (
        "SELECT database, count(*) AS n FROM cron.job_run_details WHERE username = 'x' GROUP BY 1"
    )
    try:
        planned = negmem("automation", "purge", "--dry-run", "--json").ok().json
        assert (planned["automation_runs"], planned["job_run_details"]) == (31, 34)
        assert len(desk.sql(left)) == 2
        done = negmem("automation", "purge", "--json").ok().json
        assert (done["automation_runs"], done["job_run_details"]) == (31, 34)
        counts = {row["database"]: row["n"] for row in desk.sql(left)}
        assert counts == {"x": 200_004, database.name: 5}
        # The last run of each job stays.
        assert database.rows(
            "SELECT job, count(*) FROM negentropy.automation_runs GROUP BY job ORDER BY job"
        ) == [("cleanup_memories", 1), ("reweight_relevance", 1)]
        assert "0 rows of automation_runs · 0 of" in negmem("automation", "purge").ok().stdout
        assert negmem("automation", "purge", "-q").ok().stdout == ""
        # The statement that is offered does the same from within pg_cron.
        desk.sql(
            "UPDATE cron.job_run_details SET start_time = now() - interval '1 year'"
            " WHERE jobid = %s",
            (job_id,),
        )
        desk.sql(done["schedule_statement"])
        (offered,) = [row for row in desk.jobs() if row["jobname"] == desk.name("purge_run_log")]
        desk.sql(offered["command"])
        assert {row["database"]: row["n"] for row in desk.sql(left)} == {"x": 200_004}
    finally:
        desk.sql("DELETE FROM cron.job_run_details WHERE username = 'x'")
    assert negmem("automation", "purge", "--older-than", "0").code == 2


@contextmanager
def _as_before(cron_database: TestDatabase) -> Iterator[None]:
    """Leave pg_cron as other tests expect it, in the one database that it has."""
    try:
        yield
    finally:
        cron_database.rows("CREATE EXTENSION IF NOT EXISTS pg_cron")
        cron_database.rows("GRANT SELECT ON cron.job_run_details TO PUBLIC")
        cron_database.rows(
            "SELECT cron.unschedule(jobid) FROM cron.job WHERE database = current_database()"
        )


SITUATIONS = [
    # pg_cron, the state of a job that is on, what enable says, sync's exit code, a warning of logs
    ("reached", "scheduled", True, 0, False),
    ("not installed", "degraded", False, 3, False),
    ("jobs unreadable", "degraded", False, 3, True),
    ("runs unreadable", "scheduled", True, 0, True),
]


@pytest.mark.needs_cron
@pytest.mark.parametrize(
    ("situation", "state", "is_scheduled", "code", "warns"),
    SITUATIONS,
    ids=[row[0] for row in SITUATIONS],
)
def test_what_degrades_and_what_goes_on(
    run_cli: CliRunner,
    cron_database: TestDatabase,
    situation: str,
    state: str,
    is_scheduled: bool,
    code: int,
    warns: bool,
) -> None:
    with login_role(cron_database.server, cron_database.name) as role, _as_before(cron_database):
        for statement in (
            f'GRANT ALL ON SCHEMA {S} TO "{role}"',
            f'GRANT ALL ON ALL TABLES IN SCHEMA {S} TO "{role}"',
            f'GRANT TEMP ON DATABASE {cron_database.name} TO "{role}"',
            f'GRANT pg_read_all_settings TO "{role}"',
        ):
            cron_database.rows(statement)
        if situation == "not installed":
            cron_database.rows("DROP EXTENSION pg_cron")
        elif situation != "jobs unreadable":
            cron_database.rows(f'GRANT USAGE ON SCHEMA cron TO "{role}"')
        if situation == "runs unreadable":
            cron_database.rows("REVOKE SELECT ON cron.job_run_details FROM PUBLIC")
        dsn = make_conninfo(cron_database.dsn, user=role)
        negmem = CliRunner(env={**run_cli.env, "NEGMEM_DSN": dsn}, cwd=run_cli.cwd)
        done = negmem("automation", "enable", C, "--json").json
        assert (done["changed"], done["scheduled"], done["status"]) == (True, is_scheduled, state)
        assert bool(done["warnings"]) is not is_scheduled
        shown = negmem("automation", "show", "--json").ok().json
        assert shown["config"]["retention"]["auto_cleanup_enabled"] is True
        assert {function["status"] for function in shown["functions"]} == {"present"}
        job = next(j for j in shown["jobs"] if j["job_key"] == C)
        assert (job["status"], job["schedule"]) == (state, "0 2 * * *")
        assert negmem("sync").code == code
        assert negmem("diff").code == 0
        assert negmem("automation", "run", C, "--json").ok().json["status"] == "succeeded"
        log = negmem("automation", "logs", "--json").ok().json
        assert [run["job_key"] for run in log["runs"]] == [C]
        assert ("pg_cron_logs_unavailable" in [w["code"] for w in log["warnings"]]) is warns
        off = negmem("automation", "disable", C, "--json").ok().json
        assert off["status"] == "disabled"
