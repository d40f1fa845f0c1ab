"""Steps of a job: policies, time limits, retries, what is noted, and how a run ends early."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from negmem.core.formation import pipeline_run
from negmem.core.formation.consolidate import Consolidation, Options
from negmem.core.formation.pipeline import StepOutcome, Work, load_steps
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError, UsageError
from tests.support.consolidating import JOBS, consolidate, consolidating, queue_threads
from tests.support.databases import TestDatabase
from tests.support.steps import steps
from tests.support.waiting import eventually


def done(work: Work) -> StepOutcome:
    return StepOutcome("done", counts={"links": 2})


def skipped(work: Work) -> StepOutcome:
    return StepOutcome("skipped", "nothing to do")


def broken(work: Work) -> StepOutcome:
    raise ValueError("坏了")


@pytest.mark.parametrize(
    ("policy", "last", "links"),
    [("fail_tolerant", "done", 4), ("serial", "not_run", 2), ("parallel", "done", 4)],
)
def test_a_policy_says_what_a_failure_means(
    database: TestDatabase, tmp_path: Path, policy: str, last: str, links: int
) -> None:
    queue_threads(database, users=1, threads=1)
    names = {"first": done, "idle": skipped, "breaks": broken, "last": done}
    with steps(names, policy=policy), consolidating(database, tmp_path, list(names)) as session:
        run = Consolidation(session, Options())
        result = run.run()
    # The job is tried again at once (retry_base_s 0), until its attempts are used up.
    assert (result.jobs.failed, result.jobs.parked) == (1, 1)
    assert run.needs_attention
    assert len(result.failures) == 1
    assert result.failures[-1].error == "breaks: internal_error: ValueError: 坏了"
    recorded = database.value("SELECT result -> 'steps' FROM negentropy.consolidation_jobs")
    assert {name: recorded[name]["status"] for name in names} == {
        "first": "done",
        "idle": "skipped",
        "breaks": "failed",
        "last": last,
    }
    # What went well before the failure is not done again; what came after it is.
    assert recorded["first"]["runs"] == 1
    assert recorded["breaks"]["runs"] == 5
    assert result.steps["first"].done == 1
    assert result.links == (2 + 2 * 5 if last == "done" else 2) == links + 8 * (last == "done")


def test_skipped_is_not_failed_and_an_entry_may_name_policy_and_limit(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=2)
    entries = ["idle:serial", "after:serial:5000"]
    names = {"idle": skipped, "after": done}
    with steps(names), consolidating(database, tmp_path, [f'"{e}"' for e in entries]) as session:
        result = consolidate(session)
        assert result.jobs.done == 2
        assert (result.steps["idle"].skipped, result.steps["after"].done) == (2, 2)
        found = load_steps(entries, timeout_ms=70)
        assert [(one.policy, one.timeout_ms) for one in found] == [("serial", 70), ("serial", 5000)]
        with pytest.raises(UsageError, match="listed twice"):
            load_steps(["idle", "idle:serial"], timeout_ms=70)
        with pytest.raises(UsageError, match="no step"):
            load_steps(["nobody_wrote_this"], timeout_ms=70)
    with steps({"idle": skipped}), consolidating(database, tmp_path, ["idle"]) as session:
        assert consolidate(session, job="full_consolidation").jobs.skipped == 2


def test_a_step_over_its_time_is_ended_also_in_a_statement(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=1)
    holder = database.connect(autocommit=False)
    holder.execute(b"LOCK TABLE negentropy.memory_summaries IN ACCESS EXCLUSIVE MODE")

    def stuck(work: Work) -> StepOutcome:
        work.session.database.connection.execute(
            b"SELECT count(*) FROM negentropy.memory_summaries"
        )
        return StepOutcome("done")

    with steps({"stuck": stuck}), consolidating(database, tmp_path, ['"stuck:300"']) as session:
        result = consolidate(session)
    holder.rollback()
    assert result.jobs.parked == 1
    assert result.failures[0].error.startswith("stuck: step_timeout: step stuck took too long")


def test_a_step_that_does_not_answer_is_left_behind(
    database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline_run, "ANSWER_S", 0.3)
    queue_threads(database, users=1, threads=2)
    let_go = threading.Event()
    after: list[object] = []
    late: list[str] = []

    def hangs(work: Work) -> StepOutcome:
        if after:
            return StepOutcome("done")
        let_go.wait(60)
        try:
            work.session.database.connection.execute(b"SELECT 1")
        except NegmemError as error:
            late.append(error.code)
        return StepOutcome("done")

    def goes_on(work: Work) -> StepOutcome:
        after.append(work.session.database.connection.execute(b"SELECT 1").fetchone())
        return StepOutcome("done")

    listed = ['"hangs:200"', "goes_on"]
    made = consolidating(database, tmp_path, listed, retry_base_s=3600)
    with steps({"hangs": hangs, "goes_on": goes_on}), made as session:
        result = consolidate(session)
    assert (result.jobs.done, result.jobs.failed) == (1, 1)
    assert "step_timeout" in result.failures[0].error
    assert after == [(1,), (1,)]
    let_go.set()
    assert eventually(lambda: late == ["connection_lost"]), "it reaches the database no more"


def test_a_conflict_between_writers_passes_without_a_new_attempt(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=1)
    tries: list[int] = []

    def unlucky(work: Work) -> StepOutcome:
        tries.append(1)
        if len(tries) < 3:
            raise DatabaseError("deadlock", "two sessions waited", sqlstate="40P01")
        return StepOutcome("done")

    with steps({"unlucky": unlucky}), consolidating(database, tmp_path, ["unlucky"]) as session:
        result = consolidate(session)
    assert (result.jobs.done, result.jobs.failed, len(tries)) == (1, 0, 3)


def test_no_transaction_is_open_while_a_step_thinks(database: TestDatabase, tmp_path: Path) -> None:
    queue_threads(database, users=2, threads=1)
    database.rows(
        f"ALTER DATABASE {database.name} SET idle_in_transaction_session_timeout = '20ms'"
    )
    open_ones: list[int] = []

    def thinks(work: Work) -> StepOutcome:
        threading.Event().wait(0.1)  # a model that answers after longer than the server allows
        open_ones.append(
            database.value(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND state LIKE 'idle in transaction%'"
            )
        )
        return StepOutcome("done")

    with steps({"thinks": thinks}), consolidating(database, tmp_path, ["thinks"]) as session:
        result = consolidate(session, workers=2)
    assert (result.jobs.done, open_ones) == (2, [0, 0])


@pytest.mark.parametrize("how", ["checkpoint", "statement", "model"])
def test_a_run_that_is_stopped_gives_its_jobs_back_at_once(
    database: TestDatabase, tmp_path: Path, how: str
) -> None:
    queue_threads(database, users=1, threads=2)
    began, forever = threading.Event(), threading.Event()

    def busy(work: Work) -> StepOutcome:
        began.set()
        if how == "statement":
            work.session.database.connection.execute(b"SELECT pg_sleep(60)")
        if how == "model":  # deep in a call that hears nothing
            forever.wait(60)
        while True:
            work.checkpoint()
            forever.wait(0.01)

    with (
        steps({"first": done, "busy": busy}),
        consolidating(database, tmp_path, ["first", "busy"], lease_s=60) as session,
    ):
        run = Consolidation(session, Options())
        runner = threading.Thread(target=run.run)
        runner.start()
        assert began.wait(10)
        run.stop()
        runner.join(20)
        assert not runner.is_alive()
        assert (run.result.interrupted, run.result.jobs.released) == (True, 1)
        assert run.result.queue.due == 2
        assert [row[2:4] for row in database.rows(JOBS)] == [("pending", 0)] * 2
        forever.set()
        # Whoever comes next goes on behind the step that was done.
        with steps({"first": broken, "busy": done}):
            result = consolidate(session)
    assert result.steps["busy"].done >= 1
    assert (
        database.value(
            "SELECT count(*) FROM negentropy.consolidation_jobs"
            " WHERE status = 'completed' AND result #>> '{steps,first,status}' = 'done'"
        )
        == 1
    )


def test_a_server_that_ends_sessions_ends_no_run(database: TestDatabase, tmp_path: Path) -> None:
    queue_threads(database, users=1, threads=1)
    tries: list[int] = []

    def cut_off(work: Work) -> StepOutcome:
        tries.append(1)
        if len(tries) == 1:
            database.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            )
            work.session.database.rows("consolidation", "held_by", {"app_name": work.app})
        return StepOutcome("done")

    with steps({"cut_off": cut_off}), consolidating(database, tmp_path, ["cut_off"]) as session:
        result = consolidate(session)
    assert (result.jobs.done, result.jobs.failed, len(tries)) == (1, 0, 2)
