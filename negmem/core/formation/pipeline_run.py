"""One job through its steps: policies, time limits, what is noted on the way."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field, replace
from typing import Any

from negmem.core.formation.lease import Hold
from negmem.core.formation.pipeline import (
    LeaseLostError,
    Step,
    StepOutcome,
    StepTimeoutError,
    Work,
    WorkStopped,
)
from negmem.core.models.consolidation import StepRecord
from negmem.core.session import Session, explain_driver_error
from negmem.db.connect import Database
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError

log = logging.getLogger("negmem.formation")

# deadlock, serialization, lock timeout, and rows that another writer added or removed meanwhile
_PASSING = frozenset(("40P01", "40001", "55P03", "23505", "23503"))
_TRIES = 3
ANSWER_S = 10.0
"""How long after its time a step may take to notice it, before it is left behind."""


@dataclass
class JobRun:
    """How a job went.

    `steps` has all its steps, with what earlier attempts did; `now` what this one did; `noted` goes
    beside them into the job's result.
    """

    steps: dict[str, StepRecord] = field(default_factory=dict)
    now: dict[str, StepRecord] = field(default_factory=dict)
    retry_after_s: float = 0.0
    noted: dict[str, Any] = field(default_factory=dict)

    @property
    def failure(self) -> str | None:
        """What failed, None where nothing did."""
        failed = [
            f"{name}: {record.reason}"
            for name, record in self.steps.items()
            if record.status == "failed"
        ]
        return "; ".join(failed) or None

    @property
    def was_skipped(self) -> bool:
        """Whether there was nothing to do in any step."""
        return all(record.status == "skipped" for record in self.steps.values())


def another_session(session: Session) -> Session:
    """The same view with a connection and warnings of its own, for another thread."""
    own = Session(
        session.loaded, another(session.database), config_path=session.config_path, env=session.env
    )
    own.use_embedder(session.embedder_or_reason)
    return own


def another(database: Database) -> Database:
    """The same database with a connection of its own."""
    return Database(
        database.target,
        schema=database.schema,
        command=database.command,
        wait_s=database.wait_s,
        connect_timeout_s=database.connect_timeout_s,
        lock_timeout_ms=database.lock_timeout_ms,
        statement_timeout_ms=database.statement_timeout_ms,
    )


def run_steps(
    work: Work,
    steps: Sequence[Step],
    hold: Hold,
    *,
    before: dict[str, StepRecord],
    note: Callable[[dict[str, StepRecord]], None],
    go_on: Callable[[], Session],
) -> JobRun:
    """Run a job's steps in their order.

    Args: before, how steps went in earlier attempts: those that ended well before the first that did not
    are not run again; note, called after each step; go_on, gives a session in the place of one that a
    step which does not answer has kept.
    Raises: WorkStopped, LeaseLostError.
    """
    mine = [step for step in steps if work.job_type in step.job_types]
    run = JobRun()
    rest = list(mine)
    while rest and (earlier := before.get(rest[0].name)) and earlier.status in ("done", "skipped"):
        run.steps[rest.pop(0).name] = earlier
    stopped_by: str | None = None
    for group in _groups(rest):
        if stopped_by:
            for step in group:
                run.steps[step.name] = run.now[step.name] = StepRecord(
                    status="not_run", reason=f"after {stopped_by} failed", runs=0
                )
            continue
        hold.check()
        for step, outcome, took_ms in _run_group(work, group, hold):
            if work.session.database.is_retired:
                work = replace(work, session=go_on())
            run.now[step.name] = _record(outcome, took_ms, None)
            run.steps[step.name] = _record(outcome, took_ms, before.get(step.name))
            if outcome.status == "failed":
                run.retry_after_s = max(run.retry_after_s, outcome.retry_after_s or 0.0)
                if step.policy == "serial":
                    stopped_by = step.name
        note(run.steps)
    return run


def _groups(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Steps one by one; parallel ones beside each other as one group."""
    group: list[Step] = []
    for step in steps:
        if step.policy == "parallel":
            group.append(step)
            continue
        if group:
            yield group
        group = []
        yield [step]
    if group:
        yield group


def _run_group(
    work: Work, group: Sequence[Step], hold: Hold
) -> list[tuple[Step, StepOutcome, float]]:
    if len(group) == 1:
        return [(group[0], *_run_step(work, group[0], hold))]

    def apart(step: Step) -> tuple[Step, StepOutcome, float]:
        session = another_session(work.session)
        try:
            return (step, *_run_step(replace(work, session=session), step, hold))
        finally:
            session.close()
            for warning in session.warnings:
                work.session.warn(warning["code"], warning["message"])

    with ThreadPoolExecutor(len(group), "negmem-step") as threads:
        under_way = [threads.submit(apart, step) for step in group]
    return [one.result() for one in under_way]


def _run_step(work: Work, step: Step, hold: Hold) -> tuple[StepOutcome, float]:
    started = time.perf_counter()
    with hold.watched(step.name, step.timeout_ms, work.session.database) as checkpoint:
        outcome = _run_apart(replace(work, checkpoint=checkpoint), step, hold)
    return outcome, (time.perf_counter() - started) * 1000


def _run_apart(work: Work, step: Step, hold: Hold) -> StepOutcome:
    """Run a step in a thread that can be left behind: one that neither ends nor asks holds up nobody."""
    ended: Future[StepOutcome] = Future()

    def run() -> None:
        try:
            ended.set_result(_tried(work, step, hold))
        except BaseException as error:
            ended.set_exception(error)

    name = f"{threading.current_thread().name}-{step.name}"
    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        return ended.result(step.timeout_ms / 1000 + ANSWER_S)
    except FutureTimeoutError:
        if ended.done():
            return ended.result()
    work.session.database.retire()
    late = StepTimeoutError(step.name, step.timeout_ms)
    log.error("step %s does not answer and is left behind", step.name)
    return StepOutcome("failed", f"{late.code}: {late.message}; {late.why}, and it does not answer")


def _tried(work: Work, step: Step, hold: Hold) -> StepOutcome:
    outcome = StepOutcome("failed", "it was not tried")
    for number in range(1, _TRIES + 1):
        outcome, may_pass = _try_step(work, step, hold)
        if not may_pass or number == _TRIES:
            break
        log.info("step %s is tried again: %s", step.name, outcome.reason)
    return outcome


def _try_step(work: Work, step: Step, hold: Hold) -> tuple[StepOutcome, bool]:
    """How one try ended, and whether another one may end otherwise right away."""
    try:
        return step.run(work), False
    except (WorkStopped, LeaseLostError):
        raise
    except Exception as raised:
        hold.check()
        error = raised
        if type(raised).__module__.startswith("psycopg"):
            error = explain_driver_error(raised)
        if isinstance(error, DatabaseError) and error.sqlstate == "57014":
            try:
                work.checkpoint()
            except StepTimeoutError as late:
                error = late
        if isinstance(error, NegmemError):
            why = f"; {error.why}" if error.why else ""
            passing = getattr(error, "sqlstate", "") in _PASSING
            return StepOutcome("failed", f"{error.code}: {error.message}{why}"), passing
        log.error("step %s met a bug", step.name, exc_info=log.isEnabledFor(logging.DEBUG))
        return StepOutcome("failed", f"internal_error: {type(error).__name__}: {error}"), False


def _record(outcome: StepOutcome, took_ms: float, earlier: StepRecord | None) -> StepRecord:
    counts = dict(outcome.counts)
    runs = 1
    if earlier is not None:
        runs += earlier.runs
        took_ms += earlier.took_ms
        for name, number in earlier.counts.items():
            counts[name] = counts.get(name, 0) + number
    return StepRecord(
        status=outcome.status,
        reason=outcome.reason,
        counts=counts,
        took_ms=round(took_ms, 1),
        runs=runs,
    )
