"""`doctor` on jobs that pg_cron really holds, and on pg_cron in each of its states."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import psycopg
import pytest

from negmem.core.automation.jobs import JOBS, command_of
from negmem.core.diagnostics.checks import jobs as job_checks
from negmem.core.formulas.due_times import due_before
from negmem.core.models.schedule import parse_cron
from tests.support.databases import TestDatabase
from tests.support.doctor import area, codes, examine, finding, outcome
from tests.support.roles import as_role, login_role

S = "negentropy"
NAME = "cleanup_memories"


class CronHome:
    """The database of pg_cron; what is scheduled through it is gone at the end."""

    def __init__(self, database: TestDatabase) -> None:
        self.name = str(database.server.cron_database)
        self.dsn = database.server.dsn(self.name)
        self._database = database
        self.connection = psycopg.connect(self.dsn, autocommit=True)

    def schedule(self, **change: Any) -> int:
        """Schedule the sweep as the default config wants it, but for `change`."""
        wanted = {
            "name": NAME,
            "schedule": "0 2 * * *",
            "command": f"SELECT {S}.cleanup_low_value_memories(0.0001, 640, 0.1)",
            "database": self._database.name,
            **change,
        }
        row = self.connection.execute(
            "SELECT cron.schedule_in_database(%(name)s, %(schedule)s, %(command)s, %(database)s)",
            wanted,
        ).fetchone()
        assert row is not None
        return int(row[0])

    def ran(self, job_id: int, start: str, status: str = "succeeded", message: str = "1") -> None:
        """Put a run into pg_cron's log."""
        self.connection.execute(
            "INSERT INTO cron.job_run_details (jobid, status, return_message, start_time, end_time)"
            " VALUES (%s, %s, %s, %s::timestamptz, now())",
            (job_id, status, message, start),
        )

    def clean(self) -> None:
        """Take away what this test scheduled, and its runs."""
        ids = [
            row[0]
            for row in self.connection.execute(
                "SELECT jobid FROM cron.job WHERE database = %s", (self._database.name,)
            )
        ]
        self.connection.execute("DELETE FROM cron.job_run_details WHERE jobid = ANY (%s)", (ids,))
        for job_id in ids:
            self.connection.execute("SELECT cron.unschedule(%s)", (job_id,))
        self.connection.close()


@pytest.fixture
def home(database: TestDatabase) -> Iterator[CronHome]:
    made = CronHome(database)
    database.rows(
        f"UPDATE {S}.memory_automation_configs SET config ="
        " jsonb_set(config, '{retention,auto_cleanup_enabled}', 'true')"
    )
    yield made
    made.clean()


def record(database: TestDatabase, job_id: int, installed_at: str) -> None:
    """Record a job as negmem's own."""
    database.rows(
        f"INSERT INTO {S}.managed_objects (kind, name, app_name, job_id, fingerprint, definition,"
        " negmem_version, installed_at) VALUES ('job', %s, 'negmem', %s, 'x', 'x', '0', %s)",
        (NAME, job_id, installed_at),
    )


pytestmark = pytest.mark.needs_cron


def test_a_job_that_is_not_scheduled(database: TestDatabase, home: CronHome) -> None:
    found = examine(database.dsn)
    assert (found.status, found.degraded_reasons) == ("degraded", ["job_missing"])
    assert "0 of 1 scheduled" in area(found, "jobs")
    home.connection.execute(finding(found, "job_missing").remedy.encode())
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("healthy", []), found.findings
    assert "1 of 1 scheduled" in area(found, "jobs")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"schedule": "0 3 * * *"}, "schedule"),
        ({"command": "SELECT 1"}, "command"),
    ],
)
def test_a_job_that_drifted(
    database: TestDatabase, home: CronHome, change: dict[str, str], part: str
) -> None:
    job_id = home.schedule(**change)
    try:
        found = examine(database.dsn)
        assert found.degraded_reasons == ["job_drifted"]
        drifted = finding(found, "job_drifted")
        assert drifted.title.startswith(f"{NAME}: ") and part in drifted.title
    finally:
        home.connection.execute("SELECT cron.unschedule(%s)", (job_id,))


def test_a_job_for_another_database_is_not_the_one(database: TestDatabase, home: CronHome) -> None:
    job_id = home.schedule(database="postgres")
    try:
        assert examine(database.dsn).degraded_reasons in (["job_missing"], ["job_drifted"])
    finally:
        home.connection.execute("SELECT cron.unschedule(%s)", (job_id,))


def test_a_job_that_is_paused_or_should_not_be_there(
    database: TestDatabase, home: CronHome
) -> None:
    job_id = home.schedule()
    home.connection.execute("SELECT cron.alter_job(%s, active => false)", (job_id,))
    assert "active" in finding(examine(database.dsn), "job_drifted").title
    database.rows(
        f"UPDATE {S}.memory_automation_configs SET config ="
        " jsonb_set(config, '{retention,auto_cleanup_enabled}', 'false')"
    )
    found = examine(database.dsn)
    assert "off" in finding(found, "job_drifted").title
    home.connection.execute(finding(found, "job_drifted").remedy.split(";")[0].encode())
    assert examine(database.dsn).status == "healthy"


def test_the_same_name_of_two_owners_runs_twice(database: TestDatabase, home: CronHome) -> None:
    home.schedule()
    with login_role(database.server, home.name) as other:
        home.connection.execute(f'GRANT USAGE ON SCHEMA cron TO "{other}"'.encode())
        second = home.connection.execute(
            "SELECT cron.schedule_in_database(%s, '0 2 * * *', 'SELECT 1', %s, %s)",
            (NAME, database.name, other),
        ).fetchone()
        assert second is not None
        found = examine(database.dsn)
        home.connection.execute("SELECT cron.unschedule(%s)", second)
    twice = finding(found, "job_duplicated")
    assert f"of {other}" in twice.evidence
    assert "job_drifted" in found.degraded_reasons


def test_no_run_in_three_intervals(database: TestDatabase, home: CronHome) -> None:
    job_id = home.schedule()
    record(database, job_id, "now")
    assert examine(database.dsn).status == "healthy"
    database.rows(f"UPDATE {S}.managed_objects SET installed_at = now() - interval '9 days'")
    found = examine(database.dsn)
    assert codes(found) == ["job_not_running"]
    assert finding(found, "job_not_running").evidence.startswith("never run; due ")
    home.ran(job_id, "2026-11-20 02:00:00+00")
    found = examine(database.dsn)
    assert finding(found, "job_not_running").evidence.startswith("last started 2026-11-20 02:00")
    home.ran(job_id, latest_due("0 2 * * *").isoformat())
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("healthy", [])
    assert "last run" in area(found, "jobs")


def latest_due(schedule: str) -> datetime:
    """When the schedule was due last, in UTC."""
    now = datetime.now(timezone.utc)
    return next(due_before(parse_cron(schedule), now, timezone.utc))


def test_a_run_at_another_hour_than_scheduled(database: TestDatabase, home: CronHome) -> None:
    job_id = home.schedule()
    record(
        database,
        job_id,
        "2026-01-01",
    )
    due = latest_due("0 2 * * *")
    home.ran(job_id, due.replace(hour=1, minute=0).isoformat())
    found = examine(database.dsn)
    assert "job_off_schedule" in codes(found)
    assert "0 2 * * * in GMT was due" in finding(found, "job_off_schedule").evidence


def test_a_run_that_failed(database: TestDatabase, home: CronHome) -> None:
    job_id = home.schedule()
    home.ran(job_id, latest_due("0 2 * * *").isoformat(), "failed", "ERROR: 权限不足")
    found = examine(database.dsn)
    assert codes(found) == ["job_failed"]
    assert "权限不足" in finding(found, "job_failed").evidence
    database.rows(
        f"SELECT {S}.record_automation_run('trigger_consolidation', NULL, 'failed', 0, 'out of disk',"
        " now())"
    )
    found = examine(database.dsn)
    assert codes(found) == ["job_failed", "job_failed"]
    own = next(f for f in found.findings if "out of disk" in f.evidence)
    assert own.remedy.startswith("negmem automation run trigger_consolidation  ")


def test_a_log_that_grew(
    database: TestDatabase, home: CronHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = home.schedule()
    home.ran(job_id, latest_due("0 2 * * *").isoformat())
    monkeypatch.setattr(job_checks, "_LARGE_HISTORY_BYTES", 1)
    found = examine(database.dsn)
    assert codes(found) == ["cron_history_large"]
    assert "the oldest of " in finding(found, "cron_history_large").evidence
    assert finding(found, "cron_history_large").remedy.startswith("negmem automation purge")


def test_jobs_of_another_role_are_unknown_and_not_missing(
    database: TestDatabase, home: CronHome
) -> None:
    job_id = home.schedule()
    with login_role(database.server, database.name, home.name) as role:
        for statement in ("GRANT USAGE ON SCHEMA cron TO {}", "GRANT pg_read_all_settings TO {}"):
            home.connection.execute(statement.format(f'"{role}"').encode())
        database.rows(f'GRANT USAGE ON SCHEMA {S} TO "{role}"')
        database.rows(f'GRANT SELECT ON ALL TABLES IN SCHEMA {S} TO "{role}"')
        dsn = as_role(database.dsn, role)
        found = examine(dsn)
        assert (found.status, codes(found)) == ("healthy", []), found.findings
        assert outcome(found, "job_missing") == "unknown"
        assert f"visible as {role}: 0 of unknown" in area(found, "jobs")
        record(database, job_id, "now")
        owner = finding(examine(dsn), "jobs_hidden").remedy
        assert owner.endswith("as the role that scheduled them: postgres")


def test_commands_are_those_of_the_first_design() -> None:
    document = {
        "retention": {
            "low_retention_threshold": 0.1,
            "min_age_days": 7,
            "decay_lambda": 0.1,
        },
        "consolidation": {"lookback_interval": "1 hour"},
    }
    assert [command_of(job, document, S, None) for job in JOBS] == [
        "SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.1)",
        "SELECT negentropy.trigger_maintenance_consolidation('1 hour'::interval)",
        "SELECT negentropy.reweight_all_users_relevance()",
    ]
