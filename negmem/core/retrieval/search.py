"""The search service: chooses the level, embeds, asks the database once, tells what fell short."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.core.models.retrieval import (
    KINDS,
    LEVELS,
    Fallback,
    SearchAnswer,
    SearchResult,
    Took,
)
from negmem.core.pii import gated, guard_of
from negmem.core.retrieval.beside import shared_kinds, shared_rows
from negmem.core.retrieval.explain import explanation, plan_of, raw_score, shortfall_of
from negmem.core.session import Session
from negmem.core.text.clean import TextRefusedError, clean_text, clean_value
from negmem.core.text.moments import in_utc
from negmem.core.text.names import check_name
from negmem.db.failures import DatabaseError
from negmem.db.searches import Beside, recording_is_refused, run_recording, run_search
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

SCORE_TYPES = {
    "hybrid": "combined",
    "vector": "cosine_distance",
    "keyword": "bm25",
    "ilike": "retention_proxy",
}
MAX_ROWS = 10_000
_SEARCHED = ("memory", "fact")


@dataclass(frozen=True)
class Filters:
    """What a result must be: types, thread (its name), said within [since, until), metadata."""

    types: Sequence[str] | None = None
    thread: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    where: dict[str, Any] | None = None

    @property
    def are_set(self) -> bool:
        """Whether anything is asked of a result."""
        return any(
            value is not None for value in (self.types, self.thread, self.since, self.until)
        ) or bool(self.where)

    def by(self, moment: datetime | None) -> Filters:
        """These, and said before the moment."""
        until, moment = in_utc(self.until, "until"), in_utc(moment, "as_of")
        bounds = [bound for bound in (until, moment) if bound is not None]
        return replace(self, until=min(bounds, default=None))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the queries in sql/queries/search.sql; metadata is a JSON text.

        Raises: UsageError `text_refused` for metadata that JSON can't express, `name_invalid`,
        `moment_malformed`.
        """
        types = None if self.types is None else [check_name(t, "type") for t in self.types]
        where = None
        if self.where:
            try:
                where, _ = clean_value(self.where)
            except TextRefusedError as error:
                raise UsageError(
                    "text_refused",
                    "--where can't be searched for",
                    why=f"{error.reason}: {error.detail}",
                    hint="--where KEY=VALUE",
                ) from None
        return {
            "types": types,
            "thread": None if self.thread is None else check_name(self.thread, "thread"),
            "since": in_utc(self.since, "since"),
            "until": in_utc(self.until, "until"),
            "metadata": None if where is None else json.dumps(where, ensure_ascii=False),
        }


NO_FILTERS = Filters()


@dataclass
class Question:
    """A question as it is asked of the database: its text, vector and level, and how it got there."""

    text: str
    level: str
    embedding: str | None = None
    space: tuple[str | None, str | None, str | None, int | None] = (None, None, None, None)
    fallbacks: list[Fallback] = field(default_factory=list)
    embed_ms: float = 0.0

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the block `search.search` that concern the question."""
        provider, model, version, dims = self.space
        return {
            "query": self.text,
            "embedding": self.embedding,
            "provider": provider,
            "model": model,
            "version": version,
            "dims": dims,
            "level": self.level,
            "fallbacks": json.dumps(
                [{"from": f.from_level, "to": f.to_level, "code": f.code} for f in self.fallbacks]
            ),
        }


@gated
def search(
    session: Session,
    user: str,
    query: str,
    *,
    level: str = "auto",
    limit: int | None = None,
    offset: int = 0,
    kinds: Sequence[str] = ("memory", "fact"),
    filters: Filters = NO_FILTERS,
    semantic_weight: float | None = None,
    keyword_weight: float | None = None,
    explain: bool = False,
    record: bool = True,
    beside: Beside | None = None,
    asked: Question | None = None,
) -> SearchAnswer:
    """What of a user's memories and facts answers a question, best first.

    `auto` is hybrid where the question can be embedded, else keyword. Each step down, by the lack of an
    embedder, by an error of it, by vectors of another model, or since nothing matched, is in `fallbacks`.
    With `record` the search is logged and its accesses queued, in the same round trip. `beside` is what else
    to ask of the database in it, `asked` the question as `ask` made it before, so that it is embedded once.
    Raises: UsageError `query_blank`, `level_unknown`, `kind_unknown`, `weights_invalid`, `limit_invalid`;
    NegmemError of the database.
    """
    started = time.perf_counter()
    text = clean_question(query)
    check_level(level)
    wanted_kinds = check_kinds(kinds)
    shared = shared_kinds(wanted_kinds, filters)
    row_kinds = [kind for kind in wanted_kinds if kind in _SEARCHED]
    weights = check_weights(session, semantic_weight, keyword_weight)
    config = session.config.retrieval
    row_limit = config.limit if limit is None else limit
    check_page(row_limit, offset)
    question = ask(session, text, level) if asked is None else asked
    logged = guard_of(session).logged(text)
    record = record and not _is_read_only(session)
    params = {
        "user_id": user,
        "app_name": session.app,
        **question.params,
        **filters.params,
        "row_limit": row_limit + offset if shared else row_limit,
        "row_offset": 0 if shared else offset,
        "semantic_weight": weights[0],
        "keyword_weight": weights[1],
        "kinds": row_kinds,
        "neighbours": config.neighbours_weight,
        "session": config.session_weight,
        "speaker": config.speaker_boost,
        "intent": config.intent_boost,
        "relevance": config.learned_relevance,
        "explain": explain,
        "record": record and logged == text and not shared,
        "repeat_window_s": config.repeat_window_s,
    }
    rows, database_ms = _run(session, params, beside)
    if _was_changed(session, question, rows[0]):
        question = ask(session, text, level)
        rows, database_ms = _run(session, {**params, **question.params})
    head = rows[0]
    if not head["user_known"]:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    is_answered_alone = not row_kinds and head["is_same_space"]
    steps_down = [] if is_answered_alone else fallbacks_of(question, head)
    fallbacks = [*question.fallbacks, *steps_down]
    found = [row for row in rows if row["id"] is not None]
    if shared:
        vector = question.embedding if head["is_same_space"] else None
        of_shared = shared_rows(
            session,
            user,
            shared,
            text,
            vector,
            types=filters.types,
            limit=row_limit + offset,
            weights=weights,
        )
        found = sorted([*found, *of_shared], key=lambda row: -row["score"])[
            offset : offset + row_limit
        ]
    reached = fallbacks[-1].to_level if fallbacks else question.level
    retrieval_id = head["retrieval_id"]
    if record and (shared or logged != text):
        steps = [{"from": f.from_level, "to": f.to_level, "code": f.code} for f in fallbacks]
        said = {"query": logged, "level": reached, "fallbacks": json.dumps(steps)}
        retrieval_id = _record_apart(session, {**params, **said, "row_offset": offset}, found)
    return SearchAnswer(
        retrieval_id=retrieval_id,
        level=reached,
        fallbacks=fallbacks,
        results=[result_of(row, explain) for row in found],
        shortfall=shortfall_of(head, len(found), row_limit, offset, filters.are_set),
        plan=plan_of(session, text, head, weights) if explain else None,
        took_ms=Took(
            embed=round(question.embed_ms, 3),
            database=round(database_ms, 3),
            total=round((time.perf_counter() - started) * 1000, 3),
        ),
    )


def result_of(row: dict[str, Any], explain: bool) -> SearchResult:
    """One row of the block `search.search` as a result."""
    return SearchResult(
        id=row["id"],
        kind=row["kind"],
        content=row["content"],
        type=row["type"],
        score=row["score"],
        search_level=row["search_level"],
        score_type=SCORE_TYPES[row["search_level"]],
        raw_score=raw_score(row),
        created_at=row["created_at"],
        occurred_at=row["occurred_at"],
        thread_id=row["thread"],
        metadata=row["metadata"],
        explain=explanation(row) if explain else None,
    )


def clean_question(query: str) -> str:
    """The question as it can be searched for. Raises: UsageError `query_blank`, `text_refused`."""
    if not isinstance(query, str):
        raise UsageError(
            "text_refused",
            "the question can't be read",
            why=f"it is {type(query).__name__}, not text",
            hint='negmem search "…" --user NAME',
        )
    try:
        text, _ = clean_text(query)
    except TextRefusedError as error:
        raise UsageError(
            "text_refused",
            "the question can't be read",
            why=f"{error.reason}: {error.detail}",
            hint='negmem search "…" --user NAME    with a shorter question',
        ) from None
    if not text.strip():
        raise UsageError(
            "query_blank",
            "the question is blank",
            why="there is nothing to search for",
            hint='negmem search "…" --user NAME     or, for all of them: negmem memory list',
        )
    return text


def check_level(level: str) -> None:
    """Raises: UsageError `level_unknown`."""
    if level not in LEVELS:
        raise UsageError(
            "level_unknown",
            f"{str(level)[:60]!r} is no level of a search",
            why=f"the levels are {', '.join(LEVELS)}",
            hint="--level auto",
        )


def check_kinds(kinds: Sequence[str]) -> list[str]:
    """The kinds, each once. Raises: UsageError `kind_unknown`."""
    wanted = list(dict.fromkeys(kinds))
    wrong = [kind for kind in wanted if kind not in KINDS]
    if wrong or not wanted:
        raise UsageError(
            "kind_unknown",
            f"{wrong[0][:60]!r} can't be searched" if wrong else "no kind is named",
            why=f"the kinds are {', '.join(KINDS)}",
            hint="--kind memory,fact",
        )
    return wanted


def check_weights(
    session: Session, semantic: float | None, keyword: float | None
) -> tuple[float, float]:
    """The weights of the two arms; one that is not given comes from the configuration.

    Raises: UsageError `weights_invalid`.
    """
    config = session.config.retrieval
    weights = (
        config.semantic_weight if semantic is None else semantic,
        config.keyword_weight if keyword is None else keyword,
    )
    if not all(0 <= weight <= 1 for weight in weights) or sum(weights) == 0:
        raise UsageError(
            "weights_invalid",
            "nothing could rank by these weights",
            why=f"each is in 0..1 and one of them over 0, got {weights[0]:g} and {weights[1]:g}",
            hint="--semantic-weight 0.4 --keyword-weight 0.6",
        )
    return weights


def check_page(limit: int, offset: int) -> None:
    """Raises: UsageError `limit_invalid`."""
    are_whole = type(limit) is int and type(offset) is int
    if not are_whole or limit < 1 or offset < 0 or limit + offset > MAX_ROWS:
        raise UsageError(
            "limit_invalid",
            "no search goes so far",
            why=f"--limit from 1, --offset from 0, together at most {MAX_ROWS:,};"
            f" got {str(limit)[:60]} and {str(offset)[:60]}",
            hint="negmem memory list --user NAME    reads all of them, page by page",
        )


def ask(session: Session, text: str, level: str) -> Question:
    """The question with its vector, where the level wants one and there is one."""
    wanted = "hybrid" if level == "auto" else level
    question = Question(text, wanted)
    if wanted not in ("hybrid", "vector"):
        return question
    started = time.perf_counter()
    try:
        embedder = _embedder(session)
        vector = embedder.embed_query(text)
        question.embedding = "[" + ",".join(map(repr, vector)) + "]"
        question.space = (embedder.name, embedder.model, embedder.version, embedder.dims)
    except NegmemError as error:
        why = f": {error.why}" if error.why else ""
        step = Fallback(
            from_level=wanted,
            to_level="keyword",
            reason=error.message + why,
            code=error.code,
            hint=error.hint,
        )
        question = Question(text, "keyword", fallbacks=[step])
    question.embed_ms = (time.perf_counter() - started) * 1000
    return question


def fallbacks_of(question: Question, head: dict[str, Any]) -> list[Fallback]:
    """The steps down that the database took, read off the first row of its answer."""
    steps = []
    if not head["user_known"] and head["is_same_space"]:
        return []
    planned = head["planned_level"]
    if planned != question.level:
        code, reason, hint = _no_vectors(question, head)
        steps.append(
            Fallback(
                from_level=question.level, to_level=planned, reason=reason, code=code, hint=hint
            )
        )
    if head["id"] is not None and head["search_level"] != planned:
        steps.append(
            Fallback(
                from_level=planned,
                to_level=head["search_level"],
                reason="nothing matched",
                code="no_match",
            )
        )
    return steps


def _no_vectors(question: Question, head: dict[str, Any]) -> tuple[str, str, str]:
    if head["is_same_space"]:
        return (
            "nothing_embedded",
            "none of this user's memories has a vector",
            "negmem doctor --only data",
        )
    provider, model, version, dims = question.space
    if head["model"] is None:
        return (
            "embedding_model_unset",
            f"no vectors are stored for this app, {provider} {model} is configured",
            "negmem init",
        )
    stored = f"{head['provider']} {head['model']} ({head['version']}, {head['dims']} dimensions)"
    return (
        "embedding_space_mismatch",
        f"the vectors come from {stored}, {provider} {model} ({version}, {dims} dimensions) is"
        " configured: they can't be compared",
        "negmem config show embedding    then set it back to what is stored",
    )


def _embedder(session: Session) -> Embedder:
    from negmem.providers.embedding import EmbedderAbsent

    found = session.embedder_or_reason
    if isinstance(found, EmbedderAbsent):
        raise found.error()
    return found


def _is_read_only(session: Session) -> bool:
    facts = session.database.facts
    if not (facts.in_recovery or facts.read_only):
        return False
    _warn_unrecorded(session, "the server takes no writes")
    return True


def _warn_unrecorded(session: Session, why: str) -> None:
    session.warn("retrieval_not_recorded", f"the search was not recorded: {why}")


def _was_changed(session: Session, question: Question, head: dict[str, Any]) -> bool:
    """Whether the embedding model was changed since this process looked, and the new one can be had."""
    if question.embedding is None or head["is_same_space"] or head["model"] is None:
        return False
    return session.follow_stored_model()


def _record_apart(
    session: Session, params: dict[str, Any], found: list[dict[str, Any]]
) -> UUID | None:
    """Log a search whose question may not be kept as it was asked."""
    first = params["row_offset"] + 1
    items = [
        {"kind": row["kind"], "id": str(row["id"]), "rank": rank, "score": row["score"]}
        for rank, row in enumerate(found, first)
    ]
    ids = {
        f"{kind}_ids": [row["id"] for row in found if row["kind"] == kind]
        for kind in ("memory", "fact")
    }
    try:
        made: UUID | None = run_recording(
            session.database, "pii", "record_search", {**params, **ids, "items": json.dumps(items)}
        )
    except DatabaseError as error:
        if not recording_is_refused(error):
            raise
        _warn_unrecorded(session, error.why)
        return None
    return made


def _run(
    session: Session, params: dict[str, Any], beside: Beside | None = None
) -> tuple[list[dict[str, Any]], float]:
    """Run the search; once more on a new connection where the old one was cut while it lay idle, and
    without recording it where recording alone is refused.

    Of a search that was recorded before its answer was lost the repeat counts nothing.
    """
    database = session.database
    try:
        return run_search(database, params, beside)
    except DatabaseError as error:
        if error.code == "connection_lost" and not database.in_transaction:
            return run_search(database, params, beside)
        if not params["record"] or not recording_is_refused(error):
            raise
        answer = run_search(database, {**params, "record": False}, beside)
        _warn_unrecorded(session, error.why)
        return answer
