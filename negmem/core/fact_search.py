"""Facts that answer a question, of those that were true at a moment."""

from __future__ import annotations

from datetime import datetime

from negmem.core.models.fact import Fact, FactMatch, FactMatches
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.core.text.clean import TextRefusedError, clean_text
from negmem.core.text.moments import in_utc
from negmem.core.text.names import check_name
from negmem.errors import NegmemError, UsageError

MAX_ROWS = 10_000


@gated
def search_facts(
    session: Session,
    user: str,
    query: str,
    *,
    fact_type: str | None = None,
    as_of: datetime | None = None,
    believed_at: datetime | None = None,
    limit: int = 10,
    level: str = "auto",
    weights: tuple[float, float] | None = None,
) -> FactMatches:
    """What was true at `as_of`, by what was believed at `believed_at`, and answers the question.

    None means now. `level` is auto, hybrid, vector or keyword; `weights` are those of vectors and words, by
    default the configured ones. Without an embedder, or with another than the stored vectors come from, it
    searches by words and says why. Nothing is recorded.
    Raises: UsageError `query_blank`, `text_refused`, `limit_invalid`, `name_invalid`, `moment_malformed`.
    """
    try:
        text, _ = clean_text(query)
    except TextRefusedError as error:
        raise UsageError(
            "text_refused",
            "the question can't be read",
            why=f"{error.reason}: {error.detail}",
            hint='negmem fact search "…" --user NAME    with a shorter question',
        ) from None
    if not text.strip():
        raise UsageError(
            "query_blank",
            "the question is blank",
            why="there is nothing to search for",
            hint="negmem fact list --user NAME    lists them all",
        )
    if not 1 <= limit <= MAX_ROWS:
        raise UsageError(
            "limit_invalid",
            "no search goes so far",
            why=f"--limit from 1 to {MAX_ROWS:,}, got {limit:,}",
            hint="negmem fact search … --limit 20",
        )
    if fact_type is not None:
        check_name(fact_type, "type of fact")
    scope = {"user_id": user, "app_name": session.app}
    session.knows_user(user)
    vector, reason = (None, None) if level == "keyword" else _vector(session, text)
    if level == "vector":
        weights = (1.0, 0.0)
    config = session.config.retrieval
    semantic, keyword = weights or (config.semantic_weight, config.keyword_weight)
    true_at, known_at = in_utc(as_of, "as_of"), in_utc(believed_at, "believed_at")
    rows = session.database.rows(
        "facts",
        "search",
        {
            **scope,
            "query": text,
            "embedding": vector,
            "as_of": true_at,
            "believed_at": known_at,
            "fact_type": fact_type,
            "row_limit": limit,
            "semantic_weight": semantic,
            "keyword_weight": keyword,
        },
    )
    shown = session.database.rows("facts", "show", {**scope, "ids": [row["id"] for row in rows]})
    by_id = {row["id"]: Fact(**row) for row in shown}
    return FactMatches(
        results=[
            FactMatch(
                fact=by_id[row["id"]],
                score=row["score"],
                semantic=row["semantic"],
                keyword=row["keyword"],
            )
            for row in rows
            if row["id"] in by_id
        ],
        level="keyword" if vector is None else "hybrid",
        reason=reason,
        as_of=true_at,
        believed_at=known_at,
    )


def _vector(session: Session, text: str) -> tuple[str | None, str | None]:
    """The question as a vector of the stored space, or None and why."""
    from negmem.providers.embedding import EmbedderAbsent, Space, require_same_space, space_of

    found = session.embedder_or_reason
    if isinstance(found, EmbedderAbsent):
        return None, found.message
    active = session.database.row("installation", "active_model", {"app_name": session.app})
    if active is None:
        return None, "the app has no embedding model yet"
    stored = Space(active["provider"], active["model"], active["version"], active["dims"])
    try:
        require_same_space(stored, space_of(found))
        vector = found.embed_query(text)
    except NegmemError as error:
        return None, f"{error.message}: {error.why}" if error.why else error.message
    return "[" + ",".join(map(repr, vector)) + "]", None
