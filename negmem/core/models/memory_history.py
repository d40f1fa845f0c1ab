"""The history of one memory, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class MemoryVersion(Model):
    """What a memory said before one change."""

    version: int
    content: str | None
    type: str | None
    metadata: dict[str, Any] | None
    reason: str
    changed_by: str
    changed_at: Instant


class TakenIn(Model):
    """A memory that said the same and went into this one; `content` None: purged since.

    `similarity` is calibrated; None: they were the same to the letter.
    """

    id: UUID
    content: str | None
    similarity: float | None
    run_id: UUID | None
    at: Instant


class MemorySource(Model):
    """A turn that the memory comes from."""

    event_id: UUID
    thread: str | None
    author: str
    extractor: str
    model: str | None
    run_id: UUID | None
    occurred_at: Instant | None


class MemoryHistory(Model):
    """One memory as it stands, and what it was: `merged_into` is where it went."""

    id: UUID
    content: str
    type: str
    version: int
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None
    deleted_reason: str | None
    merged_into: UUID | None
    merge_run: UUID | None
    kept_apart: list[UUID]
    versions: list[MemoryVersion]
    merged_from: list[TakenIn]
    sources: list[MemorySource]
