"""Conflicts between facts, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

RESOLUTIONS = ("supersede", "keep_old", "keep_new", "keep_both", "merge")


class ConflictSide(Model):
    """One of the two facts, as it stands now."""

    id: UUID
    type: str
    key: str
    value: Any
    confidence: float
    origin: str
    status: str
    valid_from: Instant | None
    valid_until: Instant | None


class ConflictStep(Model):
    """One decision about a conflict, the latest last; those by rule name nobody."""

    resolution: str
    status: str
    by: str | None
    at: Instant


class Conflict(Model):
    """Two facts that stand against each other, and what came of it.

    `type`: contradiction, temporal_update or refinement. `status` open: nothing was decided, both
    stand. `confidence_delta` is new - old. `detected_by`: key_collision, embedding or model. A side is
    None where its fact was erased.
    """

    id: UUID
    user: str
    app: str
    type: str
    resolution: str
    status: str
    detected_by: str
    confidence_delta: float | None
    similarity: float | None
    old: ConflictSide | None
    new: ConflictSide | None
    resolved_by: str | None
    can_undo: bool
    steps: list[ConflictStep]
    created_at: Instant
    updated_at: Instant


class ConflictList(Model):
    """A page of conflicts, the newest first; `open` counts those that wait for a decision."""

    conflicts: list[Conflict]
    total: int
    open: int
    truncated: bool


class ConflictResolved(Model):
    """One conflict that was decided or taken back (or would be)."""

    action: str
    conflict: Conflict
    dry_run: bool = False
