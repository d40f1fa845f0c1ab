"""All that is known of one user, store by store, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant
from negmem.core.models.origin import Origin
from negmem.core.models.standing import Standing


class KnownItem(Model):
    """One thing that is known. `origins` are the turns it rests on, at most three; none: set by hand.

    `written_by` who added it, `version` how often it was changed, and `undo` takes the last change back;
    what a session came to is made anew.
    """

    id: UUID
    text: str
    namespace: str
    written_by: str | None
    version: int
    updated_at: Instant
    origins: list[Origin]
    undo: str
    metadata: dict[str, Any]


class KnownStore(Model):
    """What one store holds of the user: the last changed first, `total` of them. `mode` who decides."""

    store: str
    is_on: bool
    mode: str
    items: list[KnownItem]
    total: int


class UserPicture(Model):
    """All that is known of one user; what is shared with others is not in it, what waits is counted."""

    user: str
    standing: Standing
    memories: int
    facts: int
    threads: int
    open_jobs: int
    waiting_proposals: int
    namespaces: dict[str, str]
    stores: list[KnownStore]
