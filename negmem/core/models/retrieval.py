"""Searches and their explanation, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field, model_serializer
from typing_extensions import TypedDict

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

LEVELS = ("auto", "hybrid", "vector", "keyword", "ilike")
KINDS = ("memory", "fact", "entity", "learning")


FallbackJson = TypedDict(
    "FallbackJson", {"from": str, "to": str, "reason": str, "code": str, "hint": str}
)


class Fallback(Model):
    """A step down to a lesser level. `code` is stable, `reason` says it in words, `hint` what to do."""

    from_level: str
    to_level: str
    reason: str
    code: str
    hint: str = ""

    @model_serializer
    def _as_json(self) -> FallbackJson:
        return {
            "from": self.from_level,
            "to": self.to_level,
            "reason": self.reason,
            "code": self.code,
            "hint": self.hint,
        }


class Took(Model):
    """Milliseconds: of the embedding (0 without one), of the database's round trip, and of all."""

    embed: float
    database: float
    total: float


class Contributions(Model):
    """What each part adds to a score, in whole millionths; their sum is the score.

    `neighbours` and `session` come from the conversation around a turn; `speaker` where the question names
    who said it, `intent` where it asks for such a type; `relevance` is the change that learned relevance
    makes, the cut at a score of 1 included;
    `retention` stands in for a score where only the text was matched.
    """

    semantic: float
    keyword: float
    neighbours: float
    session: float
    speaker: float
    intent: float
    relevance: float
    retention: float


class Explanation(Model):
    """Why a result stands where it does.

    In [0, 1]: `semantic` (0 as unrelated texts, 1 as the same one), `keyword` (BM25 over the most it could
    be), `retention`, `importance`, `recency` (1 on the day of the last access, 0 a month later); `relevance`
    is the learned factor. None: not known for this item. What has no contribution did not count.
    `semantic_rank` and `keyword_rank` count from 1, by vectors and by words alone; None: not among the first
    that were looked at, or that arm was not asked.
    """

    semantic: float | None
    keyword: float | None
    retention: float | None
    importance: float | None
    relevance: float
    graph: float | None
    recency: float | None
    contributions: Contributions
    sum: float
    semantic_rank: int | None = None
    keyword_rank: int | None = None


class SearchResult(Model):
    """One result. `raw_score` is the raw figure that `score_type` names; `score` is in [0, 1]."""

    id: UUID
    kind: str
    content: str
    type: str
    score: float
    search_level: str
    score_type: str
    raw_score: float
    created_at: Instant
    occurred_at: Instant | None
    thread_id: str | None
    metadata: dict[str, Any] | None
    explain: Explanation | None


class Dropped(Model):
    """How many items are not among the results, by why.

    `ranked_below` were compared and stand further down (at least so many); `filtered` are kept out by the
    filters, `removed` are soft-deleted, `not_true_now` are facts of another time; `without_vector` stand,
    and only their words can be found.
    """

    ranked_below: int
    filtered: int
    removed: int
    not_true_now: int
    without_vector: int


class SearchPlan(Model):
    """How the database searched; `rows_scanned` counts vectors or texts, and postings.

    `reranked` vectors were compared exactly after the sign bits (0: all were, or none). `common_terms` of the
    question stand in so many memories that they were counted for the best candidates alone. `intent` is the
    type of memory that the question's words ask for.
    """

    strategy: str
    reason: str
    index: str
    rows_scanned: int
    sql: str
    semantic_candidates: int
    keyword_candidates: int
    semantic_weight: float
    keyword_weight: float
    only_stop_words: bool
    reranked: int
    common_terms: int
    intent: str | None
    dropped: Dropped | None = None


class WhyNot(Model):
    """Where one memory or fact stands for a question, and what stands in its way.

    `state`: found, ranked_below, not_matched, filtered, deleted, superseded, expired, not_yet_valid, unknown.
    Ranks count from 1: `rank` by the level that was asked for, `semantic_rank` and `keyword_rank` by vectors
    and by words alone (None: not among those looked at, or `semantic_unknown` says why nobody could look).
    `last_score` is the score of the last result shown. Each of the `remedies` that is a change of the search
    was tried: with it the item is shown.
    """

    id: UUID
    kind: str | None = None
    state: str
    reason: str
    rank: int | None = None
    score: float | None = None
    last_score: float | None = None
    semantic_rank: int | None = None
    semantic_unknown: str | None = None
    keyword_rank: int | None = None
    ranks_looked_at: int | None = None
    remedies: list[str] = Field(default_factory=list)
    explain: Explanation | None = None


class SearchAnswer(Model):
    """The results of one search, best first, and how they were come by.

    `retrieval_id` is what feedback names; None where nothing was recorded. `shortfall` says why there are
    fewer results than were asked for; None where there are as many.
    """

    retrieval_id: UUID | None
    level: str
    fallbacks: list[Fallback]
    took_ms: Took
    results: list[SearchResult]
    shortfall: str | None = None
    plan: SearchPlan | None = None
    why_not: WhyNot | None = None
