"""Core blocks, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

SCOPES = ("user", "app", "thread")
MAX_TOKENS = 2048
"""A longer block is cut, and says so."""


class CoreBlock(Model):
    """A text that stands in every context of its scope. `user` is None for the app's own.

    `metadata.truncated` says that only its beginning was kept, `metadata.truncated_to` how many tokens.
    """

    id: UUID
    scope: str
    label: str
    user: str | None
    thread: str | None
    content: str
    tokens: int | None
    version: int
    updated_by: str | None
    metadata: dict[str, Any]
    created_at: Instant
    updated_at: Instant


class CoreBlockVersion(Model):
    """What a block said before a change; `written_by` wrote that, `changed_by` changed it."""

    version: int
    content: str
    written_by: str | None
    reason: str
    changed_by: str
    changed_at: Instant


class CoreBlocks(Model):
    """Core blocks in the order of a context; `history` only where one block was asked for."""

    blocks: list[CoreBlock]
    history: list[CoreBlockVersion] = Field(default_factory=list)


class CoreBlockChange(Model):
    """What `set` or `rm` did: the block as it stands, or stood. `cut` says that it was too long."""

    action: str
    block: CoreBlock | None
    changed: bool
    cut: bool = False
    dry_run: bool = False
