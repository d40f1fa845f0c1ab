"""Conflicts between facts: listed, decided by hand, taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.embedding import embed_texts
from negmem.core.models.conflict import RESOLUTIONS, Conflict, ConflictList, ConflictResolved
from negmem.core.pii import gated, gated_write
from negmem.core.review import refuse_past_review
from negmem.core.session import Session
from negmem.core.text.fact_words import fact_text
from negmem.core.text.ids import parsed_id
from negmem.core.text.pages import check_page
from negmem.core.text.profile_names import PROFILE
from negmem.errors import NegmemError, UsageError

STATUSES = ("open", "resolved")
DETECTORS = ("key_collision", "embedding", "model")


def parse_id(text: str | UUID) -> UUID:
    """A conflict's id. Raises: UsageError `id_malformed`."""
    return parsed_id(text, "conflict", "negmem conflict list --user NAME")


def owner_of(session: Session, conflict_id: UUID) -> str:
    """Whose conflict it is. Raises: NegmemError `conflict_unknown`, UsageError `user_missing`."""
    params = {"app_name": session.app, "ids": [conflict_id]}
    users = [row["user_id"] for row in session.database.rows("conflicts", "owners", params)]
    if len(users) > 1:
        raise UsageError(
            "user_missing",
            "several users have a conflict with this id",
            why=f"{len(users)} of them",
            hint="name one with --user",
        )
    if not users:
        raise _unknown(f'app "{session.app}"', conflict_id, "NAME")
    return str(users[0])


def _unknown(where: str, conflict_id: UUID, user: str) -> NegmemError:
    return NegmemError(
        "conflict_unknown",
        "there is no such conflict",
        why=f"{where} has no conflict {conflict_id}",
        hint=f"negmem conflict list --user {user}",
    )


def _fetch(session: Session, user: str, ids: Sequence[UUID]) -> list[Conflict]:
    params = {"user_id": user, "app_name": session.app, "ids": list(ids)}
    return [Conflict(**row) for row in session.database.rows("conflicts", "show", params)]


def _stored(session: Session, user: str, conflict_id: UUID) -> Conflict:
    """One conflict with both sides as they stand now. Raises: NegmemError `conflict_unknown`."""
    found = _fetch(session, user, [conflict_id])
    if not found:
        raise _unknown(f'user "{user}" of app "{session.app}"', conflict_id, user)
    return found[0]


show = gated(_stored)


@gated
def list_conflicts(
    session: Session,
    user: str,
    *,
    status: str | None = None,
    detected_by: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> ConflictList:
    """A page of conflicts, the newest first. Raises: UsageError `limit_invalid`, `conflict_filter_unknown`."""
    for given, known, flag in (
        (status, STATUSES, "--status"),
        (detected_by, DETECTORS, "--detected-by"),
    ):
        if given is not None and given not in known:
            raise UsageError(
                "conflict_filter_unknown",
                f"no conflict is {given[:40]!r}",
                why=f"{flag} takes {', '.join(known)}",
                hint=f"{flag} {known[0]}",
            )
    check_page(limit, offset, "negmem conflict list --user NAME --limit 100")
    scope = {"user_id": user, "app_name": session.app}
    session.knows_user(user)
    rows = session.database.rows(
        "conflicts",
        "list",
        {
            **scope,
            "status": status,
            "detected_by": detected_by,
            "row_limit": limit,
            "row_offset": offset,
        },
    )
    total = int(rows[0]["total"]) if rows else 0
    found = _fetch(session, user, [row["id"] for row in rows])
    waiting = session.database.row("conflicts", "open_count", scope)
    return ConflictList(
        conflicts=found,
        total=total,
        open=int(waiting["open"]) if waiting else 0,
        truncated=offset + len(found) < total,
    )


@gated_write
def resolve(
    session: Session, user: str, conflict_id: UUID, resolution: str, *, dry_run: bool = False
) -> ConflictResolved:
    """Decide a conflict: supersede or keep_new, keep_old, keep_both, merge. `undo` takes it back.

    A merge makes one fact of both values: objects are united, values that differ stand side by side.
    Raises: UsageError `resolution_unknown`; NegmemError `conflict_unknown`, `conflict_incomplete`,
    `conflict_outdated`, `review_required` for a profile whose writes wait for a person.
    """
    if resolution not in RESOLUTIONS:
        raise UsageError(
            "resolution_unknown",
            f"{resolution[:40]!r} decides no conflict",
            why=f"the resolutions are {', '.join(RESOLUTIONS)}",
            hint=f"negmem conflict resolve {conflict_id} keep_old",
        )
    conflict = _stored(session, user, conflict_id)
    _refuse_past_review(session, user, conflict)
    params: dict[str, Any] = {
        "user_id": user,
        "app_name": session.app,
        "id": conflict_id,
        "resolution": resolution,
        "actor": session.actor,
        "value": None,
        "model_id": None,
        "embedding": None,
    }
    if resolution == "merge" and conflict.old is not None and conflict.new is not None:
        value = merged_value(conflict.old.value, conflict.new.value)
        params["value"] = Jsonb(value)
        vectors = None
        if not dry_run:
            vectors = embed_texts(session, [fact_text(conflict.old.key, value)])
        if vectors is not None and vectors.vectors[0] is not None:
            params["model_id"] = vectors.model_id
            params["embedding"] = "[" + ",".join(map(repr, vectors.vectors[0])) + "]"
    return _act(session, user, conflict_id, "resolve", params, dry_run)


@gated_write
def undo(
    session: Session, user: str, conflict_id: UUID, *, dry_run: bool = False
) -> ConflictResolved:
    """Take the last decision about a conflict back: both facts stand as before it.

    Raises: NegmemError `conflict_unknown`, `conflict_not_decided`, `conflict_outdated`, `review_required`.
    """
    _refuse_past_review(session, user, _stored(session, user, conflict_id))
    params = {
        "user_id": user,
        "app_name": session.app,
        "id": conflict_id,
        "actor": session.actor,
    }
    return _act(session, user, conflict_id, "undo", params, dry_run)


def _refuse_past_review(session: Session, user: str, conflict: Conflict) -> None:
    """A decision says which value of a profile holds: where that waits for a person, by a proposal alone."""
    for side in (conflict.old, conflict.new):
        if side is not None and side.type == PROFILE:
            hint = f"negmem profile set {side.key} VALUE --user {user}"
            refuse_past_review(session, "profile", hint)


def _act(
    session: Session,
    user: str,
    conflict_id: UUID,
    block: str,
    params: dict[str, Any],
    dry_run: bool,
) -> ConflictResolved:
    conflict: Conflict | None = None
    try:
        with session.database.transaction():
            row = session.database.row("conflicts", block, params)
            assert row is not None
            _refuse(str(row["outcome"]), conflict_id, user)
            conflict = _stored(session, user, conflict_id)
            if dry_run:
                raise _RolledBackError
    except _RolledBackError:
        assert conflict is not None
    return ConflictResolved(action=block, conflict=conflict, dry_run=dry_run)


class _RolledBackError(Exception):
    """Ends a transaction that only looked."""


def _refuse(outcome: str, conflict_id: UUID, user: str) -> None:
    if outcome == "unknown":
        raise _unknown(f'user "{user}"', conflict_id, user)
    if outcome == "incomplete":
        raise NegmemError(
            "conflict_incomplete",
            "one of the two facts is no longer there",
            why="it was removed or erased",
            hint=f"negmem conflict show {conflict_id}    then negmem fact restore ID",
        )
    if outcome == "nothing":
        raise NegmemError(
            "conflict_not_decided",
            "there is no decision to take back",
            why="nobody decided this conflict by hand",
            hint=f"negmem conflict resolve {conflict_id} keep_old",
        )
    if outcome == "outdated":
        raise NegmemError(
            "conflict_outdated",
            "the facts have moved on",
            why="another value stands under this key by now, or one of the facts was changed since",
            hint=f"negmem conflict show {conflict_id}    then negmem fact set TYPE KEY VALUE",
        )


def merged_value(old: Any, new: Any) -> Any:
    """Both values in one: objects united by key, lists joined, values that differ side by side."""
    if old == new:
        return old
    if isinstance(old, dict) and isinstance(new, dict):
        return {
            key: _beside(key, old[key], new[key])
            if key in old and key in new
            else old.get(key, new.get(key))
            for key in (*old, *(key for key in new if key not in old))
        }
    return _listed(old) + [item for item in _listed(new) if item not in _listed(old)]


def _beside(key: str, old: Any, new: Any) -> Any:
    if key == "text" and isinstance(old, str) and isinstance(new, str) and old != new:
        return f"{old}; {new}"  # what is shown and searched stays a text
    return merged_value(old, new)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
