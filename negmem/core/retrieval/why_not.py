"""Why one memory is not among the results of a search, or where it stands, and what would bring it in."""

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

    Looks at the first 1,000 ranks of the search and of each arm alone; `asked` are the other arguments of
    the search. Records nothing.
    """

    def ranked(**changed: Any) -> SearchAnswer:
        return search(
            session,
            user,
            query,
            **{
                "limit": RANKS_LOOKED_AT,
                "kinds": kinds,
                "filters": filters,
                "record": False,
                **asked,
                **changed,
            },
        )

    found = _placed(shown, memory_id, offset)
    reason, has_vector, shares_terms = "", True, True
    if found is None:
        blocked, reason, has_vector, shares_terms = _standing(
            session, user, query, memory_id, kinds, filters
        )
        if blocked is not None:
            return blocked
        found = _placed(ranked(explain=True), memory_id, 0)
    standing = found or WhyNot(id=memory_id, state="not_matched", reason=reason)
    rank = standing.rank
    if rank is not None and not offset < rank <= offset + limit:
        standing = standing.model_copy(
            update={
                "state": "ranked_below",
                "reason": f"it is number {rank:,}, shown are {offset + 1:,} to {offset + limit:,}",
                "last_score": shown.results[-1].score if shown.results else None,
            }
        )
    ranks = {
        arm: None if (at := _placed(ranked(level=arm), memory_id, 0)) is None else at.rank
        for arm in ("vector", "keyword")
        if arm == "keyword" or shown.level in ("hybrid", "vector")
    }
    standing = standing.model_copy(
        update={
            "semantic_rank": ranks.get("vector"),
            "keyword_rank": ranks.get("keyword"),
            "ranks_looked_at": RANKS_LOOKED_AT,
        }
    )
    if standing.state == "found":
        return standing
    remedies = _remedies(standing, shown.level, limit, offset, has_vector, shares_terms)
    return standing.model_copy(update={"remedies": remedies})


def _remedies(
    standing: WhyNot, level: str, limit: int, offset: int, has_vector: bool, shares_terms: bool
) -> list[str]:
    """What would bring it in, the mildest first."""
    found = []
    if standing.rank is not None:
        found.append(
            f"--limit {standing.rank - offset}"
            if standing.rank > offset
            else f"--offset 0 --limit {max(limit, standing.rank)}"
        )
    for arm, rank in (("keyword", standing.keyword_rank), ("vector", standing.semantic_rank)):
        if arm != level and rank is not None and rank <= limit:
            found.append(f"--level {arm}    there it is number {rank:,}")
    if not has_vector:
        found.append("negmem doctor --only data    it has no vector")
    if not shares_terms and not found:
        found.append("a question with a word of the memory: it shares none")
    return found


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
) -> tuple[WhyNot | None, str, bool, bool]:
    """What keeps a memory out of any ranking (None when nothing does); why it may rank nowhere, whether it
    has a vector, and whether it shares a word with the question."""
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

    def blocked(state: str, reason: str, *remedies: str) -> tuple[WhyNot, str, bool, bool]:
        standing = WhyNot(id=memory_id, state=state, reason=reason, remedies=list(remedies))
        return standing, reason, False, False

    if row is None:
        return blocked("unknown", f'user "{user}" has no such memory in app "{session.app}"')
    if row["deleted_at"] is not None:
        return blocked(
            "deleted",
            f"it was removed: {row['deleted_reason'] or 'no reason given'}",
            f"negmem memory restore {memory_id} --user {user}",
        )
    if "memory" not in kinds:
        return blocked("filtered", "a filter of the search excludes it", "--kind memory")
    if row["is_filtered"]:
        excluding = [name for name in _FILTERS if _excludes(name, row, filters)]
        return blocked(
            "filtered",
            "a filter of the search excludes it",
            *(f"without {name}" for name in excluding or ["the filters"]),
        )
    words = "shares words with the question" if row["shares_terms"] else "shares no word with it"
    vector = "has a vector" if row["has_vector"] else "has no vector"
    reason = f"it {words}, {vector}, and is not among the first {RANKS_LOOKED_AT:,}"
    return None, reason, bool(row["has_vector"]), bool(row["shares_terms"])


_FILTERS = ("--type", "--thread", "--since", "--until", "--where")


def _excludes(name: str, row: dict[str, Any], filters: Filters) -> bool:
    """Whether this filter alone would exclude the memory."""
    if name == "--type":
        return filters.types is not None and row["type"] not in filters.types
    if name == "--thread":
        return filters.thread is not None and row["thread"] != filters.thread
    said = row["occurred_at"]
    if name == "--since":
        return filters.since is not None and (said is None or said < filters.params["since"])
    if name == "--until":
        return filters.until is not None and (said is None or said >= filters.params["until"])
    metadata = row["metadata"] or {}
    return any(metadata.get(key) != value for key, value in (filters.where or {}).items())
