"""Facts: what is known about a user by key, in versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.models.fact import FactOutcome
from negmem.core.session import Session
from negmem.core.text.moments import in_utc

FACT_TYPES = ("preference", "profile", "rule", "custom")


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


def write_facts(session: Session, user: str, facts: Sequence[FactWrite]) -> list[FactOutcome]:
    """Write facts by key, in the order given; one transaction, safe to repeat and to run at once.

    A changed value supersedes the version before, which stays; a value set by hand stands until it is
    changed by hand. The same value said again adds its sources. Returns one outcome a fact, in order.
    """
    documents = [_document(fact) for fact in facts]
    if not documents:
        return []
    params = {
        "user_id": user,
        "app_name": session.app,
        "facts": Jsonb(documents),
        "actor": session.actor,
    }
    with session.database.transaction():
        rows = session.database.rows("facts", "upsert", params)
    return [FactOutcome(**row) for row in rows]


def _document(fact: FactWrite) -> dict[str, Any]:
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
