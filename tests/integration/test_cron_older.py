"""pg_cron 1.4, the oldest that Debian ships: what negmem asks of its tables and functions works there too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from negmem.db import cron_history
from negmem.db.connect import Database
from negmem.db.cron import Cron
from negmem.db.dsn import parse_dsn
from negmem.db.sqlfiles import Queries, blocks
from tests.servers import Server

pytestmark = [pytest.mark.needs_cron, pytest.mark.servers("bare")]

COMMAND = "SELECT 1 AS 一"


@pytest.fixture
def home(server: Server) -> Iterator[Database]:
    """The database of pg_cron; negmem itself can't live on this server."""
    made = Database(parse_dsn(server.dsn(str(server.cron_database)), "test"), schema="negentropy")
    yield made
    made.close()


@pytest.fixture
def cron(home: Database) -> Iterator[Cron]:
    with Cron(home, timeout_ms=5_000) as made:
        yield made


def test_a_job_is_scheduled_altered_found_and_removed(home: Database, cron: Cron) -> None:
    facts = cron.facts
    assert (facts.state, facts.version, facts.time_zone) == ("created", "1.4-1", "GMT")
    assert (facts.jobs_readable, facts.runs_readable, facts.sees_all_jobs) == (True, True, True)
    assert (facts.can_schedule, cron.missing_grants(), cron.may_alter) == (True, [], True)
    job_id = cron.schedule("一个任务", "* * * * *", COMMAND)
    (job,) = cron.look_jobs(["一个任务"], [])
    assert (job.job_id, job.command, job.database, job.active) == (
        job_id,
        COMMAND,
        home.facts.database,
        True,
    )
    with home.transaction():
        cron.lock()
        cron.alter(job, "0 2 * * *", COMMAND)
        cron.give(job, job.owner)
        (job,) = cron.read_jobs([], [job_id])
    assert job.schedule == "0 2 * * *"
    other = cron.schedule("另一个", "0 3 * * *", COMMAND, owner=cron.role)
    for each in (job_id, other):
        cron.unschedule(each)
    assert cron.look_jobs([], []) == []


def test_its_log_is_read_and_trimmed(home: Database, cron: Cron) -> None:
    connection = home.connection
    for age in ("100 days", "1 day"):
        connection.execute(
            "INSERT INTO cron.job_run_details (jobid, runid, database, username, command, status,"
            " start_time, end_time) VALUES (7, nextval('cron.runid_seq'), %s, 'x', %s, 'succeeded',"
            " now() - %s::interval, now() - %s::interval)",
            (home.facts.database, COMMAND, age, age),
        )
    assert len(cron.runs([7], [COMMAND], 10)) == 2
    assert cron.running([7]) == []
    trim = {"days": 90, "dry_run": False}
    assert cron_history.purge(home, [7], [COMMAND], home.facts.database, **trim) == 1
    assert len(cron.runs([7], [COMMAND], 10)) == 1
    statement = cron_history.purge_statement("清理", ["一个任务"], home.facts.database, 90)
    connection.execute(statement.encode())
    (offered,) = cron.look_jobs(["清理"], [])
    connection.execute(offered.command.encode())
    cron.unschedule(offered.job_id)


def test_the_questions_of_doctor_are_understood(home: Database) -> None:
    queries = Queries("negentropy", "public")
    values = {"names": ["x"], "job_ids": [1], "most": 10}
    for noun in ("capabilities", "diagnostics"):
        asked = [name for name in blocks(noun) if name.startswith("cron_")]
        assert asked
        for name in asked:
            home.connection.execute(queries(noun, name), values)
