"""Why one memory or fact is not among the results of a search, or where it stands, and what would bring it in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from negmem.core.models.retrieval import SearchAnswer, SearchResult, WhyNot
from negmem.core.retrieval.as_of import search_at
from negmem.core.retrieval.obstacles import RANKS_LOOKED_AT, Standing, standing_of
from negmem.core.retrieval.search import NO_FILTERS, Filters
from negmem.core.session import Session

_LEVELS = ("hybrid", "keyword", "vector", "ilike")
# Ways in that are tried; each is a search.
_TRIED_LIMITS = 4


class _Searches:
    """The search that was asked, run again with changes; records nothing."""

    def __init__(
        self, session: Session, user: str, query: str, item: UUID, limit: int, asked: dict[str, Any]
    ) -> None:
        self._session, self._user, self._query = session, user, query
        self.item, self.limit, self._asked = item, limit, asked
        self.app = session.app

    def run(self, **changed: Any) -> SearchAnswer:
        asked = {"limit": self.limit, **self._asked, **changed, "record": False}
        return search_at(self._session, self._user, self._query, **asked)

    def placed(self, **changed: Any) -> int | None:
        """The item's rank by the search with these changes; None: its page does not show it."""
        found = _found(self.run(**changed), self.item)
        return (
            None if found is None else found[0] + int(changed.get("offset", self._asked["offset"]))
        )

    def arm(self, level: str) -> tuple[int | None, str | None]:
        """The item's rank by one arm alone; where that arm can't be had, why."""
        answer = self.run(level=level, limit=RANKS_LOOKED_AT, offset=0)
        fell = [step for step in answer.fallbacks if step.code != "no_match"]
        if fell:
            return None, fell[0].reason
        found = None if answer.fallbacks else _found(answer, self.item)
        return (None if found is None else found[0]), None

    def way_in(self, prefix: str = "", **changed: Any) -> str | None:
        """The options that bring it in with these changes: these alone, or with the limit that it takes."""
        at = self.placed(**changed)
        if at is not None:
            return f"{prefix}    there it is number {at:,}"
        found = _found(self.run(**{**changed, "limit": RANKS_LOOKED_AT, "offset": 0}), self.item)
        limit = self.limit if found is None else found[0]
        if found is None:
            return None
        at_first = int(self._asked["offset"]) > 0
        for _ in range(_TRIED_LIMITS):
            # How deep a search looks follows its limit: what is number 20 of 1,000 need not be of 20.
            limit = min(RANKS_LOOKED_AT, max(limit, self.limit))
            if self.placed(**{**changed, "limit": limit, "offset": 0}) is not None:
                break
            limit *= 2
        first = "--offset 0 " if at_first else ""
        between = ", " if prefix.startswith("without") else " "
        return f"{prefix}{between}{first}--limit {min(limit, RANKS_LOOKED_AT)}".strip()


def why_not(
    session: Session,
    user: str,
    query: str,
    item_id: UUID,
    shown: SearchAnswer,
    *,
    limit: int,
    offset: int = 0,
    kinds: Sequence[str] = ("memory", "fact"),
    filters: Filters = NO_FILTERS,
    as_of: datetime | None = None,
    **asked: Any,
) -> WhyNot:
    """Where a memory or fact stands for a question, and what keeps it out of the page that was shown.

    Looks at the first 1,000 ranks of the search and of each arm alone, and tries each change of the search
    before it advises it; `asked` are the other arguments of `search_at`. Records nothing.
    """
    page = {"offset": offset, "kinds": kinds, "filters": filters, "as_of": as_of, **asked}
    searches = _Searches(session, user, query, item_id, limit, page)
    placed = _found(shown, item_id)
    known = standing_of(session, user, query, item_id, kinds, filters, as_of)
    if placed is None:
        blocked = _blocked(searches, known, kinds, user)
        if blocked is not None:
            return blocked
    if placed is not None:
        at, result = placed
        rank = at + offset
        standing = WhyNot(
            id=item_id,
            kind=result.kind,
            state="found",
            reason=f"it is number {rank:,} of the results",
            rank=rank,
            score=result.score,
            explain=result.explain,
        )
    else:
        every = searches.run(limit=RANKS_LOOKED_AT, offset=0, explain=True)
        standing = _below(known, item_id, _found(every, item_id), shown, limit, offset)
    by_meaning, unknown = searches.arm("vector")
    by_words, _ = searches.arm("keyword")
    standing = standing.model_copy(
        update={
            "semantic_rank": by_meaning,
            "semantic_unknown": unknown,
            "keyword_rank": by_words,
            "ranks_looked_at": RANKS_LOOKED_AT,
        }
    )
    if standing.state == "found" or known is None:
        return standing
    remedies = _remedies(searches, standing, known, shown, unknown is None)
    return standing.model_copy(update={"remedies": remedies})


def _below(
    known: Standing | None,
    item_id: UUID,
    placed: tuple[int, SearchResult] | None,
    shown: SearchAnswer,
    limit: int,
    offset: int,
) -> WhyNot:
    """The standing of what the page does not show: further down, or nowhere."""
    if placed is None:
        kind, reason = ("", "") if known is None else (known.kind, known.reason)
        return WhyNot(id=item_id, kind=kind or None, state="not_matched", reason=reason)
    rank, result = placed
    reason = f"it is number {rank:,}, shown are {offset + 1:,} to {offset + limit:,}"
    if offset < rank <= offset + limit:
        reason = (
            f"it is number {rank:,} only where {RANKS_LOOKED_AT:,} are asked for: of {limit:,}, fewer turns"
            " are weighed with those beside them"
        )
    return WhyNot(
        id=item_id,
        kind=result.kind,
        state="ranked_below",
        reason=reason,
        rank=rank,
        score=result.score,
        last_score=shown.results[-1].score if shown.results else None,
        explain=result.explain,
    )


def _remedies(
    searches: _Searches, standing: WhyNot, known: Standing, shown: SearchAnswer, has_arm: bool
) -> list[str]:
    """What would bring it in, the mildest first; each change of the search was tried."""
    found = []
    if standing.rank is not None:
        found.append(searches.way_in())
    elif known.shares_terms or (known.has_vector and has_arm):
        for level in _LEVELS:
            if level != shown.level and (level in ("keyword", "ilike") or has_arm):
                found.append(searches.way_in(f"--level {level}", level=level))
                if found[-1] is not None:
                    break
    if standing.rank is not None:
        ranks = {"keyword": standing.keyword_rank, "vector": standing.semantic_rank}
        for level, rank in ranks.items():
            if level != shown.level and rank is not None and rank <= searches.limit:
                at = searches.placed(level=level)
                if at is not None:
                    found.append(f"--level {level}    there it is number {at:,}")
    if not known.has_vector and shown.level != "ilike" and has_arm:
        found.append("negmem doctor --fix --only embedding_missing    it has no vector")
    if not has_arm and known.has_vector:
        hints = [step.hint for step in shown.fallbacks if step.hint]
        found.append((hints or ["negmem doctor --only data"])[0] + "    vectors can't be compared")
    remedies = [one for one in found if one]
    if not known.shares_terms and not remedies:
        remedies.append("a question with a word of the memory: it shares none")
    return remedies


def _blocked(
    searches: _Searches, known: Standing | None, kinds: Sequence[str], user: str
) -> WhyNot | None:
    """The standing of what no ranking of this search can hold; None where a ranking could."""
    if known is None:
        if not {"entity", "learning"}.isdisjoint(kinds):
            every = searches.run(limit=RANKS_LOOKED_AT, offset=0)
            if _found(every, searches.item) is not None:
                return None
        return WhyNot(
            id=searches.item,
            state="unknown",
            reason=f'user "{user}" has no such memory or fact in app "{searches.app}"',
        )
    if not known.state:
        return None
    remedies: list[str | None] = list(known.remedies)
    if known.as_of is not None:
        said = known.as_of.isoformat().replace("+00:00", "Z")
        remedies.append(searches.way_in(f"--as-of {said}", as_of=known.as_of))
    if known.lifted is not None:
        remedies.append(searches.way_in(known.without, **known.lifted) or known.without)
    return WhyNot(
        id=searches.item,
        kind=known.kind,
        state=known.state,
        reason=known.reason,
        remedies=[one for one in remedies if one],
    )


def _found(answer: SearchAnswer, item_id: UUID) -> tuple[int, SearchResult] | None:
    """The item's place on the page, from 1, and its result."""
    for place, result in enumerate(answer.results, start=1):
        if result.id == item_id:
            return place, result
    return None
