"""Instructions, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class Instruction(Model):
    """One version of one instruction; `is_current` for the newest of its key."""

    id: UUID
    key: str
    content: str
    version: int
    metadata: dict[str, Any] | None
    created_by: str | None
    created_at: Instant
    is_current: bool
    versions: int


class Instructions(Model):
    """Instructions of an app, by key and version."""

    instructions: list[Instruction]


class InstructionChange(Model):
    """What `set` did; `changed` is false where the current version says so already."""

    instruction: Instruction | None
    changed: bool
    dry_run: bool = False
