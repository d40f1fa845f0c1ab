"""Jobs that pg_cron itself runs, in another database than negmem's and in the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from negmem.core.automation.job_runs import logs
from negmem.core.automation.jobs import JOBS, switch
from negmem.core.automation.snapshot import snapshot
from negmem.core.session import Session, open_session
from tests.support.databases import TestDatabase
from tests.support.jobs import KEYS, CronDesk, cron_desk
from tests.support.memories import add_memory, add_thread, live
from tests.support.waiting import eventually

pytestmark = pytest.mark.needs_cron


@pytest.fixture
def desk(database: TestDatabase) -> Iterator[CronDesk]:
    with cron_desk(database) as made:
        yield made


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={}) as opened:
        yield opened


def run_everything(database: TestDatabase, desk: CronDesk, session: Session) -> None:
    add_memory(database, "昨天的天气", days=700)
    add_thread(database, "晨会")
    for key in KEYS:
        desk.turn(key, False, schedule="1 second")
        assert switch(session, key, True).scheduled
    seen = (
        "SELECT count(DISTINCT job) FROM negentropy.automation_runs"
        " WHERE source = 'pg_cron' AND status = 'succeeded'"
    )
    assert eventually(lambda: database.value(seen) == len(JOBS), limit_s=60)
    assert live(database) == set()
    assert database.value("SELECT count(*) FROM negentropy.consolidation_jobs") == 1

    def in_both() -> set[str]:
        log = logs(session, limit=100)
        assert log.looked_at == ["cron.job_run_details", "automation_runs"]
        starts = [run.started_at for run in log.runs if run.started_at]
        assert starts == sorted(starts, reverse=True)
        return {run.job_key for run in log.runs if len(run.sources) == 2}

    assert eventually(lambda: in_both() == set(KEYS), limit_s=60)
    run = next(r for r in logs(session, "cleanup_memories").runs if len(r.sources) == 2)
    assert (run.status, run.started_through, run.started_by) == (
        "succeeded",
        "pg_cron",
        "postgres",
    )
    ids = {row["jobname"]: row["jobid"] for row in desk.jobs()}
    assert run.job_id == ids[desk.name("cleanup_memories")]


def test_pg_cron_runs_each_job_and_the_log_shows_it(
    database: TestDatabase, desk: CronDesk, session: Session
) -> None:
    run_everything(database, desk, session)


def test_pg_cron_in_the_same_database_runs_them_too(cron_database: TestDatabase) -> None:
    with (
        cron_desk(cron_database) as desk,
        open_session(dsn=cron_database.dsn, env={}) as session,
    ):
        run_everything(cron_database, desk, session)


def test_a_switch_schedules_and_unschedules(
    database: TestDatabase, desk: CronDesk, session: Session
) -> None:
    done = switch(session, "cleanup_memories", True)
    assert (done.status, done.scheduled, session.warnings) == ("scheduled", True, [])
    row = desk.job()
    assert row["command"] == "SELECT negentropy.cleanup_low_value_memories(0.0001, 640, 0.1)"
    assert (row["schedule"], row["database"], row["active"]) == ("0 2 * * *", database.name, True)
    again = switch(session, "cleanup_memories", True)
    assert (again.changed, again.applied, desk.job()) == (False, [], row)
    job = snapshot(session).jobs[0]
    assert (job.status, job.reason, job.job_id) == ("scheduled", "by pg_cron", row["jobid"])
    done = switch(session, "cleanup_memories", False)
    (change,) = done.applied
    assert change.action == "delete"
    assert "0 2 * * *" in (change.before or "")
    assert desk.jobs() == []


def test_a_dry_run_touches_nothing(desk: CronDesk, session: Session) -> None:
    desk.turn("cleanup_memories")
    done = switch(session, "cleanup_memories", True, dry_run=True)
    assert [change.action for change in done.applied] == ["create"]
    assert desk.jobs() == []


def test_a_removed_job_that_still_runs_is_told(
    database: TestDatabase, desk: CronDesk, session: Session
) -> None:
    database.rows("CREATE TABLE negentropy.gate ()")
    database.rows("DROP FUNCTION negentropy.reweight_all_users_relevance")
    database.rows(
        "CREATE FUNCTION negentropy.reweight_all_users_relevance() RETURNS integer"
        " LANGUAGE plpgsql AS $$ BEGIN INSERT INTO negentropy.gate DEFAULT VALUES;"
        " WHILE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'opened')"
        " LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN 0; END $$"
    )
    desk.turn("reweight_relevance", False, schedule="1 second")
    switch(session, "reweight_relevance", True)
    (row,) = desk.jobs()
    seen = "SELECT count(*) AS n FROM cron.job_run_details WHERE jobid = %s AND status = 'running'"
    assert eventually(lambda: desk.sql(seen, (row["jobid"],))[0]["n"] == 1, limit_s=60)
    done = switch(session, "reweight_relevance", False)
    pid = desk.sql(
        "SELECT job_pid FROM cron.job_run_details WHERE jobid = %s AND status = 'running'",
        (row["jobid"],),
    )[0]["job_pid"]
    assert f"removed, still running pid {pid}" in done.applied[0].detail
    database.rows("CREATE TABLE public.opened ()")
