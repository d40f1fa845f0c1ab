"""Observations: what is known of a user in free words, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class Observation(Model):
    """One thing that is known of a user. `sources` counts the turns that it rests on."""

    id: UUID
    content: str
    written_by: str | None
    sources: int
    version: int
    created_at: Instant
    updated_at: Instant
    metadata: dict[str, Any]


class ObservationList(Model):
    """A page of observations, the last changed first."""

    observations: list[Observation]
    total: int
    truncated: bool


class ObservationChange(Model):
    """What was done: added, updated, removed, unchanged, or proposed (then `proposal_id`)."""

    action: str
    memory: Observation | None
    proposal_id: UUID | None = None
    dry_run: bool = False
