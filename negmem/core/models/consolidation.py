"""What consolidation did and what waits for it, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class StepRecord(Model):
    """How a step of a job ended.

    `status` is done, skipped, failed, or not_run after a step that must come first failed; `runs`
    says how often it was tried.
    """

    status: str
    reason: str | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    took_ms: float = 0.0
    runs: int = 1


class QueuedJob(Model):
    """A job of the queue.

    `state` is running, parked, due, waiting (for its next attempt), held_back (its user is paused or being
    erased), completed or cancelled; `thread` None means the whole user; `worker` says which machine and process has it, until `lease_until`.
    """

    id: UUID
    user: str
    thread: str | None
    job: str
    state: str
    attempts: int
    max_attempts: int
    next_attempt_at: Instant
    worker: str | None
    lease_until: Instant | None
    error: str | None
    created_at: Instant
    started_at: Instant | None
    completed_at: Instant | None
    steps: dict[str, StepRecord]


class QueueCounts(Model):
    """How many jobs of the scope stand where.

    `held_back` may not be worked on while their user is paused or being erased; `next_attempt_at` is the first of those
    that wait.
    """

    due: int = 0
    waiting: int = 0
    running: int = 0
    parked: int = 0
    held_back: int = 0
    next_attempt_at: Instant | None = None


class Queue(Model):
    """The queue, as far as it was asked for."""

    counts: QueueCounts
    jobs: list[QueuedJob]
    truncated: bool


class JobCounts(Model):
    """Jobs of a run, each once, by how it ended last: done; failed, to be tried again or parked; skipped,
    with nothing to do in any step.

    `released` went back to the queue because the run ended, `lost` were taken over by others.
    """

    done: int = 0
    failed: int = 0
    skipped: int = 0
    parked: int = 0
    released: int = 0
    lost: int = 0


class StepTotals(Model):
    """A step over all jobs of a run."""

    done: int = 0
    skipped: int = 0
    failed: int = 0
    not_run: int = 0
    took_ms: float = 0.0
    counts: dict[str, int] = Field(default_factory=dict)


class LlmUse(Model):
    """What a run took of the language model; `fallbacks` is how often patterns had to answer instead."""

    model: str | None = None
    calls: int = 0
    tokens: int = 0
    fallbacks: int = 0
    retries: int = 0
    cost_usd: float | None = None


class JobFailure(Model):
    """A job that failed at its last attempt in this run."""

    id: UUID
    user: str
    thread: str | None
    job: str
    became: str
    error: str


class Consolidated(Model):
    """A run over the queue.

    `queued` jobs were added by this run, `retried` made due again. `memories`, `facts`, `conflicts`,
    `links` and `duplicates_merged` are what the steps added; all that they counted is in `steps`. With
    `dry_run` nothing was touched, and `planned` lists what would be worked on.
    """

    jobs: JobCounts
    memories: int = 0
    facts: int = 0
    conflicts: int = 0
    links: int = 0
    duplicates_merged: int = 0
    llm: LlmUse = LlmUse()
    queued: int = 0
    retried: int = 0
    queue: QueueCounts
    job: str | None = None
    extractor: str
    workers: int
    steps: dict[str, StepTotals] = Field(default_factory=dict)
    failures: list[JobFailure] = Field(default_factory=list)
    planned: list[QueuedJob] = Field(default_factory=list)
    interrupted: bool = False
    dry_run: bool = False
    took_ms: float = 0.0
