"""The jobs' commands run by pg_cron itself, and what `automation show` says of them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from negmem.core.automation.jobs import JOBS, switch
from negmem.core.automation.snapshot import snapshot
from negmem.core.automation.sync import sync
from negmem.core.session import Session, open_session
from tests.support.databases import TestDatabase
from tests.support.memories import add_memory, add_thread, live
from tests.support.waiting import eventually

pytestmark = pytest.mark.needs_cron


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={}) as opened:
        yield opened


@pytest.fixture
def cron(database: TestDatabase) -> Iterator[psycopg.Connection]:
    """The database of pg_cron; the jobs of this test's database are gone at the end."""
    home = database.server.dsn(str(database.server.cron_database))
    with psycopg.connect(home, autocommit=True) as connection:
        yield connection
        connection.execute(
            "SELECT cron.unschedule(jobid) FROM cron.job WHERE database = %s", (database.name,)
        )


def schedule(cron: psycopg.Connection, name: str, when: str, command: str, database: str) -> None:
    cron.execute(
        "SELECT cron.schedule_in_database(%s, %s, %s, %s)", (name, when, command, database)
    )


def test_pg_cron_runs_each_command(
    session: Session, database: TestDatabase, cron: psycopg.Connection
) -> None:
    add_memory(database, "昨天的天气", days=60)
    add_thread(database, "晨会")
    for job in snapshot(session).jobs:
        schedule(cron, job.name, "1 second", job.command, database.name)
    seen = (
        "SELECT count(DISTINCT job) FROM negentropy.automation_runs"
        " WHERE source = 'pg_cron' AND status = 'succeeded'"
    )
    assert eventually(lambda: database.value(seen) == len(JOBS), limit_s=30)
    assert live(database) == set()
    assert database.value("SELECT count(*) FROM negentropy.consolidation_jobs") == 1


def test_a_job_is_scheduled_missing_or_drifted(
    session: Session, database: TestDatabase, cron: psycopg.Connection
) -> None:
    done = switch(session, "cleanup_memories", True)
    assert (done.status, done.scheduled) == ("missing", False)
    (warning,) = session.warnings
    remedy = warning["message"].rpartition("schedule it: ")[2]
    assert sync(session).degraded_reasons == ["job_missing"]
    cron.execute(remedy.encode())

    def state() -> tuple[str, str]:
        job = next(j for j in snapshot(session).jobs if j.job_key == "cleanup_memories")
        return job.status, job.reason

    assert state() == ("scheduled", "by pg_cron")
    assert sync(session).degraded_reasons == []
    schedule(cron, "cleanup_memories", "0 3 * * *", done.command, database.name)
    assert state() == ("drifted", "schedule differ")
    switch(session, "cleanup_memories", False)
    assert state() == ("drifted", "scheduled, and switched off")
