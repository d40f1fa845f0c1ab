"""Proactive recall: what a new session should know of a user before it asks for anything.

Core blocks, then the memories and facts that rank highest, within a budget of tokens. The answer is cached
a user; the cache holds until its time is over or anything it rests on changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

import negmem
from negmem.core.formulas.budget import Group, Item, Packed, Section, pack
from negmem.core.models.context import ContextTokenizer, LeftOut
from negmem.core.models.recall import CacheState, Recall, RecallCache, RecallItem
from negmem.core.pii import gated, guard_of
from negmem.core.retrieval.packing import plain_words
from negmem.core.session import Session
from negmem.core.text.labelled import date_part, labelled, short_id
from negmem.core.text.verifiable import to_verify
from negmem.db.failures import DatabaseError
from negmem.db.searches import recording_is_refused
from negmem.errors import UsageError
from negmem.providers.tokens import TokenCounter, counter_for

MAX_TOKENS = 2_000_000
CORE_SHARE = 0.3
_KINDS = ("core", "memory", "fact")
_CHANGED = {
    "memories": "memories were added, removed or restored",
    "facts": "facts have changed",
    "core": "core blocks have changed",
    "config": "the stored config has changed",
}
_MAX_CHARS_PER_TOKEN = 64


@gated
def recall(
    session: Session,
    user: str,
    *,
    max_tokens: int | None = None,
    refresh: bool = False,
    record: bool = True,
    counter: TokenCounter | None = None,
) -> Recall:
    """What a new session should know of a user.

    Args: max_tokens, of the whole, by default `retrieval.recall_tokens`; refresh, do not use the cache;
    record, log what was shown, so that feedback can name it. No access is counted: nobody asked.
    Raises: UsageError `budget_invalid`; NegmemError of the database.
    """
    config = session.config.retrieval
    total = config.recall_tokens if max_tokens is None else max_tokens
    if not 1 <= total <= MAX_TOKENS:
        raise UsageError(
            "budget_invalid",
            "no recall has such a budget",
            why=f"--max-tokens goes from 1 to {MAX_TOKENS:,}, got {total:,}",
            hint="--max-tokens 2000",
        )
    counter = counter or counter_for(session.config.llm.model)
    scope = {"user_id": user, "app_name": session.app}
    made_by = {"max_tokens": total, "tokenizer": counter.name, "version": negmem.__version__}
    row = session.database.row("recall", "cached", scope)
    assert row is not None
    if not row["user_known"]:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    state, reason = _state(row, made_by, is_off=config.recall_ttl_s == 0, refresh=refresh)
    if state == "hit":
        answer = _cached(row, total, counter)
    else:
        answer = _make(session, scope, total, counter, made_by, state, reason)
    if counter.notice is not None:
        session.warn("tokens_not_exact", counter.notice)
    seen = guard_of(session).leave_out(user, answer.items, lambda item: item.id)
    if len(seen) < len(answer.items):
        text = "\n".join(item.text for item in seen)
        answer = answer.model_copy(
            update={"items": seen, "text": text, "tokens": counter.count(text)}
        )
    if record and row["user_known"] and answer.items:
        return answer.model_copy(update={"retrieval_id": _record(session, scope, answer)})
    return answer


def _state(
    row: dict[str, Any], made_by: dict[str, Any], *, is_off: bool, refresh: bool
) -> tuple[CacheState, str | None]:
    """Whether the cache holds, and if not, why."""
    if is_off:
        return "off", "retrieval.recall_ttl_s is 0"
    if refresh:
        return "refreshed", None
    if not row["is_cached"]:
        return "miss", None
    changed = [
        said
        for part, said in _CHANGED.items()
        if row["basis"].get(part) != row["basis_now"].get(part)
    ]
    if row["details"].get("made_by") != made_by:
        changed.append("it was made by other settings")
    if not row["is_unedited"]:
        changed.append("a memory that it shows was edited")
    if changed:
        return "stale", "; ".join(changed)
    return ("hit", None) if row["is_fresh"] else ("expired", None)


def _cached(row: dict[str, Any], total: int, counter: TokenCounter) -> Recall:
    details = row["details"]
    return Recall(
        text=row["text"],
        tokens=row["tokens"],
        max_tokens=total,
        tokenizer=ContextTokenizer(name=counter.name, is_exact=counter.is_exact),
        items=[RecallItem.model_validate(item) for item in details["items"]],
        left_out=[LeftOut.model_validate(item) for item in details["left_out"]],
        cache=RecallCache(
            state="hit",
            reason=None,
            made_at=row["made_at"],
            expires_at=row["expires_at"],
            age_s=round((row["now"] - row["made_at"]).total_seconds(), 3),
            is_kept=True,
        ),
        retrieval_id=None,
    )


def _make(
    session: Session,
    scope: dict[str, Any],
    total: int,
    counter: TokenCounter,
    made_by: dict[str, Any],
    state: CacheState,
    reason: str | None,
) -> Recall:
    """A new recall, kept for the next one where that can be."""
    # The basis is read before the candidates: what changes between the two makes the cache stale.
    before = session.database.row("recall", "basis", scope)
    assert before is not None
    rows = session.database.rows("recall", "candidates", scope)
    repeated = _repeated(rows)
    packed = _packed([r for r in rows if r["id"] not in repeated], total, counter)
    items, left_out = _items(rows, packed, counter, repeated)
    kept: dict[str, Any] | None = None
    if state != "off":
        shown = {item.id for item in items}
        until = min(
            (r["valid_until"] for r in rows if r["valid_until"] and r["id"] in shown), default=None
        )
        details = {
            "made_by": made_by,
            "items": [item.model_dump(mode="json") for item in items],
            "left_out": [item.model_dump(mode="json") for item in left_out],
            "versions": {str(r["id"]): r["version"] for r in rows if r["id"] in shown},
        }
        kept = _keep(session, scope, packed, items, before["basis"], details, until)
    return Recall(
        text=packed.text,
        tokens=packed.tokens,
        max_tokens=total,
        tokenizer=ContextTokenizer(name=counter.name, is_exact=counter.is_exact),
        items=items,
        left_out=left_out,
        cache=RecallCache(
            state=state,
            reason=reason,
            made_at=kept["made_at"] if kept else before["now"],
            expires_at=kept["expires_at"] if kept else None,
            age_s=0.0,
            is_kept=kept is not None,
        ),
        retrieval_id=None,
    )


def _repeated(rows: Sequence[dict[str, Any]]) -> set[UUID]:
    """The rows that say what one before them says, in the same words; of a long text nobody knows here."""
    seen: set[str] = set()
    found = set()
    for row in rows:
        if row["is_cut"]:
            continue
        words = plain_words(row["content"])
        if words in seen:
            found.add(row["id"])
        seen.add(words)
    return found


def _packed(rows: Sequence[dict[str, Any]], total: int, counter: TokenCounter) -> Packed:
    longest = _MAX_CHARS_PER_TOKEN * total + 1

    def items(kind: str) -> list[Item]:
        return [Item(str(r["id"]), _text(r)[:longest]) for r in rows if r["kind"] == kind]

    def fit(text: str, limit: int) -> str:
        return counter.fit(text, limit)[0]

    sections = [
        Section("core", items("core"), limit=int(CORE_SHARE * total)),
        Section("memory", items("memory")),
        Section("fact", items("fact")),
    ]
    return pack([Group(total, sections)], total, _KINDS, counter.count, fit)


def _text(row: dict[str, Any]) -> str:
    kind, said = row["kind"], row["content"]
    if kind == "core":
        return labelled(f"CoreBlock:{row['label']}", said)
    label = (
        f"{kind.capitalize()} {short_id(row['id'])} | {row['label']}{date_part(row['occurred_at'])}"
    )
    return labelled(label, said.rstrip() + ("…" if row["is_cut"] else ""), verify=_verify(row))


def _verify(row: dict[str, Any]) -> list[str]:
    return to_verify(row["content"], row["metadata"]) if row["kind"] == "memory" else []


def _items(
    rows: Sequence[dict[str, Any]], packed: Packed, counter: TokenCounter, repeated: set[UUID]
) -> tuple[list[RecallItem], list[LeftOut]]:
    by_id = {str(row["id"]): row for row in rows}
    items = [
        RecallItem(
            id=by_id[taken.id]["id"],
            kind=kind,
            type=by_id[taken.id]["label"],
            text=taken.text,
            tokens=taken.tokens,
            score=by_id[taken.id]["score"],
            is_cut=taken.is_cut or by_id[taken.id]["is_cut"],
            occurred_at=by_id[taken.id]["occurred_at"],
            verify=_verify(by_id[taken.id]),
        )
        for kind in _KINDS
        for taken in packed.sections[kind]
    ]
    inside = {item.id for item in items}
    left_out = [
        LeftOut(
            id=row["id"],
            section=row["kind"],
            reason="repeated" if row["id"] in repeated else "budget",
            tokens=counter.count(_text(row)),
        )
        for row in rows
        if row["id"] not in inside
    ]
    return items, left_out


def _keep(
    session: Session,
    scope: dict[str, Any],
    packed: Packed,
    items: Sequence[RecallItem],
    basis: dict[str, Any],
    details: dict[str, Any],
    until: datetime | None,
) -> dict[str, Any] | None:
    """Store the recall; None for an unknown user and, with a warning, where writing is refused."""
    facts = session.database.facts
    if facts.in_recovery or facts.read_only:
        session.warn("recall_not_cached", "the recall was not cached: the server takes no writes")
        return None
    params = {
        **scope,
        "text": packed.text,
        "memory_ids": [item.id for item in items if item.kind == "memory"],
        "fact_ids": [item.id for item in items if item.kind == "fact"],
        "tokens": packed.tokens,
        "basis": Jsonb(basis),
        "details": Jsonb(details),
        "lifetime_s": session.config.retrieval.recall_ttl_s,
        "until": until,
    }
    try:
        with session.database.transaction():
            return session.database.row("recall", "keep", params)
    except DatabaseError as error:
        if not recording_is_refused(error):
            raise
        session.warn("recall_not_cached", f"the recall was not cached: {error.why}")
        return None


def _record(session: Session, scope: dict[str, Any], answer: Recall) -> UUID | None:
    """Log what was shown; None, with a warning, where that is refused."""
    facts = session.database.facts
    if facts.in_recovery or facts.read_only:
        session.warn(
            "retrieval_not_recorded", "the recall was not recorded: the server takes no writes"
        )
        return None
    shown = [item for item in answer.items if item.kind != "core"]
    params = {
        **scope,
        "memory_ids": [item.id for item in shown if item.kind == "memory"],
        "fact_ids": [item.id for item in shown if item.kind == "fact"],
        "items": Jsonb(
            [
                {"kind": item.kind, "id": str(item.id), "rank": rank, "score": item.score}
                for rank, item in enumerate(shown, 1)
            ]
        ),
        "budget_tokens": answer.max_tokens,
        "used_tokens": answer.tokens,
    }
    try:
        with session.database.transaction():
            row = session.database.row("recall", "record", params)
    except DatabaseError as error:
        if not recording_is_refused(error):
            raise
        session.warn("retrieval_not_recorded", f"the recall was not recorded: {error.why}")
        return None
    return None if row is None else row["retrieval_id"]
