"""The queue of consolidation: one job each, leases, retries, what is parked."""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

from negmem.core.formation import queue
from negmem.core.formation.consolidate import list_queue
from negmem.core.formation.pipeline import StepOutcome, Work
from negmem.core.formation.queue import Backoff, Scope
from tests.support.consolidating import JOBS, consolidate, consolidating, queue_threads
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, ingest_file, session_on, write_lines
from tests.support.steps import steps
from tests.support.waiting import eventually

SCOPE = Scope("negmem")
NO_WAIT = Backoff(0, 0)
EXPIRE = "UPDATE negentropy.consolidation_jobs SET lease_until = now() - interval '1 s'"
ENQUEUE = """
    SELECT negentropy.enqueue_consolidation('negmem', ARRAY['ada'], ARRAY[NULL]::uuid[],
        'deep_reflection', %s)
"""


def done(work: Work) -> StepOutcome:
    return StepOutcome("done")


def test_two_enqueuers_make_one_job(database: TestDatabase) -> None:
    first, second = database.connect(autocommit=False), database.connect()
    assert first.execute(ENQUEUE, ("2026-03-02",)).fetchone() == (1,)
    answers: list[object] = []
    late = threading.Thread(
        target=lambda: answers.append(second.execute(ENQUEUE, ("2026-03-01",)).fetchone())
    )
    late.start()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    assert eventually(lambda: database.value(waiting) == 1)
    first.commit()
    late.join()
    # The second found the first one's job, which now reads from the earlier moment on.
    assert answers == [(1,)]
    since = "SELECT payload ->> 'since' FROM negentropy.consolidation_jobs"
    assert database.rows(since) == [("2026-03-01T00:00:00+00:00",)]
    assert database.value(ENQUEUE, ("2026-03-05",)) == 0
    assert database.value(ENQUEUE, (None,)) == 1
    assert database.rows(since) == [(None,)]


@pytest.mark.servers("embedded", "pooled")
def test_eight_workers_do_each_job_once_and_one_user_at_a_time(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=5, threads=8)
    lock = threading.Lock()
    jobs: Counter[object] = Counter()
    users: Counter[str] = Counter()
    most: Counter[str] = Counter()

    def probe(work: Work) -> StepOutcome:
        with lock:
            jobs[work.job_id] += 1
            users[work.user] += 1
            most[work.user] = max(most[work.user], users[work.user])
        work.session.database.rows("consolidation", "held_by", {"app_name": work.app})
        work.checkpoint()
        with lock:
            users[work.user] -= 1
        return StepOutcome("done", counts={"facts": 1})

    results = []
    with (
        steps({"probe": probe}),
        consolidating(database, tmp_path, ["probe"]) as session,
        consolidating(database, tmp_path, ["probe"]) as other,
    ):
        runs = [
            threading.Thread(
                target=lambda own: results.append(consolidate(own, workers=4)), args=(own,)
            )
            for own in (session, other)
        ]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
    assert sum(result.jobs.done for result in results) == 40
    assert sum(result.facts for result in results) == 40
    assert len(jobs) == 40
    assert set(jobs.values()) == {1}
    assert set(most.values()) == {1}
    assert database.rows("SELECT DISTINCT status, attempts FROM negentropy.consolidation_jobs") == [
        ("completed", 1)
    ]


def test_a_lease_that_ran_out_is_taken_over_and_its_old_holder_can_do_nothing(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=1)
    with session_on(database) as session:
        held = queue.claim(session.database, SCOPE, "elsewhere:1:0:a", 60)
        assert held is not None
        assert queue.claim(session.database, SCOPE, "here:1:0:b", 60) is None
        assert queue.renew(session.database, held.id, "elsewhere:1:0:a", 60)
        database.rows(EXPIRE)
        taken = queue.claim(session.database, SCOPE, "here:1:0:b", 60)
        assert taken is not None
        assert (taken.id, taken.attempts) == (held.id, 1)  # a worker that died is no failed attempt
        old = (session.database, held.id, "elsewhere:1:0:a")
        assert not queue.renew(*old, 60)
        assert not queue.note_progress(*old, 60, {"steps": {}})
        assert queue.finish(*old, "completed", backoff=NO_WAIT) is None
        assert database.value("SELECT status FROM negentropy.consolidation_jobs") == "running"
        for _ in range(20):
            database.rows(EXPIRE)
            queue.claim(session.database, SCOPE, "here:1:0:b", 60)
        assert database.rows(JOBS)[0][2:] == (
            "failed",
            1,
            "21 workers in a row died or fell silent over it, the last was here:1:0:b",
        )


def test_a_job_of_a_process_that_is_gone_goes_on_at_once(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=1)
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine = queue.worker_name()
    dead = mine.replace(f":{os.getpid()}:", f":{gone.pid}:")
    elsewhere = dead.replace(mine.split(":")[2], "00000000")
    with session_on(database) as session:
        assert queue.claim(session.database, SCOPE, elsewhere, 60)
        assert queue.release_dead(session.database, "negmem") == []
        database.rows(EXPIRE)
        assert queue.claim(session.database, SCOPE, dead, 60)
    with steps({"probe": done}), consolidating(database, tmp_path, ["probe"]) as session:
        assert consolidate(session).jobs.done == 1


def test_a_failed_job_waits_longer_each_time_and_is_parked_at_last(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=1)
    wait = (
        "SELECT round(extract(epoch FROM next_attempt_at - now())), status"
        " FROM negentropy.consolidation_jobs"
    )
    with session_on(database) as session:
        for attempt in range(1, 6):
            database.rows("UPDATE negentropy.consolidation_jobs SET next_attempt_at = now()")
            job = queue.claim(session.database, SCOPE, "w:1:0:a", 60)
            assert job is not None
            assert job.attempts == attempt
            hold = (session.database, job.id, "w:1:0:a", "failed")
            became = queue.finish(*hold, backoff=Backoff(30, 200), error="说不出", at_least_s=45)
            if attempt < 5:
                assert became == "waiting"
                assert database.rows(wait) == [({1: 45, 2: 60, 3: 120, 4: 200}[attempt], "pending")]
                assert queue.claim(session.database, SCOPE, "w:1:0:a", 60) is None
        assert became == "parked"
        listed = queue.listed(session.database, SCOPE)
        assert [(one.state, one.error, one.attempts) for one in listed.jobs] == [
            ("parked", "说不出", 5)
        ]
        assert queue.retry(session.database, SCOPE) == 1
        counts = queue.count(session.database, SCOPE)
        assert (counts.due, counts.parked) == (1, 0)


def test_a_job_counts_once_by_what_became_of_it_last(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=2, threads=1)
    tries: Counter[str] = Counter()

    def weak(work: Work) -> StepOutcome:
        tries[work.user] += 1
        is_bad = work.user == "user1" or tries[work.user] < 3
        return StepOutcome("failed", "moody") if is_bad else StepOutcome("done")

    with steps({"weak": weak}), consolidating(database, tmp_path, ["weak"]) as session:
        run = consolidate(session)
        assert tries == {"user1": 5, "user2": 3}
        assert (run.jobs.done, run.jobs.failed, run.jobs.parked) == (1, 1, 1)
        assert [one.became for one in run.failures] == ["parked"]
        assert (run.steps["weak"].failed, run.steps["weak"].done) == (7, 1)


def test_what_was_said_first_is_read_first(database: TestDatabase, tmp_path: Path) -> None:
    lines = [
        conversation(f"{day}日", "在吗", datetime=f"2026-03-0{day}T09:00:00Z")
        for day in (5, 1, 4, 2, 3)
    ]
    with session_on(database) as session:
        ingest_file(session, write_lines(tmp_path / "in.jsonl", lines))
        read: list[str | None] = []
        while (job := queue.claim(session.database, SCOPE, "w:1:0:a", 60)) is not None:
            # One that is interrupted keeps its place, whoever goes on with it.
            outcome = "released" if read == ["1日"] else "completed"
            queue.finish(session.database, job.id, "w:1:0:a", outcome, backoff=NO_WAIT)
            read.append(job.thread_name)
        assert read == ["1日", "2日", "2日", "3日", "4日", "5日"]
        database.rows("DELETE FROM negentropy.consolidation_jobs")
        trigger = "SELECT negentropy.trigger_maintenance_consolidation('1 hour')"
        assert database.value(trigger) == 5
        assert [row[0] for row in database.rows(JOBS)] == ["1日", "2日", "3日", "4日", "5日"]


def test_what_is_stored_while_a_job_runs_makes_the_next_one(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    seen: list[list[str]] = []

    def reads(work: Work) -> StepOutcome:
        from negmem.core.formation.turns import read_turns

        seen.append([turn.text for turn in read_turns(work)])
        if len(seen) == 1:
            with session_on(database) as other:
                ingest_file(other, write_lines(path, [conversation("t", "一", "二", "三")]))
        return StepOutcome("done")

    with session_on(database) as session:
        ingest_file(session, write_lines(path, [conversation("t", "一", "二")]))
    with steps({"reads": reads}), consolidating(database, tmp_path, ["reads"]) as session:
        assert consolidate(session).jobs.done == 2
        assert seen == [["一", "二"], ["三"]]
        assert [row[2] for row in database.rows(JOBS)] == ["completed", "completed"]


def test_a_hold_binds_the_scheduler_a_pause_and_erasure_bind_all(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=4, threads=1)
    for user, column in (("user1", "paused_at"), ("user2", "held_at"), ("user3", "erasing_since")):
        database.rows(f"UPDATE negentropy.users SET {column} = now() WHERE user_id = %s", (user,))
    with steps({"probe": done}), consolidating(database, tmp_path, ["probe"]) as session:
        gated = consolidate(session, gated=True)
        assert (gated.jobs.done, gated.queue.held_back) == (1, 3)
        free = consolidate(session)
        assert (free.jobs.done, free.queue.held_back) == (1, 2)
        assert consolidate(session, job="full_consolidation").queued == 2
        listed = list_queue(session, state="held_back")
        assert {job.user for job in listed.jobs} == {"user1", "user3"}
        assert consolidate(session, user="user1").jobs.done == 0
        assert [one["code"] for one in session.warnings] == ["user_paused"]
        database.rows("UPDATE negentropy.users SET paused_at = NULL")
        assert consolidate(session).jobs.done == 1


def test_a_named_job_is_queued_for_what_changed(database: TestDatabase, tmp_path: Path) -> None:
    queue_threads(database, users=2, threads=2)
    with steps({"probe": done}), consolidating(database, tmp_path, ["probe"]) as session:
        planned = consolidate(session, job="full_consolidation", dry_run=True)
        assert (planned.queued, planned.queue.due) == (4, 0)
        first = consolidate(session, job="full_consolidation")
        assert (first.queued, first.jobs.done) == (4, 4)
        assert first.queue.due == 0
        assert consolidate(session, job="full_consolidation").queued == 0
        database.rows(
            "UPDATE negentropy.threads SET version = 2 WHERE user_id = 'user1' AND external_id = 't1'"
        )
        assert consolidate(session, job="full_consolidation").queued == 1
        assert consolidate(session, job="deep_reflection", user="user2").jobs.done == 1
        assert consolidate(session, job="deep_reflection").jobs.done == 1
        assert consolidate(session, job="deep_reflection", user="user2", again=True).queued == 1
        assert consolidate(session).jobs.done == 4  # the fast_replay of each thread still waited
