"""Decisions about memories: kept, deleted or anonymized with what came from them, and put on the trail."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core import summaries
from negmem.core.learning.access import owner_of
from negmem.core.models.audit import (
    AuditEntry,
    AuditHistory,
    Decided,
    Decision,
    DecisionRecord,
    Reached,
)
from negmem.core.session import Session
from negmem.core.text.names import check_note
from negmem.core.text.refusals import being_erased, held
from negmem.errors import NegmemError, UsageError

MAX_DECISIONS = 10_000
MAX_ENTRIES = 1000
_SHOWN = 50
_MAX_KEY = 255


class _PlannedError(Exception):
    """Ends the transaction of a dry run."""


def decide(
    session: Session,
    user: str,
    decisions: Sequence[Decision],
    *,
    idempotency_key: str | None = None,
    actor: str | None = None,
    dry_run: bool = False,
) -> Decided:
    """Carry out decisions about one user's memories in one transaction, all of them or none.

    Facts, summaries, links and searches that came from a memory go its way; what others said too stays.
    Summaries that several memories went into are made anew afterwards from what is left. A dry run does
    the same and takes it back. What was decided so before is not decided again: its record is `replayed`.
    Raises: NegmemError `memory_unknown`, `memory_decided`, `version_conflict`, `idempotency_conflict`, `user_on_hold`,
    `user_being_erased`; UsageError `decision_repeated`, `decisions_missing`, `text_refused`.
    """
    _check(decisions, idempotency_key)
    items = [
        {
            "id": str(one.memory_id),
            "decision": one.decision,
            "expected_version": one.expected_version,
            "note": one.note,
        }
        for one in decisions
    ]
    canonical = json.dumps(sorted(items, key=lambda item: str(item["id"])), sort_keys=True)
    named = actor or session.config.governance.actor
    params = {
        "user_id": user,
        "app_name": session.app,
        "items": Jsonb(items),
        "idempotency_key": idempotency_key,
        "request_hash": hashlib.sha256(canonical.encode()).digest(),
        "actor": actor or session.actor,
        "actor_verified": bool(named),
    }
    answer: dict[str, Any] = {}
    try:
        with session.database.transaction():
            row = session.database.row("audit", "decide", params)
            assert row is not None
            answer = row["answer"]
            _refuse(session, user, decisions, idempotency_key, answer)
            if dry_run:
                raise _PlannedError
    except _PlannedError:
        pass
    reach = [Reached(table=name, rows=rows) for name, rows in sorted(answer["reach"].items())]
    rebuilt = 0
    if not dry_run and answer["reach"].get("memory_summaries"):
        rebuilt = _rebuild(session, user)
    return Decided(
        user=user,
        records=[
            DecisionRecord(
                memory_id=one["id"],
                decision=one["decision"],
                version=one["version"],
                at=one["at"],
                by=one["by"],
                replayed=one["replayed"],
            )
            for one in answer["records"] or []
        ],
        reach=[one for one in reach if one.rows],
        summaries_rebuilt=rebuilt,
        dry_run=dry_run,
    )


def _rebuild(session: Session, user: str) -> int:
    try:
        done = summaries.refresh_changed(session, user)
    except NegmemError as error:
        session.warn(
            "summaries_not_rebuilt",
            f"summaries were removed and not made anew: {error.message}; negmem summary refresh --user {user}",
        )
        return 0
    return sum(1 for one in done if one.action == "written")


def _check(decisions: Sequence[Decision], key: str | None) -> None:
    if not 1 <= len(decisions) <= MAX_DECISIONS:
        raise UsageError(
            "decisions_missing",
            "this is no set of decisions",
            why=f"from 1 to {MAX_DECISIONS:,} at once, got {len(decisions):,}",
            hint="negmem audit retain ID --user NAME",
        )
    seen: set[UUID] = set()
    for one in decisions:
        if one.memory_id in seen:
            raise UsageError(
                "decision_repeated",
                "one memory is decided of twice",
                why=f"{one.memory_id} stands there more than once",
                hint="leave one of them out",
            )
        seen.add(one.memory_id)
    if key is not None:
        check_note(key, "the idempotency key", _MAX_KEY)
    for one in decisions:
        if one.note is not None:
            check_note(one.note, "a note")


def _refuse(
    session: Session,
    user: str,
    decisions: Sequence[Decision],
    key: str | None,
    answer: dict[str, Any],
) -> None:
    """Raise for what stands against it: the transaction rolls back."""
    if answer.get("erasing"):
        raise being_erased(user)
    if answer.get("held"):
        raise held(user)
    if answer.get("mismatch"):
        raise NegmemError(
            "idempotency_conflict",
            "the idempotency key stands for another set of decisions; nothing was done",
            why=f"{key!r} was used for user {user!r} with other ids, decisions, versions or notes",
            hint="another key, or the same set",
        )
    places = {str(one.memory_id): place for place, one in enumerate(decisions, 1)}
    if unknown := answer.get("unknown"):
        listed = "; ".join(f"item {places[one]}: {one}" for one in unknown[:_SHOWN])
        raise NegmemError(
            "memory_unknown",
            f"{len(unknown):,} of {len(decisions):,} memories are unknown; nothing was done",
            why=f'not of user "{user}" in app "{session.app}": {listed}'
            + (f"; and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else ""),
            hint=f"negmem memory list --user {user}",
        )
    if decided := answer.get("decided"):
        listed = "; ".join(
            f"item {places[one['id']]}: {one['id']}: {_told(one)}" for one in decided[:_SHOWN]
        )
        raise NegmemError(
            "memory_decided",
            f"{len(decided):,} of {len(decisions):,} memories are gone by another decision; nothing was done",
            why=listed + (f"; and {len(decided) - _SHOWN:,} more" if len(decided) > _SHOWN else ""),
            hint=f"negmem audit history --user {user} --memory {decided[0]['id']}",
        )
    if conflicts := answer.get("conflicts"):
        listed = "; ".join(
            f"item {places[one['id']]}: {one['id']} has version {one['found']}, expected {one['expected']}"
            + (f": {_told(one)}" if one["found"] else "")
            for one in conflicts[:_SHOWN]
        )
        raise NegmemError(
            "version_conflict",
            "somebody else decided meanwhile; nothing was done",
            why=listed,
            hint=f"negmem audit history --user {user}",
        )


def _told(entry: dict[str, Any]) -> str:
    """An entry of the trail in words."""
    return f"{entry['decision']} on {entry['at']} UTC by {entry.get('by') or 'somebody'}"


def history(
    session: Session,
    user: str | None,
    *,
    namespace: str | None = None,
    memory_id: UUID | None = None,
    before: int | None = None,
    limit: int = 100,
) -> AuditHistory:
    """A page of one person's entries on the trail, the newest first; `before` is a sequence number.

    With `namespace` those of a store that is shared instead: what `pii fix` rewrote there.
    Raises: UsageError `limit_invalid`, `name_invalid`, `user_missing`.
    """
    owner = owner_of(user, namespace or "user")
    if not 1 <= limit <= MAX_ENTRIES:
        raise UsageError(
            "limit_invalid",
            "no page of the trail is that long",
            why=f"--limit goes from 1 to {MAX_ENTRIES:,}, got {limit:,}",
            hint="--limit 100",
        )
    scope = {"user_id": owner.on_trail, "app_name": session.app}
    if owner.kind == "user" and session.database.row("memory", "user_known", scope) is None:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    params = {
        **scope,
        "memory_id": None if memory_id is None else str(memory_id),
        "before": before,
        "row_limit": limit + 1,
    }
    entries = [AuditEntry(**row) for row in session.database.rows("audit", "history", params)]
    page = entries[:limit]
    return AuditHistory(
        user=owner.on_trail, entries=page, next=page[-1].sequence if len(entries) > limit else None
    )
