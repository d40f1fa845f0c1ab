"""The working of a search: what each part added, how the database searched, why a memory is missing."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any

from negmem.core.models.retrieval import Contributions, Explanation, SearchPlan
from negmem.core.session import Session

EXACT_UP_TO = 4_000
"""Items of one owner that are compared exactly. SQL twin: c_exact_up_to in sql/functions/ranked_items.sql."""

RECENCY_DAYS = 30.0
_SECONDS_PER_DAY = 86_400.0
_PARTS = (
    "semantic",
    "keyword",
    "neighbours",
    "session",
    "speaker",
    "intent",
    "relevance",
    "retention",
)


def total(contributions: Contributions) -> float:
    """The sum of the parts, in whole millionths."""
    return round(math.fsum(getattr(contributions, part) for part in _PARTS), 6)


def explanation(row: dict[str, Any], now: datetime | None = None) -> Explanation:
    """The working of one row of the block `search.search`. `now` is for the recency alone."""
    contributions = Contributions(**{part: row[f"{part}_part"] for part in _PARTS})
    return Explanation(
        semantic=row["semantic"],
        keyword=row["keyword"],
        retention=row["retention"],
        importance=row["importance"],
        relevance=row["relevance"],
        graph=None,
        recency=recency(row["last_accessed_at"], now or datetime.now(timezone.utc)),
        contributions=contributions,
        sum=total(contributions),
    )


def recency(last_accessed_at: datetime | None, now: datetime) -> float | None:
    """1 at the moment of the last access (or in the future), falling to 0 within 30 days."""
    if last_accessed_at is None:
        return None
    days = (now - last_accessed_at).total_seconds() / _SECONDS_PER_DAY
    return min(1.0, max(0.0, 1.0 - days / RECENCY_DAYS))


def raw_score(row: dict[str, Any]) -> float:
    """The raw figure behind a row's score, of the kind that its level has."""
    level = row["search_level"]
    if level == "vector":
        return float(1.0 - row["cosine"])
    if level == "keyword":
        return float(row["bm25"])
    if level == "ilike":
        return float(row["retention_part"])
    return round(float(row["score"]) - float(row["relevance_part"]), 6)


def plan_of(
    session: Session, text: str, head: dict[str, Any], weights: tuple[float, float]
) -> SearchPlan:
    """How the database searched, read off the first row of its answer."""
    found = head["id"] is not None
    level = head["search_level"] if found else head["planned_level"]
    scope = head["scope_items"] or 0
    with_vectors = level in ("hybrid", "vector")
    with_words = level in ("hybrid", "keyword")
    strategy, reason, indexes = [], [], []
    reranked = head["reranked"] or 0
    common = head["common_terms"] or 0
    if with_vectors:
        exact = reranked == 0
        strategy.append("exact" if exact else "sign_bits")
        reason.append(
            f"{_counted(scope, 'item')} in scope, all compared exactly"
            f" (sign bits from {EXACT_UP_TO + 1:,})"
            if exact
            else f"{scope:,} items in scope: the {reranked:,} nearest by sign bits, then exactly"
        )
        indexes.append("memory_vectors_pkey" if exact else "idx_memory_vectors_bits")
    if with_words:
        strategy.append("postings")
        reason.append(f"{_counted(head['postings_read'] or 0, 'posting')} of the question's terms")
        indexes.append("memory_terms_pkey")
        if common:
            reason.append(
                f"{common} of its words are everywhere: counted for the best candidates alone"
            )
    if level == "ilike":
        strategy.append("sequential")
        reason.append("every text of the owner is read")
        indexes.append("memories_pkey")
    stops = session.database.row("search", "only_stops", {"query": text})
    only_stops = bool(stops and stops["only_stops"])
    if only_stops and with_words:
        reason.append("only stop words, searched as they stand")
    return SearchPlan(
        strategy=" + ".join(strategy),
        reason=" · ".join(reason),
        index=", ".join(indexes),
        rows_scanned=(scope if with_vectors else 0) + (head["postings_read"] or 0),
        sql=_without_header(str(session.database.queries("search", "search"))),
        semantic_candidates=head["semantic_candidates"] or 0,
        keyword_candidates=head["keyword_candidates"] or 0,
        semantic_weight=weights[0],
        keyword_weight=weights[1],
        only_stop_words=only_stops,
        reranked=reranked,
        common_terms=common,
        intent=head["intent"],
    )


def shortfall_of(
    head: dict[str, Any], count: int, limit: int, offset: int, is_filtered: bool
) -> str | None:
    """Why a search gave `count` results and not `limit`; None where it gave as many."""
    if count >= limit:
        return None
    if not head["user_known"]:
        return "the app knows no such user"
    level = head["search_level"] if count else head["planned_level"]
    total = f"{offset + count:,}" if count or not offset else f"at most {offset:,}"
    filtered = " and pass the filters" if is_filtered else ""
    if count == 0 and not offset:
        return f"nothing matched{', within the filters' if is_filtered else ''}"
    if level == "keyword":
        return f"{total} in all share a word with the question{filtered}"
    if level == "ilike":
        return f"{total} in all contain the text{filtered}"
    if is_filtered:
        return f"{total} in all pass the filters and have a vector or share a word"
    return f"{total} in all: the user has no more that has a vector or shares a word"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _without_header(statement: str) -> str:
    """A statement without the comments before it."""
    lines = statement.splitlines()
    while lines and lines[0].startswith("--"):
        lines.pop(0)
    return "\n".join(lines)
