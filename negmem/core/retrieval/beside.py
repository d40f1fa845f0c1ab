"""Learnings and entities among the results of a search: what a user may read of what is shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from negmem.core.learning.access import access_of
from negmem.core.learning.items import owners_params, search_items
from negmem.core.session import Session

if TYPE_CHECKING:
    from negmem.core.retrieval.search import Filters

SHARED = ("entity", "learning")
_NO_PARTS = ("neighbours", "session", "speaker", "intent", "relevance", "retention")


def shared_kinds(kinds: Sequence[str], filters: Filters) -> list[str]:
    """Those of the kinds that are shared; none where a filter asks for what only memories have."""
    asks = (filters.thread, filters.since, filters.until, filters.where or None)
    if any(value is not None for value in asks):
        return []
    return [kind for kind in kinds if kind in SHARED]


def shared_rows(
    session: Session,
    user: str,
    kinds: Sequence[str],
    query: str,
    embedding: str | None,
    *,
    types: Sequence[str] | None,
    limit: int,
    weights: tuple[float, float],
) -> list[dict[str, Any]]:
    """Rows as those of the block `search.search`, best first of each kind; of types, if named."""
    owners = access_of(session, user).readable
    rows = []
    for kind in kinds:
        found = search_items(
            session, user, kind, owners, query, embedding, limit=limit, weights=weights
        )
        place = {**owners_params(session, owners), "item_kind": kind}
        ids = {"ids": [row["id"] for row in found]}
        known = {
            row["id"]: row
            for row in session.database.rows("shared_items", "shown", {**place, **ids})
        }
        for row in found:
            shown = known.get(row["id"])
            if shown is None or (types is not None and shown["type"] not in types):
                continue
            level = "hybrid" if embedding is not None else "keyword"
            if row["bm25"] is None and row["cosine"] is None:
                level = "ilike"
            parts = {f"{part}_part": 0.0 for part in _NO_PARTS}
            more = {"kind": kind, "search_level": level, "relevance": 1.0, "retention": None}
            rows.append({**row, **shown, **parts, **more, "thread": None, "occurred_at": None})
    return rows
