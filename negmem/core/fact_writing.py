"""Writing facts: what is checked, in whose words, embedded before a transaction opens, in batches."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.embedding import embed_texts
from negmem.core.fact_names import move, profile_names_of
from negmem.core.models.fact import FactOutcome
from negmem.core.pii import guard_of
from negmem.core.review import refuse_past_review
from negmem.core.session import Session
from negmem.core.text.clean import TextRefusedError, clean_text, clean_value
from negmem.core.text.fact_words import fact_text, same_value
from negmem.core.text.moments import in_utc
from negmem.core.text.names import check_name
from negmem.core.text.profile_names import PROFILE
from negmem.core.text.profile_values import same_field
from negmem.errors import NegmemError, UsageError

MAX_TYPE_CHARACTERS = 50
MAX_VALUE_CHARACTERS = 100_000
BATCH_FACTS = 200
"""How many facts one transaction writes at most."""

_TRIES = 5
# deadlock, serialization, lock timeout, and the unique key where a writer of other software was first
_RETRIED = frozenset(("40P01", "40001", "55P03", "23505"))


@dataclass(frozen=True)
class FactWrite:
    """One fact as it is to be known.

    Args: value, JSON; valid_from and valid_until, when it is true (from None: when it was said, else
    now; until None: open); occurred_at, when it was said; event_ids, the turns that say so; origin,
    "manual" or "extracted"; confidence in 0..1.
    """

    type: str
    key: str
    value: Any
    confidence: float = 1.0
    origin: str = "extracted"
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    occurred_at: datetime | None = None
    thread_id: UUID | None = None
    event_ids: tuple[UUID, ...] = ()
    run_id: UUID | None = None
    extractor: str = "manual"
    model: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def write_facts(
    session: Session,
    user: str,
    facts: Sequence[FactWrite],
    *,
    then: Callable[[Sequence[FactOutcome]], None] | None = None,
) -> list[FactOutcome]:
    """Write facts by key, in the order given; safe to repeat and to run at once.

    A changed value supersedes the version before, which stays; a value set by hand stands until it is
    changed by hand. The same value said again, or the same name in another spelling (北京, 北京市),
    adds its sources. A key of a profile's fact that is a name of a field (`location`) is written as the
    field (`city`), and what stands under another name of it is moved there first.

    Texts are embedded before a transaction opens; each transaction takes at most
    200 facts, and calls `then` with their outcomes before it ends. Returns one outcome a fact, in order.
    Raises: UsageError `fact_invalid`, `name_invalid`, `moment_malformed`, `text_refused`; NegmemError
    `review_required` for a profile whose writes wait for a person, and of the database.
    """
    if any(fact.type == PROFILE for fact in facts):
        refuse_past_review(session, "profile", "negmem profile set FIELD VALUE --user NAME")
    checked = [prepared(session, fact) for fact in facts]
    outcomes: list[FactOutcome] = []
    for start in range(0, len(checked), BATCH_FACTS):
        for outcome in _write_batch(session, user, checked[start : start + BATCH_FACTS], then):
            position = start + outcome.position
            outcomes.append(outcome.model_copy(update={"position": position}))
    return outcomes


def _write_batch(
    session: Session,
    user: str,
    facts: Sequence[FactWrite],
    then: Callable[[Sequence[FactOutcome]], None] | None,
) -> list[FactOutcome]:
    scope = {"user_id": user, "app_name": session.app}
    stands = standing(session, scope, facts)
    embedded = {fact_text(row["key"], row["value"]) for row in stands.rows if row["embedded"]}
    facts = [in_known_words(session, fact, stands) for fact in facts]
    texts = list(dict.fromkeys(fact_text(fact.key, fact.value) for fact in facts))
    due = [text for text in texts if text not in embedded]
    vectors = embed_texts(session, due)
    by_text = dict(zip(due, vectors.vectors, strict=True)) if vectors else {}
    documents = []
    for fact in facts:
        document = document_of(fact)
        vector = by_text.get(fact_text(fact.key, fact.value))
        if vectors is not None and vector is not None:
            document["model_id"] = vectors.model_id
            document["embedding"] = "[" + ",".join(map(repr, vector)) + "]"
        documents.append(document)
    params = {**scope, "facts": Jsonb(documents), "actor": session.actor}
    for attempt in range(1, _TRIES + 1):
        try:
            with session.database.transaction():
                move_misnamed(session, scope, stands)
                rows = session.database.rows("facts", "upsert", params)
                outcomes = [FactOutcome(**row) for row in rows]
                if then is not None:
                    then(outcomes)
            return outcomes
        except NegmemError as error:
            if getattr(error, "sqlstate", "") not in _RETRIED or attempt == _TRIES:
                raise
            time.sleep(random.uniform(0.02, 0.1) * attempt)
    raise AssertionError("the last try raises")


@dataclass(frozen=True)
class Stands:
    """What stands under the keys of facts to be written: `rows`, and `known` values by type and key.

    `misnamed` are those in force that stand under another name of a profile's field, each with the field.
    """

    rows: list[dict[str, Any]]
    known: dict[tuple[str, str], list[Any]]
    misnamed: list[tuple[UUID, str]]


def standing(session: Session, scope: dict[str, Any], facts: Sequence[FactWrite]) -> Stands:
    """What stands under the keys of `facts`, those of a profile by all names of their field."""
    names = profile_names_of(session)
    wanted: dict[tuple[str, str], None] = {}
    for fact in facts:
        keys = names.keys_of(fact.key) if fact.type == PROFILE else [fact.key]
        wanted.update(((fact.type, key), None) for key in keys)
    params = {"types": [kind for kind, _ in wanted], "keys": [key for _, key in wanted]}
    found = Stands(session.database.rows("facts", "standing", {**scope, **params}), {}, [])
    for row in found.rows:
        key = names.field_of(row["key"]) if row["type"] == PROFILE else row["key"]
        found.known.setdefault((row["type"], key), []).append(row["value"])
        if key != row["key"] and row["is_current"]:
            found.misnamed.append((row["id"], key))
    return found


def move_misnamed(session: Session, scope: dict[str, Any], stands: Stands) -> None:
    """Move what stands under another name of a field to the field; inside of a transaction."""
    for fact_id, key in stands.misnamed:
        values = stands.known[PROFILE, key]
        move(session, scope, fact_id, key, values[0])


def in_known_words(session: Session, fact: FactWrite, stands: Stands) -> FactWrite:
    """The fact with a value that stands already, where it is only spelled in another way."""
    known = stands.known.setdefault((fact.type, fact.key), [])
    if fact.value in known:
        return fact
    kind = profile_names_of(session).kinds.get(fact.key)
    for value in known:
        same = same_field(value, fact.value, kind) if fact.type == PROFILE else False
        if same or same_value(value, fact.value):
            return replace(fact, value=value)
    known.append(fact.value)
    return fact


def prepared(session: Session, fact: FactWrite) -> FactWrite:
    """The fact as it may be stored: checked, and under the policy on personal data.

    Raises: UsageError `fact_invalid`, `name_invalid`, `moment_malformed`.
    """
    fact = _checked(fact)
    if fact.type == PROFILE:
        fact = replace(fact, key=profile_names_of(session).field_of(fact.key))
    screened = guard_of(session).screen(fact.key, fact.metadata, (fact.value,))
    return replace(fact, key=screened.text, value=screened.beside[0], metadata=screened.metadata)


def _checked(fact: FactWrite) -> FactWrite:
    check_name(fact.type, "type of fact")
    check_name(fact.key, "key of a fact")
    if len(fact.type) > MAX_TYPE_CHARACTERS:
        raise _invalid(
            f"the type has {len(fact.type)} characters, at most {MAX_TYPE_CHARACTERS} are stored"
        )
    if fact.origin not in ("manual", "extracted"):
        raise _invalid(f"its origin is {fact.origin[:40]!r}, neither manual nor extracted")
    if not 0 <= fact.confidence <= 1:
        raise _invalid(f"its confidence is {fact.confidence:g}, not in 0..1")
    starts = in_utc(fact.valid_from, "valid_from")
    ends = in_utc(fact.valid_until, "valid_until")
    if starts is not None and ends is not None and starts >= ends:
        raise _invalid(f"it ends at {ends.isoformat()}, not after its start {starts.isoformat()}")
    try:
        value, _ = clean_value(fact.value)
        metadata, _ = clean_value(dict(fact.metadata))
        key, _ = clean_text(fact.key)
    except TextRefusedError as error:
        raise _invalid(f"{error.reason}: {error.detail}") from None
    if (size := len(json.dumps(value, ensure_ascii=False))) > MAX_VALUE_CHARACTERS:
        raise _invalid(f"its value has {size:,} characters, at most {MAX_VALUE_CHARACTERS:,}")
    assert isinstance(metadata, dict)
    return replace(fact, key=key.strip(), value=value, metadata=metadata)


def _invalid(why: str) -> UsageError:
    return UsageError(
        "fact_invalid",
        "this can't be a fact",
        why=why,
        hint="negmem fact set profile city 北京 --user NAME",
    )


def document_of(fact: FactWrite) -> dict[str, Any]:
    """The fact as the SQL function `upsert_facts` takes it, without a vector."""

    def moment(value: datetime | None, name: str) -> str | None:
        found = in_utc(value, name)
        return None if found is None else found.isoformat()

    return {
        "type": fact.type,
        "key": fact.key,
        "value": fact.value,
        "confidence": fact.confidence,
        "origin": fact.origin,
        "valid_from": moment(fact.valid_from, "valid_from"),
        "valid_until": moment(fact.valid_until, "valid_until"),
        "occurred_at": moment(fact.occurred_at, "occurred_at"),
        "thread_id": None if fact.thread_id is None else str(fact.thread_id),
        "event_ids": [str(event) for event in fact.event_ids],
        "run_id": None if fact.run_id is None else str(fact.run_id),
        "extractor": fact.extractor,
        "model": fact.model,
        "metadata": dict(fact.metadata),
    }
