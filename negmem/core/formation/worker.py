"""A worker: takes jobs off the queue one after the other, until none is due."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from negmem.core.formation import queue
from negmem.core.formation.lease import Hold, LeaseKeeper
from negmem.core.formation.pipeline import Extractor, LeaseLostError, Step, Work, WorkStopped
from negmem.core.formation.pipeline_run import JobRun, another_session, run_steps
from negmem.core.formation.queue import Backoff, Job, Scope
from negmem.core.models.consolidation import JobFailure, StepRecord, StepTotals
from negmem.core.session import Session
from negmem.db.connect import Database
from negmem.errors import NegmemError
from negmem.providers.budget import GenerationUsage, Share

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

# Waits between looks at a queue whose due jobs are all of users that another worker is busy with.
_FIRST_WAIT_S = 0.05
_LONGEST_WAIT_S = 1.0
# Tries to write an outcome down; a server that restarts is back by then.
_TRIES = 5
_WORTH_A_TRY = frozenset(
    ("connection_lost", "server_unreachable", "statement_timeout", "deadlock", "lock_timeout")
)

R = TypeVar("R")


@dataclass(frozen=True)
class Plan:
    """What workers of a run share."""

    scope: Scope
    steps: Sequence[Step]
    extractor: Extractor
    generator: Generator | None
    backoff: Backoff


@dataclass
class Tally:
    """What the workers of a run did so far; safe from several threads.

    A job that was tried several times counts once, by what became of it last.
    """

    counts: Counter[str] = field(default_factory=Counter)
    steps: dict[str, StepTotals] = field(default_factory=dict)
    _outcomes: dict[UUID, tuple[str, JobFailure | None]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def jobs(self) -> Counter[str]:
        """How many jobs ended how."""
        with self._lock:
            return Counter(outcome for outcome, _ in self._outcomes.values())

    @property
    def failures(self) -> list[JobFailure]:
        """The jobs that failed at their last attempt, in the order in which they were first tried."""
        with self._lock:
            return [failure for _, failure in self._outcomes.values() if failure is not None]

    def add(
        self,
        job_id: UUID,
        outcome: str,
        run: JobRun | None = None,
        failure: JobFailure | None = None,
    ) -> None:
        """Note how a job ended: done, skipped, failed, parked (failed too), released or lost."""
        with self._lock:
            self._outcomes[job_id] = (outcome, failure)
            for name, record in ({} if run is None else run.now).items():
                self._add_step(name, record)

    def _add_step(self, name: str, record: StepRecord) -> None:
        totals = self.steps.get(name, StepTotals())
        counts = Counter(totals.counts)
        counts.update(record.counts)
        self.counts.update(record.counts)
        self.steps[name] = totals.model_copy(
            update={
                record.status: getattr(totals, record.status) + 1,
                "took_ms": round(totals.took_ms + record.took_ms, 1),
                "counts": dict(counts),
            }
        )


class Worker:
    """One worker, with a session of its own.

    `is_busy` says whether it has a job; `failure` what ended it before the queue was empty.
    """

    def __init__(self, session: Session, plan: Plan, keeper: LeaseKeeper, tally: Tally) -> None:
        self._session = session
        self._plan = plan
        self._keeper = keeper
        self._tally = tally
        self.name = queue.worker_name()
        self.is_busy = False
        self.failure: Exception | None = None
        self.hold: Hold | None = None
        self.job: Job | None = None

    def work(self, others_are_busy: Callable[[], bool], wait: Callable[[float], object]) -> None:
        """Work until no job of the scope is due, or the run is asked to end.

        Due jobs of a user with whom another worker is busy are waited for: as long as workers of this
        run are, and then for a lease's time.
        """
        try:
            self._work(others_are_busy, wait)
        except WorkStopped:
            return
        except Exception as error:
            self.failure = error
        finally:
            self._session.close()

    def _work(self, others_are_busy: Callable[[], bool], wait: Callable[[float], object]) -> None:
        plan = self._plan
        pause = _FIRST_WAIT_S
        idle_since = time.monotonic()
        while not self._keeper.is_stopping:
            job = self._safely(
                lambda: queue.claim(
                    self._session.database, plan.scope, self.name, self._keeper.lease_s
                )
            )
            if job is not None:
                self.is_busy = True
                try:
                    self._take(job)
                finally:
                    self.is_busy = False
                pause, idle_since = _FIRST_WAIT_S, time.monotonic()
                continue
            if self._safely(lambda: queue.count(self._session.database, plan.scope)).due == 0:
                return
            if others_are_busy():
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > self._keeper.lease_s:
                return
            wait(pause)
            pause = min(pause * 2, _LONGEST_WAIT_S)

    def _take(self, job: Job) -> None:
        with self._keeper.holding(job.id, self.name) as hold:
            self.hold, self.job = hold, job
            try:
                run = self._run(job, hold)
            except WorkStopped:
                if not hold.is_lost:
                    self._finish(job, "released")
                    self._tally.add(job.id, "released")
                raise
            except LeaseLostError:
                self._tally.add(job.id, "lost")
                return
            finally:
                self.hold = self.job = None
        self._end(job, run)

    def _run(self, job: Job, hold: Hold) -> JobRun:
        session, plan = self._session, self._plan
        database = session.database
        version = queue.version(database, plan.scope.app, job.user_id, job.thread_id)
        noted = {"version": version, "extractor": plan.extractor}
        before: dict[str, StepRecord] = {}
        if all(job.result.get(key) == value for key, value in noted.items()):
            before = {
                name: StepRecord.model_validate(record)
                for name, record in job.result.get("steps", {}).items()
            }

        generator, share = plan.generator, None
        if generator is not None:
            share = Share(generator.budget)
            generator = generator.booked_on(share)

        def told() -> dict[str, Any]:
            used = None if share is None else share.spent
            return {**noted, **_llm_use(job.result.get("llm"), used, plan.generator)}

        def note(steps: dict[str, StepRecord]) -> None:
            result = {**told(), "steps": _dumped(steps)}
            args = (self._session.database, job.id, self.name, self._keeper.lease_s, result)
            if not self._safely(lambda: queue.note_progress(*args)):
                hold.is_lost = True
            hold.check()

        work = Work(
            session=session,
            user=job.user_id,
            app=plan.scope.app,
            job_id=job.id,
            job_type=job.job_type,  # type: ignore[arg-type]  # the table's CHECK
            thread_id=job.thread_id,
            extractor=plan.extractor,
            generator=generator,
            since=job.since,
        )
        run = run_steps(work, plan.steps, hold, before=before, note=note, go_on=self._go_on)
        run.noted = told()
        return run

    def _go_on(self) -> Session:
        """A session in the place of the one that a step which does not answer has kept."""
        kept = self._session
        self._session = another_session(kept)
        self._session.warnings = kept.warnings
        return self._session

    def _end(self, job: Job, run: JobRun) -> None:
        error = run.failure
        result = {**run.noted, "steps": _dumped(run.steps)}
        outcome = "completed" if error is None else "failed"
        became = self._finish(
            job, outcome, result=result, error=error, at_least_s=run.retry_after_s
        )
        if became is None:
            self._tally.add(job.id, "lost", run)
        elif error is None:
            self._tally.add(job.id, "skipped" if run.was_skipped else "done", run)
        else:
            failure = JobFailure(
                id=job.id,
                user=job.user_id,
                thread=job.thread_name,
                job=job.job_type,
                became=became,
                error=error,
            )
            self._tally.add(job.id, "parked" if became == "parked" else "failed", run, failure)

    def give_back(self, database: Database) -> None:
        """From another thread: the job that this worker still has goes back to the queue."""
        hold, job = self.hold, self.job
        if hold is None or job is None:
            return
        hold.is_lost = True
        if queue.finish(database, job.id, self.name, "released", backoff=self._plan.backoff):
            self._tally.add(job.id, "released")

    def _finish(self, job: Job, outcome: str, **more: Any) -> str | None:
        return self._safely(
            lambda: queue.finish(
                self._session.database,
                job.id,
                self.name,
                outcome,
                backoff=self._plan.backoff,
                **more,
            )
        )

    def _safely(self, act: Callable[[], R]) -> R:
        """What `act` returns, tried again where the server was away or a late cancel met it."""
        for attempt in range(1, _TRIES + 1):
            try:
                return act()
            except NegmemError as error:
                if error.code not in _WORTH_A_TRY or attempt == _TRIES:
                    raise
                self._session.database.close()
                time.sleep(0.2 * 2**attempt)
        raise AssertionError("the last try raises")


def _llm_use(
    earlier: Mapping[str, Any] | None, used: GenerationUsage | None, generator: Generator | None
) -> dict[str, Any]:
    """What a job took of the language model over all its attempts, for its result; nothing for none."""
    if used is None or generator is None:
        return {} if earlier is None else {"llm": earlier}
    before = GenerationUsage()
    if earlier is not None:
        fields = GenerationUsage.__dataclass_fields__
        before = GenerationUsage(**{name: earlier[name] for name in fields if name in earlier})
    total = before + used
    return (
        {"llm": {"model": generator.model, **asdict(total)}} if total != GenerationUsage() else {}
    )


def _dumped(steps: dict[str, StepRecord]) -> dict[str, Any]:
    return {name: record.model_dump(mode="json") for name, record in steps.items()}
