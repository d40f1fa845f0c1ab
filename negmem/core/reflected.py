"""Lessons and insights follow what they were made of: they go with it, and come back with it.

One that stayed would go on saying what somebody took back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from negmem.core.session import Session

REASON = "made of a memory that was removed"


def follow(
    session: Session, scope: dict[str, Any], ids: Sequence[UUID], action: str, *, dry_run: bool
) -> list[UUID]:
    """After memories were removed or restored, within the caller's transaction; returns what follows.

    Comes back only what went for this reason and rests on nothing else that is removed.
    """
    if not ids or action not in ("remove", "restore"):
        return []
    known = {**scope, "ids": [str(one) for one in ids], "reason": REASON}
    block = "resting_on" if action == "remove" else "withdrawn"
    rows = session.database.rows("reflections", block, known)
    derived: list[UUID] = [row["id"] for row in rows if row["id"] not in ids]
    if derived and not dry_run:
        params = {**scope, "ids": derived, "actor": session.actor, "reason": REASON}
        act = "forget" if action == "remove" else "restore"
        session.database.rows("memory", act, params)
    return derived
