"""What `--explain` tells beside the search itself: each arm's ranks, and what is not among the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from negmem.core.models.retrieval import Dropped, SearchAnswer
from negmem.core.retrieval.search import Filters, Question, search
from negmem.core.session import Session

RANKS_LOOKED_AT = 200
_ARMS = {"vector": "semantic_rank", "keyword": "keyword_rank"}


def explained(
    session: Session,
    user: str,
    query: str,
    answer: SearchAnswer,
    question: Question,
    *,
    limit: int,
    offset: int,
    kinds: Sequence[str],
    filters: Filters,
) -> SearchAnswer:
    """A search's answer with the ranks of its results by each arm alone, and what was dropped."""
    if answer.plan is None:
        return answer
    most = max(RANKS_LOOKED_AT, limit + offset)
    asked: dict[str, Any] = {"limit": most, "kinds": kinds, "filters": filters, "record": False}
    places: dict[str, dict[UUID, int]] = {}
    for arm, name in _ARMS.items():
        if answer.level not in ("hybrid", arm):
            continue
        alone = search(session, user, query, level=arm, asked=replace(question, level=arm), **asked)
        if not alone.fallbacks:
            places[name] = {one.id: place for place, one in enumerate(alone.results, start=1)}
    results = [
        one
        if one.explain is None
        else one.model_copy(
            update={
                "explain": one.explain.model_copy(
                    update={name: at.get(one.id) for name, at in places.items()}
                )
            }
        )
        for one in answer.results
    ]
    scope = {"user_id": user, "app_name": session.app, "kinds": list(kinds), **filters.params}
    row = session.database.row("search", "dropped", scope)
    assert row is not None
    plan = answer.plan
    found = max(plan.semantic_candidates, plan.keyword_candidates)
    below = max(0, found - offset - len(results)) if answer.level != "ilike" else 0
    dropped = Dropped(ranked_below=below, **row)
    return answer.model_copy(
        update={"results": results, "plan": plan.model_copy(update={"dropped": dropped})}
    )
