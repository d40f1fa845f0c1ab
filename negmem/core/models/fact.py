"""Facts, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class Fact(Model):
    """One version of a fact.

    `valid_from` and `valid_until` bound when it was true (None: open), `created_at` and `expired_at` when
    it was believed. `superseded_by` is the version that took its place.
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


class FactOutcome(Model):
    """What became of one fact that was written; `position` is its place in what was given, from 0.

    `action`: added; superseded (it took the place of `previous_id`); beside (kept next to it); earlier
    (older news, filed before what is true now); unchanged (known already); kept_manual (a fact set by
    hand stands against it).
    """

    position: int
    action: str
    id: UUID | None
    previous_id: UUID | None = None
    conflict_id: UUID | None = None
