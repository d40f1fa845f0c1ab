"""The built-in scheduler: one leader, takeover, missed runs once, clean stop, what it records."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from negmem.core.scheduler import Scheduler, agenda, status
from negmem.core.session import open_session
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.memories import add_memory, live
from tests.support.roles import as_role, login_role
from tests.support.waiting import eventually

S = "negentropy"
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "negmem.cli", "scheduler", "run", "--log-format", "json")


def configure(database: TestDatabase, document: dict[str, Any], changed_at: str = "now()") -> None:
    database.rows(
        f"UPDATE {S}.memory_automation_configs SET config = config || %s,"
        f" updated_at = {changed_at} WHERE is_main",
        (Jsonb(document),),
    )


def runs(database: TestDatabase) -> list[tuple[Any, ...]]:
    return database.rows(
        f"SELECT job, source, status, rows_touched FROM {S}.automation_runs ORDER BY started_at"
    )


def run_once(database: TestDatabase, **options: Any) -> tuple[Any, list[str]]:
    events: list[str] = []
    with open_session(dsn=database.dsn, env={}) as session:
        scheduler = Scheduler(session, emit=lambda event, **_: events.append(event), **options)
        return scheduler.run(once=True), events


class Process:
    """`negmem scheduler run` as a program of its own."""

    def __init__(self, negmem: CliRunner, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=negmem.environment({"PYTHONPATH": str(ROOT)}),
            cwd=negmem.cwd,
        )

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        out, err = self.process.communicate(timeout=60)
        lines = [json.loads(line) for line in err.decode().splitlines()]
        return self.process.returncode, lines, out.decode()


@pytest.fixture
def start(negmem: CliRunner) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def begin(*arguments: str) -> Process:
        started.append(Process(negmem, *arguments))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def leader(database: TestDatabase) -> int | None:
    rows = database.rows(
        f"SELECT process_id FROM {S}.scheduler_leader WHERE lease_until >= clock_timestamp()"
    )
    return rows[0][0] if rows else None


@pytest.mark.servers("embedded", "pooled", "sixteen")
def test_missed_runs_are_caught_up_once(database: TestDatabase) -> None:
    add_memory(database, "昨天的天气", days=700)
    configure(
        database,
        {
            "retention": {"auto_cleanup_enabled": True, "cleanup_schedule": "*/5 * * * *"},
            "reweight_relevance": {"enabled": True, "schedule": "0 * * * *"},
        },
        "now() - interval '3 days'",
    )
    ended, events = run_once(database)
    assert (ended.succeeded, ended.failed, ended.skipped, ended.led) == (2, 0, 0, True)
    assert events[:2] == ["started", "leads"]
    assert live(database) == set()
    done = runs(database)
    # The sweep goes on until it finds nothing: one row a transaction.
    assert [row[:3] for row in done] == [
        ("cleanup_memories", "scheduler", "succeeded"),
        ("cleanup_memories", "scheduler", "succeeded"),
        ("reweight_relevance", "scheduler", "succeeded"),
    ]
    assert [row[3] for row in done] == [1, 0, 0]
    again, _ = run_once(database)
    assert (again.succeeded, runs(database)) == (0, done)
    assert leader(database) is None


def test_what_is_off_or_not_due_does_not_run(database: TestDatabase) -> None:
    configure(database, {"retention": {"auto_cleanup_enabled": False}}, "now() - interval '9 days'")
    assert run_once(database)[0].succeeded == 0
    configure(database, {"consolidation": {"enabled": True, "schedule": "0 4 1 1 *"}})
    assert run_once(database)[0].succeeded == 0
    assert runs(database) == []


def test_old_records_of_runs_go_by_themselves(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.automation_runs (job, status, started_at) SELECT 'cleanup_memories',"
        " 'succeeded', now() - n * interval '1 day' FROM generate_series(88, 93) AS n"
    )
    assert "runs_purged" in run_once(database)[1]
    assert len(runs(database)) == 2
    assert "runs_purged" not in run_once(database)[1]


def test_another_clock_makes_it_due(database: TestDatabase) -> None:
    configure(database, {"consolidation": {"enabled": True, "schedule": "0 4 1 1 *"}})
    later = timedelta(days=366)
    assert run_once(database, clock=lambda now: now + later)[0].succeeded == 1
    assert [row[:3] for row in runs(database)] == [
        ("trigger_consolidation", "scheduler", "succeeded")
    ]


def test_each_app_runs_by_its_own_config(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.memory_automation_configs (app_name, config, updated_at)"
        " VALUES ('shop', %s, now() - interval '2 days')",
        (
            Jsonb(
                {
                    "retention": {
                        "auto_cleanup_enabled": True,
                        "low_retention_threshold": 0.9,
                        "min_age_days": 1,
                        "max_share": 1,
                    }
                }
            ),
        ),
    )
    add_memory(database, "main 記憶", days=700)
    add_memory(database, "订单已发货", days=3, app="shop")
    run_once(database)
    rows = database.rows(
        f"SELECT app_name FROM {S}.memories WHERE deleted_at IS NULL ORDER BY app_name"
    )
    assert [row[0] for row in rows] == ["negmem"]
    assert {row[0] for row in database.rows(f"SELECT app_name FROM {S}.automation_runs")} == {
        "shop"
    }


def test_a_run_that_fails_is_on_record_and_waits_for_its_next_time(
    database: TestDatabase,
) -> None:
    configure(
        database,
        {"reweight_relevance": {"enabled": True, "schedule": "0 * * * *"}},
        "now() - interval '1 day'",
    )
    database.rows(f"DROP FUNCTION {S}.reweight_all_users_relevance")
    ended, events = run_once(database)
    assert (ended.failed, ended.succeeded) == (1, 0)
    assert "run_failed" in events
    ((job, source, state, _),) = runs(database)
    assert (job, source, state) == ("reweight_relevance", "scheduler", "failed")
    assert run_once(database)[0].failed == 0


def test_one_leads_and_when_it_is_killed_another_takes_over(
    database: TestDatabase, start: Callable[..., Process], negmem: CliRunner
) -> None:
    processes = {p.process.pid: p for p in (start(), start(), start())}
    assert eventually(lambda: leader(database) in processes, limit_s=60)
    first = leader(database)
    assert first is not None
    shown = negmem("scheduler", "status", "--json").ok().json
    assert shown["leader"]["process_id"] == first
    killed_at = database.value("SELECT clock_timestamp()")
    processes.pop(first).process.send_signal(signal.SIGKILL)
    assert eventually(lambda: leader(database) in processes, limit_s=60)
    took = database.value(f"SELECT since FROM {S}.scheduler_leader") - killed_at
    assert took < timedelta(seconds=15)
    second = processes.pop(leader(database) or 0)
    second.process.terminate()
    code, lines, out = second.end()
    assert (code, lines[-1]["event"], lines[-1]["by"]) == (0, "stopped", "SIGTERM")
    assert "stopped by SIGTERM" in out
    # A clean stop gives the lease up: the last one need not wait for it to run out.
    (third,) = processes.values()
    assert eventually(lambda: leader(database) == third.process.pid, limit_s=60)
    third.process.send_signal(signal.SIGINT)
    assert third.end()[0] == 130
    assert negmem("scheduler", "status").code == 3


def test_it_outlives_a_database_that_goes_away_for_a_moment(
    database: TestDatabase, start: Callable[..., Process]
) -> None:
    process = start()
    assert eventually(lambda: leader(database) == process.process.pid, limit_s=60)
    beats = f"SELECT beat_at FROM {S}.scheduler_leader"
    configure(
        database,
        {"reweight_relevance": {"enabled": True, "schedule": "0 * * * *"}},
        "now() - interval '1 day'",
    )
    database.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'negmem scheduler' AND datname = current_database()"
    )
    killed_at = database.value("SELECT clock_timestamp()")
    assert eventually(lambda: database.value(beats) > killed_at, limit_s=60)
    assert eventually(lambda: "succeeded" in [row[2] for row in runs(database)], limit_s=60)
    process.process.terminate()
    code, _, _ = process.end()
    assert (code, leader(database)) == (0, None)


def test_a_missing_privilege_ends_it_and_is_named(
    database: TestDatabase, start: Callable[..., Process], negmem: CliRunner
) -> None:
    with login_role(database.server, database.name) as role:
        database.rows(f'GRANT USAGE ON SCHEMA {S} TO "{role}"')
        database.rows(f'GRANT SELECT ON ALL TABLES IN SCHEMA {S} TO "{role}"')
        refused = negmem("scheduler", "run", env={"NEGMEM_DSN": as_role(database.dsn, role)})
    assert refused.code == 1
    *log, what, why, fix = refused.stderr.splitlines()
    assert any("event=database_failed" in line for line in log)
    assert "privilege_missing" in what
    assert f"{role} lacks INSERT" in why.replace('"', "")
    assert f"GRANT INSERT, UPDATE ON TABLE {S}.scheduler_leader TO" in fix


def test_a_run_that_is_cut_off_leaves_a_trace_and_is_due_again(
    database: TestDatabase, start: Callable[..., Process], negmem: CliRunner
) -> None:
    configure(
        database,
        {"reweight_relevance": {"enabled": True, "schedule": "0 * * * *"}},
        "now() - interval '1 day'",
    )
    with database.connect(autocommit=False) as gate:
        # The run waits for a row that somebody holds, and its process is killed meanwhile.
        database.rows(f"INSERT INTO {S}.users (user_id, app_name) VALUES ('ann', 'negmem')")
        database.rows(f"DROP FUNCTION {S}.reweight_all_users_relevance")
        database.rows(
            f"CREATE FUNCTION {S}.reweight_all_users_relevance() RETURNS integer"
            f" LANGUAGE plpgsql AS $$ BEGIN PERFORM FROM {S}.users FOR UPDATE; RETURN 0; END $$"
        )
        gate.execute(f"SELECT FROM {S}.users FOR UPDATE".encode())
        process = start()
        waits = (
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'negmem scheduler'"
            " AND wait_event_type = 'Lock' AND datname = current_database()"
        )
        assert eventually(lambda: bool(database.rows(waits)), limit_s=60)

        def told() -> tuple[str, str | None]:
            (run,) = negmem("automation", "logs", "--json").ok().json["runs"]
            return run["status"], run["message"]

        assert told() == ("running", None)
        database.rows(
            f"UPDATE {S}.automation_runs SET started_at = started_at - interval '1 minute'"
        )
        assert told() == ("running", None)  # its backend holds the lock of the run
        process.process.send_signal(signal.SIGKILL)
        database.rows(f"SELECT pg_terminate_backend(pid) FROM ({waits}) AS w")
        assert eventually(lambda: told()[0] == "cancelled", limit_s=60)
        assert "cut off" in str(told()[1])
        gate.rollback()
    ended, _ = run_once_when_free(database)
    assert (ended.succeeded, ended.skipped) == (1, 0)
    assert sorted(row[2] for row in runs(database)) == ["running", "succeeded"]


def run_once_when_free(database: TestDatabase) -> tuple[Any, list[str]]:
    """`run_once`, when the lease of a killed leader has run out."""
    assert eventually(lambda: leader(database) is None, limit_s=60)
    return run_once(database)


@pytest.mark.parametrize(("grace", "state"), [("60", "succeeded"), ("0", "cancelled")])
def test_a_stop_waits_for_the_run_or_cancels_it(
    database: TestDatabase, start: Callable[..., Process], grace: str, state: str
) -> None:
    configure(
        database,
        {"reweight_relevance": {"enabled": True, "schedule": "0 * * * *"}},
        "now() - interval '1 day'",
    )
    database.rows(f"CREATE TABLE {S}.gate ()")
    database.rows(f"DROP FUNCTION {S}.reweight_all_users_relevance")
    database.rows(
        f"CREATE FUNCTION {S}.reweight_all_users_relevance() RETURNS integer LANGUAGE plpgsql AS $$"
        f" BEGIN INSERT INTO {S}.gate DEFAULT VALUES;"
        " WHILE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'opened')"
        " LOOP PERFORM pg_sleep(0.02); END LOOP;"
        f" PERFORM {S}.record_automation_run('reweight_relevance', NULL, 'succeeded', 0, NULL,"
        " clock_timestamp()); RETURN 0; END $$"
    )
    process = start("--grace", grace)
    in_it = "SELECT EXISTS (SELECT FROM pg_locks WHERE granted AND relation = %s::regclass)"
    assert eventually(lambda: database.value(in_it, (f"{S}.gate",)), limit_s=60)
    process.process.terminate()
    if state == "succeeded":
        database.rows("CREATE TABLE public.opened ()")
    code, _, _ = process.end()
    assert code == 0
    assert [row[2] for row in runs(database)] == [state]
    assert leader(database) is None


def test_the_status_says_what_is_due(database: TestDatabase) -> None:
    configure(
        database,
        {"consolidation": {"enabled": True, "schedule": "0 * * * *"}},
        "now() - interval '1 day'",
    )
    with open_session(dsn=database.dsn, env={}) as session:
        found = status(session)
    assert (found.is_alive, found.leader) == (False, None)
    (job,) = [job for job in found.jobs if job.enabled]
    assert (job.job_key, job.is_due, job.last_started_at) == ("trigger_consolidation", True, None)


def test_the_agenda_counts_from_the_last_start() -> None:
    at = datetime(2026, 3, 2, 12, 30, tzinfo=timezone.utc)
    row = {
        "app": "negmem",
        "is_main": True,
        "config": {"consolidation": {"enabled": True, "schedule": "0 12 * * *"}},
        "updated_at": at - timedelta(days=30),
        "last_starts": {"trigger_consolidation": "2026-03-02T11:59:59+00:00"},
    }
    item = next(i for i in agenda([row], "negentropy") if i.job.enabled)
    assert item.is_due(at)
    row["last_starts"] = {"trigger_consolidation": "2026-03-02T12:00:00+00:00"}
    item = next(i for i in agenda([row], "negentropy") if i.job.enabled)
    assert not item.is_due(at)
    assert item.next_run(at) == datetime(2026, 3, 3, 12, 0, tzinfo=timezone.utc)
    assert agenda([{**row, "config": {"consolidation": 3}}], "negentropy") == []
