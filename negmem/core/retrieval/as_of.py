"""A search as of a day: what had been said by then, and the facts that were true then.

What is superseded by now stands in no index: those facts are found by `search_facts`, scored by their words
and vectors alone, and take their places among the rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

from negmem.core.fact_search import MAX_ROWS, search_facts
from negmem.core.models.fact import FactMatch
from negmem.core.models.retrieval import Contributions, Explanation, SearchAnswer, SearchResult
from negmem.core.pii import gated
from negmem.core.retrieval.explain import total
from negmem.core.retrieval.search import (
    NO_FILTERS,
    Filters,
    ask,
    check_level,
    check_page,
    check_weights,
    clean_question,
    search,
)
from negmem.core.session import Session
from negmem.core.text.moments import in_utc

_RANKED = ("auto", "hybrid", "vector", "keyword")


@gated
def search_at(
    session: Session,
    user: str,
    query: str,
    *,
    as_of: datetime | None,
    level: str = "auto",
    limit: int | None = None,
    offset: int = 0,
    kinds: Sequence[str] = ("memory", "fact"),
    filters: Filters = NO_FILTERS,
    semantic_weight: float | None = None,
    keyword_weight: float | None = None,
    explain: bool = False,
    record: bool = True,
    why_not: UUID | None = None,
) -> SearchAnswer:
    """As `search`, of what had been said before `as_of` and was true then, also if it is no more.

    None: of what stands now. `why_not` asks where this memory or fact stands; then nothing is recorded.
    At the level ilike only what still stands is found: facts of the past are ranked, not looked through.
    Raises: as `search`, and UsageError `moment_malformed`.
    """
    asked: dict[str, Any] = {
        "level": level,
        "offset": offset,
        "kinds": kinds,
        "filters": filters,
        "semantic_weight": semantic_weight,
        "keyword_weight": keyword_weight,
    }
    row_limit = session.config.retrieval.limit if limit is None else limit
    shown = _search(
        session,
        user,
        query,
        as_of,
        row_limit,
        **asked,
        explain=explain,
        record=record and why_not is None,
    )
    if why_not is None:
        return shown
    from negmem.core.retrieval.why_not import why_not as look_for

    told = look_for(session, user, query, why_not, shown, limit=row_limit, as_of=as_of, **asked)
    return shown.model_copy(update={"why_not": told})


def _search(
    session: Session,
    user: str,
    query: str,
    as_of: datetime | None,
    row_limit: int,
    *,
    offset: int,
    filters: Filters,
    **asked: Any,
) -> SearchAnswer:
    page: dict[str, Any] = {"limit": row_limit, "offset": offset, "filters": filters}
    if as_of is None and asked["explain"]:
        return _explained_now(session, user, query, page, asked)
    if as_of is None:
        return search(session, user, query, **page, **asked)
    kinds, level = asked["kinds"], asked["level"]
    check_page(row_limit, offset)
    most = row_limit + offset
    known = filters.by(as_of)
    answer = search(session, user, query, limit=most, filters=known, **asked)
    merged, plan, looked_at = answer.results, answer.plan, 0
    if "fact" in kinds and level in _RANKED:
        weights = (
            (1.0, 0.0)
            if level == "vector"
            else check_weights(session, asked["semantic_weight"], asked["keyword_weight"])
        )
        # What still stands is among them too, and filters come after.
        found = search_facts(
            session, user, query, as_of=as_of, limit=MAX_ROWS, level=level, weights=weights
        )
        looked_at = len(found.results)
        shown_now = {one.id for one in merged}
        past = [
            one for one in found.results if one.fact.id not in shown_now and _is_past(one, known)
        ][:most]
        added = [_result(one, weights, level, asked["explain"]) for one in past]
        merged = sorted([*merged, *added], key=lambda one: -one.score)
    shown = merged[offset : offset + row_limit]
    shortfall = answer.shortfall
    if len(shown) >= row_limit:
        shortfall = None
    elif merged:
        shortfall = f"{len(merged):,} in all had been said, or were true, by then"
    if plan is not None and looked_at:
        facts = "fact" if looked_at == 1 else "facts"
        said = f"{looked_at:,} {facts} of that day, compared by words and vectors"
        plan = plan.model_copy(
            update={
                "reason": f"{plan.reason} · {said}",
                "rows_scanned": plan.rows_scanned + looked_at,
            }
        )
    return answer.model_copy(update={"results": shown, "shortfall": shortfall, "plan": plan})


def _explained_now(
    session: Session, user: str, query: str, page: dict[str, Any], asked: dict[str, Any]
) -> SearchAnswer:
    """A search with its working; the question is embedded once."""
    from negmem.core.retrieval.working import explained

    text = clean_question(query)
    check_level(asked["level"])
    question = ask(session, text, asked["level"])
    answer = search(session, user, query, asked=question, **page, **asked)
    took = answer.took_ms
    whole = took.model_copy(update={"total": round(took.total + took.embed, 3)})
    answer = answer.model_copy(update={"took_ms": whole})
    return explained(session, user, query, answer, question, kinds=asked["kinds"], **page)


def _is_past(match: FactMatch, filters: Filters) -> bool:
    """Whether no search of now ranks it, since it is not true now, and it passes the filters."""
    fact, now = match.fact, datetime.now(timezone.utc)
    since = in_utc(filters.since, "since")
    stands = (
        fact.status == "active"
        and (fact.valid_from is None or fact.valid_from <= now)
        and (fact.valid_until is None or fact.valid_until > now)
    )
    return (
        not stands
        and (filters.thread is None or fact.thread == filters.thread)
        and all(holds(fact.metadata, key, value) for key, value in (filters.where or {}).items())
        and (filters.types is None or fact.type in filters.types)
        and (since is None or (fact.valid_from is not None and fact.valid_from >= since))
    )


def holds(metadata: dict[str, Any], key: str, value: object) -> bool:
    """Whether the value stands under the key, contained or as the same text: as in sql/functions/allowed_items.sql."""
    if key not in metadata:
        return False
    return _contains(metadata[key], value) or _text(metadata[key]) == _text(value)


def _contains(found: object, wanted: object) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(key in found and _contains(found[key], wanted[key]) for key in wanted)
    if isinstance(found, list) and isinstance(wanted, list):
        return all(any(_contains(one, each) for one in found) for each in wanted)
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _result(
    match: FactMatch, weights: tuple[float, float], level: str, explain: bool
) -> SearchResult:
    fact = match.fact
    by_vector = match.semantic is not None
    return SearchResult(
        id=fact.id,
        kind="fact",
        content=fact.text,
        type=fact.type,
        score=match.score,
        search_level=level if level == "vector" else "hybrid" if by_vector else "keyword",
        score_type="combined",
        raw_score=match.score,
        created_at=fact.created_at,
        occurred_at=fact.valid_from,
        thread_id=fact.thread,
        metadata=fact.metadata,
        explain=_explained(match, weights) if explain else None,
    )


def _explained(match: FactMatch, weights: tuple[float, float]) -> Explanation:
    """The parts of a score that is made of the vector and the words alone."""
    share = weights[0] / sum(weights) if match.semantic is not None else 0.0
    semantic = round(share * (match.semantic or 0.0), 6)
    parts: dict[str, Any] = dict.fromkeys(Contributions.model_fields, 0.0)
    contributions = Contributions(
        **{**parts, "semantic": semantic, "keyword": round(match.score - semantic, 6)}
    )
    return Explanation(
        semantic=match.semantic,
        keyword=match.keyword,
        retention=None,
        importance=None,
        relevance=1.0,
        graph=None,
        recency=None,
        contributions=contributions,
        sum=total(contributions),
    )
