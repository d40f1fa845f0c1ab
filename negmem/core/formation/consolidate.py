"""Consolidation: workers over the queue, from conversations to what is worth knowing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from negmem.core.formation import queue
from negmem.core.formation.lease import LeaseKeeper
from negmem.core.formation.pipeline import JOB_TYPES, Extractor, load_steps
from negmem.core.formation.pipeline_run import another, another_session
from negmem.core.formation.queue import Backoff, Scope
from negmem.core.formation.worker import Plan, Tally, Worker
from negmem.core.models.consolidation import (
    Consolidated,
    JobCounts,
    LlmUse,
    Queue,
    QueueCounts,
    QueuedJob,
)
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

STATES = ("running", "parked", "due", "waiting", "held_back", "completed", "cancelled")
_COUNTED = ("memories", "facts", "conflicts", "links", "duplicates_merged")
# How long workers may take to let go after Ctrl-C before their jobs are given back for them.
_LET_GO_S = 2.0
_LOOK_S = 0.1
_SHOW_S = 1.0


@dataclass(frozen=True)
class Options:
    """What to work on, with what, and what it may cost; None: as the config says.

    `job` queues that job for the users and threads of the scope that grew since their last one, with
    `again` for all of them. `retry` makes parked and waiting jobs due. `gated`: for the scheduler.
    """

    job: str | None = None
    user: str | None = None
    thread: str | None = None
    workers: int | None = None
    extractor: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    again: bool = False
    retry: bool = False
    gated: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a run is: jobs that ended, jobs that are due or running, facts found."""

    ended: int
    open: int
    facts: int


def scope_of(
    session: Session,
    *,
    job: str | None = None,
    user: str | None = None,
    thread: str | None = None,
    gated: bool = False,
) -> Scope | None:
    """The scope that is named; None, with a warning, where there is no such user.

    Raises: UsageError `job_unknown`, `user_missing`, `thread_unknown`.
    """
    if job is not None and job not in JOB_TYPES:
        raise UsageError(
            "job_unknown",
            f"there is no job {job[:60]!r}",
            why=f"consolidation knows {', '.join(JOB_TYPES)}",
            hint="negmem consolidate --job fast_replay",
        )
    scope = Scope(session.app, user=user, job=job, gated=gated)
    if user is None:
        if thread is not None:
            raise UsageError(
                "user_missing",
                "a thread belongs to a user",
                why="--thread was given without --user",
                hint="negmem consolidate --user NAME --thread NAME",
            )
        return scope
    if not session.knows_user(user):
        return None
    if thread is None:
        return scope
    thread_id = queue.thread_named(session.database, session.app, user, thread)
    if thread_id is None:
        raise UsageError(
            "thread_unknown",
            "the user has no thread of that name",
            why=f'app "{session.app}", user "{user}", thread "{thread[:60]}"',
            hint=f"negmem consolidate --user {user} --list",
        )
    return replace(scope, thread_id=thread_id)


class Consolidation:
    """One run. `result` is true at any time, also after it was cut short."""

    def __init__(
        self,
        session: Session,
        options: Options = Options(),
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._session = session
        self._options = options
        self._on_progress = on_progress
        self._config = session.config.formation
        self._tally = Tally()
        self._generator: Generator | None = None
        self._extractor = self._choose_extractor()
        self._scope: Scope | None = None
        self._queued = self._retried = 0
        self._planned: list[QueuedJob] = []
        self._stopping = threading.Event()
        self._keeper: LeaseKeeper | None = None
        self._interrupted = False
        self._started = time.perf_counter()
        self._workers = options.workers or self._config.workers

    @property
    def needs_attention(self) -> bool:
        """Whether a job failed in this run, or one of the scope is parked."""
        return bool(self._tally.failures) or self._counts().parked > 0

    @property
    def ended(self) -> int:
        """How many jobs ended so far."""
        return self._tally.jobs.total()

    def stop(self) -> None:
        """Ask the run to end: jobs under way go back to the queue. Signal-safe."""
        self._interrupted = True
        self._stopping.set()
        if self._keeper is not None:
            self._keeper.stop()

    def run(self) -> Consolidated:
        """Queue what was asked for, then work until no job of the scope is due.

        Raises: UsageError `job_unknown`, `job_missing`, `user_missing`, `thread_unknown`,
        `llm_model_unset`, `extractor_unknown`, `step_unknown`, `step_repeated`;
        NegmemError of the database. What jobs had done stays, and the next run goes on.
        """
        session, options = self._session, self._options
        if options.again and options.job is None:
            raise UsageError(
                "job_missing",
                "which job is to be done again",
                why="--again was given without --job",
                hint="negmem consolidate --job full_consolidation --again",
            )
        session.require_installed()
        steps = load_steps(self._config.steps, timeout_ms=self._config.step_timeout_ms)
        self._scope = scope_of(
            session,
            job=options.job,
            user=options.user,
            thread=options.thread,
            gated=options.gated,
        )
        if self._scope is None:
            return self.result
        self._tell_pause()
        if options.dry_run:
            self._look_ahead(self._scope)
            return self.result
        self._fill(self._scope)
        self._generator = self._make_generator()
        plan = Plan(
            self._scope,
            steps,
            self._extractor,
            self._generator,
            Backoff(self._config.retry_base_s, self._config.retry_max_s),
        )
        self._work(plan)
        return self.result

    @property
    def result(self) -> Consolidated:
        """What is done so far."""
        jobs, counts = self._tally.jobs, self._tally.counts
        return Consolidated(
            jobs=JobCounts(
                done=jobs["done"],
                failed=jobs["failed"] + jobs["parked"],
                skipped=jobs["skipped"],
                parked=jobs["parked"],
                released=jobs["released"],
                lost=jobs["lost"],
            ),
            **{name: counts[name] for name in _COUNTED},
            llm=self._llm_use(),
            queued=self._queued,
            retried=self._retried,
            queue=self._counts(),
            job=self._options.job,
            extractor=self._extractor,
            workers=self._workers,
            steps=dict(self._tally.steps),
            failures=self._tally.failures,
            planned=self._planned,
            interrupted=self._interrupted,
            dry_run=self._options.dry_run,
            took_ms=round((time.perf_counter() - self._started) * 1000, 1),
        )

    def _counts(self) -> QueueCounts:
        if self._scope is None:
            return QueueCounts()
        try:
            return queue.count(self._session.database, self._scope)
        except NegmemError as error:
            if error.code != "connection_lost":
                raise
            self._session.database.close()
            return queue.count(self._session.database, self._scope)

    def _tell_pause(self) -> None:
        user = self._options.user
        if user is None:
            return
        scope = {"user_id": user, "app_name": self._session.app}
        found = self._session.database.row("user", "standing", scope)
        if found is not None and found["paused_at"] is not None:
            self._session.warn(
                "user_paused",
                f'nothing is made of the words of "{user}", who is paused: negmem user resume',
            )

    def _look_ahead(self, scope: Scope) -> None:
        database = self._session.database
        if scope.job is not None:
            self._queued = len(queue.changed(database, scope, again=self._options.again))
        states = ("due", "parked", "waiting") if self._options.retry else ("due",)
        self._planned = queue.listed(database, scope, states=states, limit=1000).jobs

    def _fill(self, scope: Scope) -> None:
        database = self._session.database
        queue.release_dead(database, scope.app)
        if self._options.retry:
            self._retried = queue.retry(database, scope)
        if scope.job is not None:
            places = queue.changed(database, scope, again=self._options.again)
            self._queued = queue.enqueue(database, scope.app, scope.job, places)

    def _work(self, plan: Plan) -> None:
        session = self._session
        _ = session.embedder_or_reason  # loaded once, shared by all
        keeper = LeaseKeeper(another(session.database), self._config.lease_s)
        sessions = [another_session(session) for _ in range(self._workers)]
        workers = [Worker(own, plan, keeper, self._tally) for own in sessions]

        def any_is_busy() -> bool:
            return any(worker.is_busy for worker in workers)

        with keeper:
            self._keeper = keeper
            if self._stopping.is_set():
                keeper.stop()
            threads = [
                threading.Thread(
                    target=worker.work,
                    args=(any_is_busy, self._stopping.wait),
                    name=f"negmem-worker-{number}",
                    daemon=True,
                )
                for number, worker in enumerate(workers, 1)
            ]
            for thread in threads:
                thread.start()
            try:
                self._watch(threads)
            except BaseException as error:
                self._interrupted = isinstance(error, KeyboardInterrupt)
                self._stopping.set()
                keeper.stop()
                self._let_go(threads, workers)
                raise
            if self._interrupted:
                self._let_go(threads, workers)
        for own in sessions:
            for warning in own.warnings:
                session.warn(warning["code"], warning["message"])
        failure = next((worker.failure for worker in workers if worker.failure is not None), None)
        if failure is not None:
            raise failure

    def _watch(self, threads: list[threading.Thread]) -> None:
        shown, next_look = -1, 0.0
        while any(thread.is_alive() for thread in threads) and not self._interrupted:
            for thread in threads:
                thread.join(_LOOK_S / len(threads))
            ended = self.ended
            if ended != shown and time.monotonic() >= next_look:
                shown, next_look = ended, time.monotonic() + _SHOW_S
                counts = self._counts()
                self._on_progress(
                    Progress(ended, counts.due + counts.running, self._tally.counts["facts"])
                )

    def _let_go(self, threads: list[threading.Thread], workers: list[Worker]) -> None:
        """Wait for the workers; what one still holds, deep in a model's call, is given back for it."""
        until = time.monotonic() + _LET_GO_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        for worker in workers:
            worker.give_back(self._session.database)

    def _choose_extractor(self) -> Extractor:
        wanted = self._options.extractor or self._config.extractor
        if wanted not in ("auto", "llm", "pattern"):
            raise UsageError(
                "extractor_unknown",
                f"there is no extractor {wanted[:60]!r}",
                why="extractors are auto, llm and pattern",
                hint="negmem consolidate --extractor pattern",
            )
        has_model = self._session.config.llm.model is not None
        if wanted == "llm" and not has_model:
            raise UsageError(
                "llm_model_unset",
                "there is no language model to extract with",
                why="llm.model is null",
                hint="negmem config set llm.model NAME    or --extractor pattern",
            )
        return "llm" if has_model and wanted != "pattern" else "pattern"

    def _make_generator(self) -> Generator | None:
        if self._extractor == "pattern":
            return None
        from negmem.providers.generation import Budget, make_generator

        options, config = self._options, self._config
        budget = Budget(
            max_calls=config.max_calls if options.max_calls is None else options.max_calls,
            max_tokens=config.max_tokens if options.max_tokens is None else options.max_tokens,
            max_cost_usd=config.max_cost_usd
            if options.max_cost_usd is None
            else options.max_cost_usd,
        )
        return make_generator(self._session.config.llm, budget, env=self._session.env)

    def _llm_use(self) -> LlmUse:
        if self._generator is None:
            return LlmUse()
        usage = self._generator.usage
        return LlmUse(
            model=self._generator.model,
            calls=usage.calls,
            tokens=usage.tokens,
            fallbacks=usage.fallbacks,
            retries=usage.retries,
            cost_usd=usage.cost_usd,
        )


def consolidate(session: Session, options: Options = Options()) -> Consolidated:
    """Work the queue. Raises as `Consolidation.run`."""
    return Consolidation(session, options).run()


def list_queue(
    session: Session,
    *,
    job: str | None = None,
    user: str | None = None,
    thread: str | None = None,
    state: str | None = None,
    limit: int = 20,
) -> Queue:
    """The queue: jobs that need somebody first, then those that ended, latest first.

    Raises: UsageError `job_unknown`, `job_state_unknown`, `user_missing`.
    """
    if state is not None and state not in STATES:
        raise UsageError(
            "job_state_unknown",
            f"a job is in no state {state[:60]!r}",
            why=f"states are {', '.join(STATES)}",
            hint="negmem consolidate --list --state parked",
        )
    scope = scope_of(session, job=job, user=user, thread=thread)
    if scope is None:
        return Queue(counts=QueueCounts(), jobs=[], truncated=False)
    states = None if state is None else [state]
    return queue.listed(session.database, scope, states=states, limit=limit)


def retry(
    session: Session, *, job: str | None = None, user: str | None = None, thread: str | None = None
) -> int:
    """Make parked and waiting jobs due now; returns how many."""
    scope = scope_of(session, job=job, user=user, thread=thread)
    return 0 if scope is None else queue.retry(session.database, scope)
