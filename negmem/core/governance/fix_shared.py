"""Personal data in learnings and entities: what is rewritten there is found by its new words and no old vector."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from negmem.core.learning import items
from negmem.core.learning.access import Owner
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key

PARTS = frozenset(("entity_facts", "entity_events", "entity_relations"))
SHARED = PARTS | {"learnings", "entities"}


def rewrite_shared(
    session: Session,
    table: str,
    owner: Owner,
    ids: Sequence[UUID],
    rewrite: Callable[[], dict[UUID, dict[str, Any]]],
) -> list[tuple[Owner, str, UUID]]:
    """In the open transaction: take the items out of search, rewrite, put them back by what they say now.

    `rewrite` returns the rows that it wrote with their new columns. Returns the items that want a vector.
    """
    kind = "learning" if table == "learnings" else "entity"
    items.lock_store(session, owner, kind)
    place = owner.params(session)
    wanted = list(ids)
    if table in PARTS:
        rows = session.database.rows("pii", "entities_of", {**place, "ids": wanted})
        wanted = [row["entity"] for row in rows]
    items.unindex(session, owner, kind, wanted)
    written = rewrite()
    session.database.execute(
        "pii", "drop_shared_vectors", {**place, "item_kind": kind, "ids": wanted}
    )
    for id, after in written.items():
        if table == "learnings" and "learning" in after:
            said = str(after["learning"])
            digest = hashlib.sha256((exact_key(said) or said).encode()).digest()
            session.database.execute("pii", "rehash", {**place, "id": id, "body_hash": digest})
    items.index(session, owner, kind, wanted)
    return [(owner, kind, id) for id in wanted]
