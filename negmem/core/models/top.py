"""What goes on in a deployment at one moment, as the API returns it and `top --json` prints it."""

from __future__ import annotations

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class OpenJobs(Model):
    """The queue of consolidation. `held_back` are of users who may not be worked on now.

    `parked` jobs wait for a person; `accesses` are recorded searches that no memory counts yet. Both are
    counted up to 10,000.
    """

    due: int
    waiting: int
    running: int
    held_back: int
    parked: int
    oldest_due_s: float | None
    accesses: int | None


class RunningJob(Model):
    """A job that a worker has; `lease_s` below 0: its worker is gone, and another may take it."""

    job: str
    worker: str | None
    attempts: int
    max_attempts: int
    since_s: float | None
    lease_s: float | None


class SearchLoad(Model):
    """Searches of the last minute and of the last five, from which the other figures are."""

    in_1_minute: int
    in_5_minutes: int
    empty: int
    fell: int
    p50_ms: float | None
    p95_ms: float | None


class LastRun(Model):
    """The last run of a scheduled job."""

    job: str
    status: str
    source: str
    rows_touched: int | None
    message: str | None
    ago_s: float
    took_s: float | None


class RowStates(Model):
    """Memories by state; `is_sampled`: estimated from some of the table's pages."""

    live: int
    pinned: int
    removed: int
    added_today: int
    is_sampled: bool


class DriftState(Model):
    """How many things differ from what is declared, and how long ago that was looked at."""

    drift: bool
    changes: int
    looked_s: float


class Connections(Model):
    """Connections to the database; of `hidden` ones the role may not see the state."""

    total: int
    active: int
    idle_in_transaction: int
    of_negmem: int
    hidden: int
    most: int


class BlockedSession(Model):
    """A session that waits for a lock, and the processes that have it."""

    pid: int
    application: str
    wants: str
    mode: str
    blocked_by: list[int]
    waits_s: float | None


class SchedulerState(Model):
    """The built-in scheduler that leads, or led last."""

    host: str
    process_id: int
    is_alive: bool
    beat_s: float


class UnreadPart(Model):
    """A part that could not be read, and why; the others stand."""

    part: str
    code: str
    why: str


class Top(Model):
    """One look. A part is null where it could not be read, which `unread` explains."""

    app: str
    target: str
    schema_name: str
    at: Instant
    queue: OpenJobs | None
    running: list[RunningJob] | None
    searches: SearchLoad | None
    runs: list[LastRun] | None
    rows: RowStates | None
    drift: DriftState | None
    connections: Connections | None
    blocked: list[BlockedSession] | None
    scheduler: SchedulerState | None
    unread: list[UnreadPart]
    took_ms: float
