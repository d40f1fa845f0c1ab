"""Where an item came from and who changed it, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class Origin(Model):
    """A turn that an item rests on: its `id`, what was said, where and when, and what read it."""

    id: UUID
    thread: str
    said_at: Instant
    quote: str
    extractor: str
    model: str | None


class PartOrigin(Origin):
    """A turn that an entity, or one fact or event of it, rests on: `part` is whose it is."""

    part: UUID


class ItemChange(Model):
    """A change: the `version` that it changed, what was done (`reason`), by whom and when."""

    version: int
    reason: str
    changed_by: str
    changed_at: Instant
