"""What learnings and entities have in common: searched by words and vectors, indexed, embedded, versioned."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.embedding import embed_texts
from negmem.core.learning.access import Owner
from negmem.core.models.learning import ItemVersion
from negmem.core.on_trail import record_rectified, record_removed
from negmem.core.session import Session
from negmem.core.text import pages
from negmem.core.text.clean import TextRefusedError, clean_text
from negmem.errors import NegmemError, UsageError

Result = TypeVar("Result")

_TRIES = 5
# deadlock, serialization, lock timeout, and a unique key where another writer was first
_RETRIED = frozenset(("40P01", "40001", "55P03", "23505"))
MAX_ROWS = 10_000
_TABLES = {"learning": "learnings", "entity": "entities", "decision": "decisions"}
_REMOVED = ("removed", "part removed")
_RECTIFIED = ("edited", "updated", "fact replaced", "fact retired", "undone")


def owners_params(session: Session, owners: Sequence[Owner]) -> dict[str, Any]:
    """The parameters that name several owners."""
    return {
        "app_name": session.app,
        "owner_kinds": [one.kind for one in owners],
        "owners": [one.name for one in owners],
    }


def vector_literal(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, vector)) + "]"


def search_items(
    session: Session,
    user: str | None,
    kind: str,
    owners: Sequence[Owner],
    query: str,
    embedding: str | None,
    *,
    limit: int,
    offset: int = 0,
    weights: tuple[float, float] | None = None,
) -> list[dict[str, Any]]:
    """Rows of search_shared_items(), best first; of `owners` those alone that the user may read."""
    config = session.config.retrieval
    semantic, keyword = weights or (config.semantic_weight, config.keyword_weight)
    params = {
        **owners_params(session, owners),
        "item_kind": kind,
        "query": query,
        "embedding": embedding,
        "row_limit": limit,
        "row_offset": offset,
        "semantic_weight": semantic,
        "keyword_weight": keyword,
        "user_id": user,
        "global_access": session.config.learning.global_access,
    }
    return session.database.rows("shared_items", "search", params)


def retried(act: Callable[[], Result]) -> Result:
    """What `act` gives, again where another writer was in its way; it holds its own transaction."""
    for attempt in range(1, _TRIES + 1):
        try:
            return act()
        except NegmemError as error:
            if getattr(error, "sqlstate", "") not in _RETRIED or attempt == _TRIES:
                raise
            time.sleep(random.uniform(0.02, 0.1) * attempt)
    raise AssertionError("the last try raises")


def changer_of(session: Session) -> str:
    """Who is noted with a change: whom the session acts for, else its actor."""
    return getattr(session.acting, "who", None) or session.actor


def lock_store(session: Session, owner: Owner, kind: str, *, remembers: bool = True) -> None:
    """One writer of an owner's items of a kind at a time, until the transaction ends.

    Of a person who is paused nothing more is remembered; what takes away is no such thing.
    """
    params = {**owner.params(session), "item_kind": kind}
    session.database.execute("shared_items", "lock_store", params)
    if owner.kind == "user" and remembers:
        user = {"user_id": owner.name, "app_name": session.app}
        session.database.execute("shared_items", "know_user", user)


def index(session: Session, owner: Owner, kind: str, ids: Sequence[UUID]) -> None:
    """Make items findable by what they say now."""
    params = {**owner.params(session), "item_kind": kind, "ids": list(ids)}
    session.database.execute("shared_items", "index", params)


def unindex(session: Session, owner: Owner, kind: str, ids: Sequence[UUID]) -> None:
    """Take items out of search; before they change, for the words are found by what they say."""
    params = {**owner.params(session), "item_kind": kind, "ids": list(ids)}
    session.database.execute("shared_items", "unindex", params)


def embed(session: Session, owner: Owner, kind: str, item: UUID) -> None:
    """Give an item the vector of what it says; one that changed meanwhile gets it from who changed it.

    Where the act is part of a larger transaction, this waits for its end.
    """
    if session.vectors_due is not None:
        session.vectors_due.append((owner, kind, item))
        return
    place = {**owner.params(session), "item_kind": kind, "id": item}
    row = session.database.row("shared_items", "text", place)
    if row is None or not row["content"]:
        return
    vectors = embed_texts(session, [row["content"]])
    vector = None if vectors is None else vectors.vectors[0]
    if vectors is None or vector is None:
        return
    values = {**place, "model_id": vectors.model_id, "embedding": vector_literal(vector)}
    with session.database.transaction():
        session.database.execute(
            "shared_items", "set_vector", {**values, "content": row["content"]}
        )


def keep_version(
    session: Session,
    owner: Owner,
    kind: str,
    item: UUID,
    version: int,
    before: dict[str, Any],
    reason: str,
) -> None:
    """Keep what an item said at `version`, before it is changed; the trail has what a person takes away or puts right."""
    values = {
        **owner.params(session),
        "item_kind": kind,
        "id": item,
        "version": version,
        "before": Jsonb(before),
        "reason": reason,
        "changed_by": changer_of(session),
    }
    session.database.execute("shared_items", "keep_version", values)
    subject = [f"{_TABLES[kind]}:{item}"]
    what = reason.partition(":")[0]
    if what in _REMOVED:
        record_removed(session, owner.person, subject, f"{kind} {reason}")
    elif what in _RECTIFIED:
        record_rectified(session, owner.person, subject, f"{kind} {reason}")


def versions_of(session: Session, owner: Owner, kind: str, item: UUID) -> list[ItemVersion]:
    """What an item said before, oldest first."""
    params = {**owner.params(session), "item_kind": kind, "id": item}
    rows = session.database.rows("shared_items", "versions", params)
    return [ItemVersion(**row, metadata=row["before"].get("metadata") or {}) for row in rows]


def cleaned(value: object, what: str, hint: str, *, most: int = 100_000) -> str:
    """A text as it can be stored, without blanks at its ends.

    Raises: UsageError `text_refused` for what is blank, too long or no text.
    """
    why = ""
    text = ""
    if not isinstance(value, str):
        why = f"it is {type(value).__name__}, not text"
    else:
        try:
            text, _ = clean_text(value)
            text = text.strip()
        except TextRefusedError as error:
            why = f"{error.reason}: {error.detail}"
    if not why and not text:
        why = "it is blank"
    if not why and len(text) > most:
        why = f"it has {len(text):,} characters, at most {most:,} are stored"
    if why:
        raise UsageError("text_refused", f"the {what} can't be stored", why=why, hint=hint)
    return text


def cite(
    session: Session, user: str, kind: str, item: UUID, events: Sequence[UUID], *, model: str = ""
) -> None:
    """Note the turns of a user that an item rests on; turns that are not there are left out."""
    if not events:
        return
    made_by = model or getattr(session.acting, "model", None)
    params = {
        "user_id": user,
        "app_name": session.app,
        "item_kind": kind,
        "item_id": item,
        "event_ids": list(events),
        "run_id": None,
        "extractor": "llm" if made_by else "manual",
        "model": made_by,
    }
    session.database.execute("observations", "cite", params)


def check_page(limit: int, offset: int) -> None:
    """Raises: UsageError `limit_invalid`."""
    pages.check_page(limit, offset, "--limit 100", MAX_ROWS)


def check_version(expected: int | None, stands: int, what: str, hint: str) -> None:
    """Raises: NegmemError `version_conflict`."""
    if expected is not None and expected != stands:
        raise NegmemError(
            "version_conflict",
            f"somebody changed this {what} meanwhile",
            why=f"version {expected} was expected, it is {stands}",
            hint=hint,
        )


def ask_words(session: Session, query: str) -> tuple[str, str | None, str, str | None]:
    """A question as it can be asked: its text, its vector if it counts here, the level, why no more.

    Raises: UsageError `query_blank`, `text_refused`.
    """
    from negmem.core.retrieval.search import ask, clean_question

    text = clean_question(query)
    question = ask(session, text, "auto")
    if question.embedding is None:
        return text, None, "keyword", question.fallbacks[0].reason if question.fallbacks else None
    provider, model, version, dims = question.space
    params = {
        "app_name": session.app,
        "provider": provider,
        "model": model,
        "version": version,
        "dims": dims,
    }
    if session.database.row("shared_items", "same_space", params) is None:
        return (
            text,
            None,
            "keyword",
            "the stored vectors come from another model, or there are none",
        )
    return text, question.embedding, "hybrid", None
