"""Learned knowledge, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant
from negmem.core.models.origin import ItemChange, Origin


class Learning(Model):
    """One lesson. `namespace` is global, user or the name of a team; `user` whose it is, where it is one's own."""

    id: UUID
    namespace: str
    user: str | None
    title: str
    learning: str
    context: str | None
    tags: list[str]
    written_by: str | None
    version: int
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None
    deleted_reason: str | None
    embedded: bool
    metadata: dict[str, Any]


class LearningShown(Learning):
    """A learning, where it came from and who changed it.

    `origins`, turns of the user who asks, at most three: those of others stay theirs. `changes`, the last
    twenty, newest first; `written_by` is who added it. `undo` takes the last one back; None: none was made.
    """

    origins: list[Origin]
    changes: list[ItemChange]
    undo: str | None


class FoundLearning(Learning):
    """A learning with what it scored, in 0..1; the parts are semantic and keyword, None: did not count."""

    score: float
    semantic: float | None
    keyword: float | None


class FoundLearnings(Model):
    """Learnings that answer a question, best first; `level` is hybrid or keyword, `reason` why no more."""

    learnings: list[FoundLearning]
    total: int
    level: str
    reason: str | None


class LearningList(Model):
    """A page of learnings, newest change first."""

    learnings: list[Learning]
    total: int
    truncated: bool


class LearningChange(Model):
    """What was done: saved, edited, removed, undone, unchanged, suppressed (rejected
    before), or proposed (then `proposal_id`)."""

    action: str
    learning: Learning | None
    proposal_id: UUID | None = None
    dry_run: bool = False


class ItemVersion(Model):
    """What an item said before a change: `version` it had, `reason` why it was changed."""

    version: int
    reason: str
    changed_by: str
    changed_at: Instant
    before: dict[str, Any]
    metadata: dict[str, Any]


class LearningVersions(Model):
    """A learning and what it said before, oldest first."""

    learning: Learning
    versions: list[ItemVersion]
