"""Memories, as the API returns them and `--json` prints them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainSerializer

from negmem.core.models.base import Model

MEMORY_TYPES = ("core", "semantic", "preference", "procedural", "fact", "episodic")


def _utc(value: datetime) -> str:
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


Instant = Annotated[datetime, PlainSerializer(_utc, when_used="json")]
"""A moment with a zone; printed in UTC."""


class Memory(Model):
    """One memory. `retention` is its score now, `fades_at` when it falls under the threshold.

    `topic` is the label of the group of similar memories that it belongs to, None where it stands alone.
    """

    id: UUID
    content: str
    type: str
    user: str
    app: str
    thread: str | None
    thread_id: UUID | None
    metadata: dict[str, Any] | None
    version: int
    created_at: Instant
    occurred_at: Instant | None
    updated_at: Instant
    last_accessed_at: Instant | None
    access_count: int
    retention: float
    importance: float
    relevance_weight: float
    never_fades: bool
    fades_at: Instant | None
    pinned_at: Instant | None
    deleted_at: Instant | None
    deleted_reason: str | None
    embedded: bool
    sources: int
    topic: str | None = None
    topic_id: UUID | None = None


class MemoryList(Model):
    """A page of memories; `total` counts all that match."""

    memories: list[Memory]
    total: int
    truncated: bool


class MemoryChange(Model):
    """What a command did to memories: `changed` of those named, `unknown` are not this user's.

    `derived`: lessons and insights that were made of one of them; they go, and come back, with it.
    """

    action: str
    changed: list[UUID]
    unchanged: list[UUID]
    unknown: list[UUID]
    derived: list[UUID] = Field(default_factory=list)
    proposal_id: UUID | None = None
    dry_run: bool = False


class AddedMemory(Model):
    """One memory that was added (or would be)."""

    memory: Memory | None
    embedded: bool
    replaced_characters: int
    proposal_id: UUID | None = None
    dry_run: bool = False
