"""Why one memory is not among the results of a search, or where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from negmem.core.models.retrieval import SearchAnswer, WhyNot
from negmem.core.retrieval.search import NO_FILTERS, Filters, search
from negmem.core.session import Session

RANKS_LOOKED_AT = 1_000


def why_not(
    session: Session,
    user: str,
    query: str,
    memory_id: UUID,
    shown: SearchAnswer,
    *,
    limit: int,
    offset: int = 0,
    kinds: Sequence[str] = ("memory", "fact"),
    filters: Filters = NO_FILTERS,
    **asked: Any,
) -> WhyNot:
    """Where a memory stands for a question, and what keeps it out of the page that was shown.

    Looks at the first 1,000 ranks; `asked` are the other arguments of the search. Records nothing.
    """
    found = _placed(shown, memory_id, offset)
    if found is None:
        state, reason = _standing(session, user, query, memory_id, kinds, filters)
        if state:
            return WhyNot(id=memory_id, state=state, reason=reason)
        deep = search(
            session,
            user,
            query,
            limit=RANKS_LOOKED_AT,
            kinds=kinds,
            filters=filters,
            explain=True,
            record=False,
            **asked,
        )
        found = _placed(deep, memory_id, 0)
        if found is None:
            return WhyNot(id=memory_id, state="not_matched", reason=reason)
    rank = found.rank or 0
    if offset < rank <= offset + limit:
        return found
    return found.model_copy(
        update={
            "state": "ranked_below",
            "reason": f"it is number {rank:,}, shown are {offset + 1:,} to {offset + limit:,}",
        }
    )


def _placed(answer: SearchAnswer, memory_id: UUID, offset: int) -> WhyNot | None:
    for rank, result in enumerate(answer.results, start=offset + 1):
        if result.id == memory_id:
            return WhyNot(
                id=memory_id,
                state="found",
                reason=f"it is number {rank:,} of the results",
                rank=rank,
                score=result.score,
                explain=result.explain,
            )
    return None


def _standing(
    session: Session,
    user: str,
    query: str,
    memory_id: UUID,
    kinds: Sequence[str],
    filters: Filters,
) -> tuple[str, str]:
    """What keeps a memory out of any ranking ("" when nothing does), and why it may rank nowhere."""
    row = session.database.row(
        "search",
        "why_not",
        {
            "user_id": user,
            "app_name": session.app,
            "query": query,
            "id": memory_id,
            "kinds": list(kinds),
            **filters.params,
        },
    )
    if row is None:
        return "unknown", f'user "{user}" has no such memory in app "{session.app}"'
    if row["deleted_at"] is not None:
        return "deleted", f"it was removed: {row['deleted_reason'] or 'no reason given'}"
    if "memory" not in kinds or row["is_filtered"]:
        return "filtered", "a filter of the search excludes it"
    words = "shares words with the question" if row["shares_terms"] else "shares no word with it"
    vector = "has a vector" if row["has_vector"] else "has no vector"
    return "", f"it {words}, {vector}, and is not among the first {RANKS_LOOKED_AT:,}"
