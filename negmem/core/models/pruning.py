"""What pruning took or would take, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class PruneReasons(Model):
    """How many memories went for which reason."""

    age: int
    count: int


class PrunedMemory(Model):
    """One memory that went or would go; `reason` is `age` or `count`."""

    id: UUID
    reason: str
    type: str
    content: str
    created_at: Instant
    updated_at: Instant


class Pruned(Model):
    """A pruning, done or planned.

    `kept` counts the live items that stay, `protected` of them are pinned or of type core, `future` carry a
    date after now. `changed_meanwhile` were planned but touched by somebody else, and stay. With
    `dry_run` nothing was touched. `run_id` takes a pruning of learnings or entities back; null for memories
    and facts, which come back by their ids. `restored` counts what an undo brought back.
    """

    store: str
    removed: int
    kept: int
    reasons: PruneReasons
    protected: int
    future: int
    changed_meanwhile: int
    dry_run: bool
    run_id: UUID | None
    restored: int
    items: list[PrunedMemory]
