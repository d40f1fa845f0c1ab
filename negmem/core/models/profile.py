"""Profiles, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class ProfileField(Model):
    """One field that is known. `declared` is its type in the schema; None: extracted, not in the schema."""

    id: UUID
    field: str
    value: Any
    declared: str | None
    confidence: float
    origin: str
    sources: int
    version: int
    updated_at: Instant
    metadata: dict[str, Any]


class Profile(Model):
    """Who a user is; `missing` are fields of the schema that nothing is known of."""

    user: str
    fields: list[ProfileField]
    missing: list[str]
    truncated: bool


class ProfileChange(Model):
    """What was done: added, superseded, unchanged, removed, undone, or proposed (then `proposal_id`)."""

    action: str
    field: str
    value: Any
    previous: Any
    metadata: dict[str, Any]
    proposal_id: UUID | None = None
    dry_run: bool = False
