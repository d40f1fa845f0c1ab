"""Facts: what is known about a user by key, in versions, with both times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core import review_targets as targets
from negmem.core.fact_names import profile_names_of
from negmem.core.fact_writing import (
    FactWrite,
    document_of,
    in_known_words,
    move_misnamed,
    prepared,
    standing,
    write_facts,
)
from negmem.core.models.conflict import Conflict
from negmem.core.models.fact import (
    Fact,
    FactChange,
    FactHistory,
    FactList,
    FactOutcome,
    WrittenFact,
)
from negmem.core.on_trail import record_rectified
from negmem.core.pii import gated, gated_write
from negmem.core.review import reviewed
from negmem.core.session import Session
from negmem.core.text import profile_names
from negmem.core.text.ids import parsed_id
from negmem.core.text.moments import in_utc
from negmem.core.text.names import check_name, check_note
from negmem.core.text.pages import check_page
from negmem.errors import NegmemError, UsageError


@gated_write
@reviewed("profile", "update", targets.profile_key, when=targets.is_profile_type)
def set_fact(
    session: Session,
    user: str,
    fact_type: str,
    key: str,
    value: Any,
    *,
    confidence: float = 1.0,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    note: str | None = None,
    dry_run: bool = False,
) -> WrittenFact:
    """Set one fact by hand: it stands against what is extracted until it is set anew.

    Where a value stood it is a rectification: an entry on the trail, with `note` for why.
    Raises: as `write_facts`; UsageError `text_refused`.
    """
    if note is not None:
        check_note(note)
    fact = FactWrite(
        fact_type,
        key,
        value,
        confidence=confidence,
        origin="manual",
        valid_from=valid_from,
        valid_until=valid_until,
    )
    if dry_run:
        return _planned(session, user, prepared(session, fact))

    def put_right(outcomes: Sequence[FactOutcome]) -> None:
        one = outcomes[0]
        if one.action not in ("added", "unchanged"):
            stood = "" if one.previous_id is None else f", in place of {one.previous_id}"
            record_rectified(session, user, [str(one.id)], f"fact set{stood}", note)

    outcome = write_facts(session, user, [fact], then=put_right)[0]
    written = _stored(session, user, outcome.id)
    return WrittenFact(
        action=outcome.action,
        fact=written,
        previous=_stored(session, user, outcome.previous_id) if outcome.previous_id else None,
        conflict_id=outcome.conflict_id,
        embedded=written.embedded,
    )


def _planned(session: Session, user: str, fact: FactWrite) -> WrittenFact:
    """What `set_fact` would do: the very statement, rolled back."""
    scope = {"user_id": user, "app_name": session.app}
    outcome: FactOutcome | None = None
    previous: Fact | None = None
    try:
        with session.database.transaction():
            stands = standing(session, scope, [fact])
            fact = in_known_words(session, fact, stands)
            move_misnamed(session, scope, stands)
            params = {**scope, "facts": Jsonb([document_of(fact)]), "actor": session.actor}
            outcome = FactOutcome(**session.database.rows("facts", "upsert", params)[0])
            if outcome.previous_id is not None:
                previous = _stored(session, user, outcome.previous_id)
            raise _RolledBackError
    except _RolledBackError:
        assert outcome is not None
    return WrittenFact(
        action=outcome.action,
        fact=None,
        previous=previous,
        conflict_id=None,
        embedded=False,
        dry_run=True,
    )


class _RolledBackError(Exception):
    """Ends a transaction that only looked."""


def parse_id(text: str | UUID) -> UUID:
    """A fact's id. Raises: UsageError `id_malformed`."""
    return parsed_id(text, "fact", "negmem fact list --user NAME")


def owner_of(session: Session, ids: Sequence[UUID]) -> str:
    """The one user whose facts `ids` are. Raises: NegmemError `fact_unknown`, UsageError `user_missing`."""
    params = {"app_name": session.app, "ids": list(ids)}
    users = [row["user_id"] for row in session.database.rows("facts", "owners", params)]
    if not users:
        raise NegmemError(
            "fact_unknown",
            "there is no such fact",
            why=f'none of {len(ids)} ids is in app "{session.app}"',
            hint="negmem fact list --user NAME",
        )
    if len(users) > 1:
        raise UsageError(
            "user_missing",
            "these facts belong to several users",
            why=f"{len(users)} users own them",
            hint="name one with --user",
        )
    return str(users[0])


def _fetch(session: Session, user: str, ids: Sequence[UUID]) -> list[Fact]:
    params = {"user_id": user, "app_name": session.app, "ids": list(ids)}
    return [Fact(**row) for row in session.database.rows("facts", "show", params)]


def _stored(session: Session, user: str, fact_id: UUID) -> Fact:
    """One version of a fact, in force or not. Raises: NegmemError `fact_unknown`."""
    found = _fetch(session, user, [fact_id])
    if not found:
        raise NegmemError(
            "fact_unknown",
            "there is no such fact",
            why=f'user "{user}" of app "{session.app}" has no fact {fact_id}',
            hint=f"negmem fact list --user {user}",
        )
    return found[0]


show = gated(_stored)


@gated
def list_facts(
    session: Session,
    user: str,
    *,
    fact_type: str | None = None,
    key: str | None = None,
    thread: str | None = None,
    as_of: datetime | None = None,
    believed_at: datetime | None = None,
    removed: bool = False,
    limit: int = 20,
    offset: int = 0,
) -> FactList:
    """A page of what was true at `as_of`, by what was believed at `believed_at`; None means now.

    Of several values under one key the one that began last holds, beside those that were kept with
    it. `removed` lists those that were removed instead.
    Raises: UsageError `limit_invalid`, `name_invalid`, `moment_malformed`.
    """
    check_page(limit, offset, "negmem fact list --user NAME --limit 100")
    for name, what in ((fact_type, "type of fact"), (key, "key of a fact"), (thread, "thread")):
        if name is not None:
            check_name(name, what)
    session.knows_user(user)
    true_at, known_at = in_utc(as_of, "as_of"), in_utc(believed_at, "believed_at")
    params = {
        "user_id": user,
        "app_name": session.app,
        "fact_type": fact_type,
        "key": key,
        "names": _names(session, key),
        "thread": thread,
        "as_of": true_at,
        "believed_at": known_at,
        "row_limit": limit,
        "row_offset": offset,
    }
    if removed:
        del params["as_of"], params["believed_at"]
    rows = session.database.rows("facts", "removed" if removed else "list", params)
    total = int(rows[0]["total"]) if rows else 0
    found = _fetch(session, user, [row["id"] for row in rows])
    return FactList(
        facts=found,
        total=total,
        truncated=offset + len(found) < total,
        as_of=true_at,
        believed_at=known_at,
    )


def _names(session: Session, key: str | None) -> list[str] | None:
    """The names of the profile's field that a key is, itself among them."""
    return None if key is None else profile_names_of(session).keys_of(key)


def find_key(session: Session, user: str, key: str, fact_type: str | None = None) -> UUID:
    """The newest version under a key. Raises: NegmemError `fact_unknown`, UsageError `type_missing`."""
    params = {
        "user_id": user,
        "app_name": session.app,
        "key": check_name(key, "key of a fact"),
        "names": _names(session, key),
        "fact_type": fact_type,
    }
    rows = session.database.rows("facts", "by_key", params)
    if not rows:
        raise NegmemError(
            "fact_unknown",
            "there is no such fact",
            why=f'user "{user}" of app "{session.app}" has nothing under the key {key!r}',
            hint=f"negmem fact list --user {user}",
        )
    if len(rows) > 1:
        raise UsageError(
            "type_missing",
            "the key stands under several types",
            why=", ".join(row["type"] for row in rows),
            hint=f"name one with --type {rows[0]['type']}",
        )
    return UUID(str(rows[0]["id"]))


@gated
def history(session: Session, user: str, fact_id: UUID) -> FactHistory:
    """All versions under the key of one fact, oldest truth first, and the conflicts between them.

    Of a field of the profile also what was written under another of its names.

    Raises: NegmemError `fact_unknown`.
    """
    fact = _stored(session, user, fact_id)
    scope = {"user_id": user, "app_name": session.app}
    keys = (_names(session, fact.key) if fact.type == profile_names.PROFILE else None) or [fact.key]
    rows = session.database.rows("facts", "history", {**scope, "id": fact_id, "keys": keys})
    versions = _fetch(session, user, [row["id"] for row in rows])
    conflicts = session.database.rows(
        "conflicts", "of_facts", {**scope, "ids": [version.id for version in versions]}
    )
    return FactHistory(
        type=fact.type,
        key=fact.key,
        versions=versions,
        conflicts=[Conflict(**row) for row in conflicts],
    )


@reviewed("profile", "delete", targets.profile_facts, when=targets.is_profile)
def remove(
    session: Session,
    user: str,
    ids: Sequence[UUID],
    *,
    reason: str = "removed by hand",
    dry_run: bool = False,
) -> FactChange:
    """Soft-delete facts: out of every search at once, back with `restore` until the purge."""
    return _change(session, user, ids, "remove", {"reason": reason}, dry_run)


@reviewed("profile", "update", targets.profile_facts, when=targets.is_profile)
def restore(
    session: Session, user: str, ids: Sequence[UUID], *, dry_run: bool = False
) -> FactChange:
    """Bring soft-deleted facts back.

    Raises: NegmemError `fact_replaced` where another value stands under the key by now.
    """
    return _change(session, user, ids, "restore", {}, dry_run)


def _change(
    session: Session,
    user: str,
    ids: Sequence[UUID],
    action: str,
    extra: dict[str, Any],
    dry_run: bool,
) -> FactChange:
    """Plan from what stands, then act on what the plan says; one transaction."""
    scope = {"user_id": user, "app_name": session.app}
    wanted = list(dict.fromkeys(ids))
    database = session.database
    with database.transaction():
        if not dry_run:
            database.rows("facts", "lock", scope)
        found = {fact.id: fact for fact in _fetch(session, user, wanted)}
        is_restore = action == "restore"
        todo = [i for i in wanted if i in found and (found[i].deleted_at is not None) == is_restore]
        if is_restore:
            _refuse_replaced(session, scope, user, todo)
        if todo and not dry_run:
            block = "restore" if is_restore else "forget"
            params = {**scope, "ids": todo, "actor": session.actor, **extra}
            database.rows("facts", block, params)
    return FactChange(
        action=action,
        changed=todo,
        unchanged=[i for i in wanted if i in found and i not in todo],
        unknown=[i for i in wanted if i not in found],
        dry_run=dry_run,
    )


def _refuse_replaced(session: Session, scope: dict[str, Any], user: str, ids: list[UUID]) -> None:
    replaced = session.database.rows("facts", "replaced", {**scope, "ids": ids})
    if replaced:
        first = replaced[0]
        raise NegmemError(
            "fact_replaced",
            "another value stands under this key by now",
            why=f"{first['id']} was removed, and {first['type']} {first['key']} was set anew",
            hint=f"negmem fact history {first['key']} --type {first['type']} --user {user}",
        )
