"""What became of a memory: its versions, what it took in or went into, and the words it came from."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.memory_history import (
    MemoryHistory,
    MemorySource,
    MemoryVersion,
    TakenIn,
)
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.errors import NegmemError


@gated
def history(session: Session, user: str, memory_id: UUID) -> MemoryHistory:
    """All that is kept of what a memory was, oldest first. Raises: NegmemError `memory_unknown`."""
    scope: dict[str, Any] = {"user_id": user, "app_name": session.app, "id": memory_id}
    now = session.database.row("memory_history", "now", scope)
    if now is None:
        raise NegmemError(
            "memory_unknown",
            "there is no such memory",
            why=f'user "{user}" of app "{session.app}" has no memory {memory_id}',
            hint=f"negmem memory list --user {user}",
        )
    versions = session.database.rows("memory", "versions", scope)
    taken_in = session.database.rows("memory_history", "taken_in", scope)
    sources = session.database.rows("memory_history", "sources", scope)
    return MemoryHistory(
        **now,
        versions=[
            MemoryVersion(
                version=row["version"],
                content=row["before"].get("content"),
                type=row["before"].get("type"),
                metadata=row["before"].get("metadata"),
                reason=row["reason"],
                changed_by=row["changed_by"],
                changed_at=row["changed_at"],
            )
            for row in versions
        ],
        merged_from=[TakenIn(**row) for row in taken_in],
        sources=[MemorySource(**row) for row in sources],
    )
