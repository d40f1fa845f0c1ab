"""Facts, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.conflict import Conflict
from negmem.core.models.memory import Instant


class Fact(Model):
    """One version of a fact.

    `valid_from` and `valid_until` bound when it was true (None: open), `created_at` and `expired_at` when
    it was believed. `superseded_by` is the version that took its place. `text` is what is searched.
    """

    id: UUID
    type: str
    key: str
    value: Any
    text: str
    confidence: float
    importance: float
    origin: str
    status: str
    user: str
    app: str
    thread: str | None
    thread_id: UUID | None
    metadata: dict[str, Any]
    version: int
    valid_from: Instant | None
    valid_until: Instant | None
    created_at: Instant
    updated_at: Instant
    expired_at: Instant | None
    superseded_at: Instant | None
    superseded_by: UUID | None
    access_count: int
    last_accessed_at: Instant | None
    pinned_at: Instant | None
    deleted_at: Instant | None
    deleted_reason: str | None
    embedded: bool
    sources: int


class FactList(Model):
    """A page of facts as they were true at `as_of`, by what was known at `believed_at` (None: now)."""

    facts: list[Fact]
    total: int
    truncated: bool
    as_of: Instant | None = None
    believed_at: Instant | None = None


class FactMatch(Model):
    """A fact that answers a question; `score` in 0..1, its parts on their own scales."""

    fact: Fact
    score: float
    semantic: float | None
    keyword: float | None


class FactMatches(Model):
    """What was true at `as_of` and answers a question, best first. `level` hybrid, else keyword with `reason`."""

    results: list[FactMatch]
    level: str
    reason: str | None
    as_of: Instant | None
    believed_at: Instant | None


class FactHistory(Model):
    """All versions under one key, by when they were true, with the conflicts between them."""

    type: str
    key: str
    versions: list[Fact]
    conflicts: list[Conflict]


class FactOutcome(Model):
    """What became of one fact that was written; `position` is its place in what was given, from 0.

    `action`: added; superseded (it took the place of `previous_id`); beside (kept next to it); earlier
    (older news, filed before what is true now); ended (the end of what was open); unchanged (known
    already); kept_manual (a value set by hand stands against it). `id` is the version that says it.
    """

    position: int
    action: str
    id: UUID
    previous_id: UUID | None = None
    conflict_id: UUID | None = None


class WrittenFact(Model):
    """One fact that was set by hand (or would be)."""

    action: str
    fact: Fact | None
    previous: Fact | None
    conflict_id: UUID | None
    embedded: bool
    proposal_id: UUID | None = None
    dry_run: bool = False


class FactChange(Model):
    """What a command did to facts: `changed` of those named, `unknown` are not this user's."""

    action: str
    changed: list[UUID]
    unchanged: list[UUID]
    unknown: list[UUID]
    proposal_id: UUID | None = None
    dry_run: bool = False
