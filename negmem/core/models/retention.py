"""Forgetting, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.audit import Reached
from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class RetentionSettings(Model):
    """The numbers by which is forgotten: `decay_lambda` 1/day, scores and shares 0..1."""

    decay_lambda: float
    low_retention_threshold: float
    min_age_days: int
    keep_importance: float
    max_share: float
    max_rows: int


class DueByUser(Model):
    """What may go of one user; `today` of them within the ceiling of a day, the rest waits."""

    user: str
    app: str
    due: int
    today: int
    tokens: int


class RetentionRun(Model):
    """A sweep, done or planned. `waiting` may go but wait for another day by `max_share`.

    `status`: succeeded, or skipped where another sweep is under way, or not_run with `dry_run`;
    `users` lists a plan by user.
    """

    forgotten: int
    waiting: int
    calls: int
    status: str
    message: str | None
    user: str | None
    dry_run: bool
    users: list[DueByUser]
    took_ms: float


class FadingMemory(Model):
    """One memory that may go at `goes_at`, with what its score rests on; `score` is that of now."""

    id: UUID
    user: str
    app: str
    type: str
    content: str
    created_at: Instant
    last_accessed_at: Instant | None
    access_count: int
    related: int
    importance: float
    tokens: int
    score: float
    goes_at: Instant
    why: str


class RetentionPreview(Model):
    """What may go within `days`: in all, by user, and the first memories of it.

    With changed settings `changed` names them, `unchanged_total` is what goes without the change and
    `difference` how many more go by it (below 0: fewer). The ceiling of a day can delay what is due;
    where it changes, `today_difference` says how many more may go now.
    """

    days: int
    total: int
    tokens: int
    settings: RetentionSettings
    changed: dict[str, float]
    unchanged_total: int | None
    difference: int | None
    today_difference: int | None
    users: list[DueByUser]
    items: list[FadingMemory]
    truncated: bool

    def effect(self) -> str:
        """What the changed numbers mean, as a sentence: how many more or fewer go."""
        changed = ", ".join(f"{key} {value:g}" for key, value in self.changed.items())
        if not changed:
            return "these are the stored numbers: nothing changes"
        days = "1 day" if self.days == 1 else f"{self.days:,} days"
        told = []
        if set(self.changed) != {"max_share"}:
            told.append(_more_or_fewer(self.difference or 0, f"within {days}"))
        if self.today_difference is not None:
            told.append(_more_or_fewer(self.today_difference, "today"))
        return f"with {changed}: {', '.join(told)}"


def _more_or_fewer(difference: int, when: str) -> str:
    if difference == 0:
        return f"as many would go {when} as without"
    return f"{abs(difference):,} {'more' if difference > 0 else 'fewer'} would go {when}"


class CurvePoint(Model):
    """The score (0..1) at one moment; `days` are counted from now, before it below 0."""

    at: Instant
    days: float
    score: float


class RetentionCurve(Model):
    """The score of one memory from its last access on, if nobody reads it again.

    `crosses_at` is when it falls under the threshold, `goes_at` when it may be forgotten; None: never.
    """

    id: UUID
    type: str
    content: str
    now: Instant
    score: float
    threshold: float
    created_at: Instant
    last_accessed_at: Instant
    crosses_at: Instant | None
    goes_at: Instant | None
    kept_by: list[str]
    points: list[CurvePoint]


class RetentionFactor(Model):
    """One factor: what it was computed from, its value in the formula, and the change that it makes."""

    name: str
    basis: str
    value: float
    contribution: float


class RetentionExplanation(Model):
    """How the score of one memory comes about: the contributions add up to `score`.

    `rate` is the loss per day and `rate_from` says where it comes from. `kept_by` lists what keeps the
    memory whatever its score: core, pinned, importance, min_age, hold.
    """

    id: UUID
    type: str
    content: str
    now: Instant
    score: float
    factors: list[RetentionFactor]
    rate: float
    rate_from: str
    threshold: float
    crosses_at: Instant | None
    goes_at: Instant | None
    kept_by: list[str]
    deleted_at: Instant | None
    deleted_reason: str | None


class PurgeByUser(Model):
    """What the final purge takes of one user; `held`: nothing, by legal hold or erasure."""

    user: str
    memories: int
    retrieval_logs: int
    held: bool


class RetentionPurge(Model):
    """Removed memories and old searches, deleted for good. `waiting` memories are within the window.

    `others`: rows of other tables that are over their lifetime.
    """

    memories: int
    retrieval_logs: int
    waiting: int
    restore_window_days: int
    retrieval_log_days: int
    job_days: int
    others: list[Reached]
    dry_run: bool
    users: list[PurgeByUser]
