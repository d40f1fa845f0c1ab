"""Single memories: add, show, list, edit, remove, restore, pin."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core import reflected
from negmem.core import review_targets as targets
from negmem.core.memory_texts import (
    cleaned,
    cleaned_metadata,
    put_vector,
    refresh,
    vector_of,
)
from negmem.core.models.memory import (
    MEMORY_TYPES,
    AddedMemory,
    Memory,
    MemoryChange,
    MemoryList,
)
from negmem.core.on_trail import record_rectified
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.review import reviewed
from negmem.core.session import Session
from negmem.core.text.ids import parsed_id
from negmem.core.text.indexed import embedded_text
from negmem.core.text.moments import in_utc, said_at
from negmem.core.text.names import check_name, check_note
from negmem.core.text.pages import check_page
from negmem.db.memories import mark_memories
from negmem.errors import NegmemError, UsageError

_TAIL = re.compile(r"…?[0-9a-f]{8}\Z")


def _scope(session: Session, user: str) -> dict[str, Any]:
    return {"user_id": user, "app_name": session.app}


def parse_id(text: str | UUID) -> UUID:
    """A memory's id. Raises: UsageError `id_malformed`."""
    why = "an id is a UUID such as 9f2c1d4e-…"
    if _TAIL.match(str(text)):
        why += "; this is the end of one, as contexts show it"
    return parsed_id(text, "memory", "negmem memory list --user NAME", why)


def check_type(memory_type: str) -> str:
    """One of the six types. Raises: UsageError `memory_type_unknown`."""
    if memory_type not in MEMORY_TYPES:
        raise UsageError(
            "memory_type_unknown",
            f"{memory_type[:60]!r} is no type of memory",
            why=f"the types are {', '.join(MEMORY_TYPES)}",
            hint="--type episodic",
        )
    return memory_type


def _said(arguments: Mapping[str, Any]) -> list[str]:
    text = arguments.get("content")
    return [text] if isinstance(text, str) else []


def owner_of(session: Session, ids: Sequence[UUID]) -> str:
    """The one user whose memories `ids` are, for commands that name no user.

    Raises: NegmemError `memory_unknown`, UsageError `user_missing` when they belong to several.
    """
    params = {"app_name": session.app, "ids": list(ids)}
    users = [row["user_id"] for row in session.database.rows("memory", "owners", params)]
    if not users:
        raise NegmemError(
            "memory_unknown",
            "there is no such memory",
            why=f'none of {len(ids)} ids is in app "{session.app}"',
            hint="negmem memory list --user NAME",
        )
    if len(users) > 1:
        raise UsageError(
            "user_missing",
            "these memories belong to several users",
            why=f"{len(users)} users own them",
            hint="name one with --user",
        )
    return str(users[0])


@gated_write
@reviewed("memory", "add", targets.memories, texts=_said, when=targets.is_observation)
def add(
    session: Session,
    user: str,
    content: str,
    *,
    memory_type: str = "episodic",
    thread: str | None = None,
    metadata: dict[str, Any] | None = None,
    occurred_at: datetime | None = None,
    memory_id: UUID | None = None,
    dry_run: bool = False,
) -> AddedMemory:
    """Store one memory, searchable at once.

    The text is embedded before the transaction opens; where it can't be, the memory is stored without a
    vector and the answer says so. With `memory_id` a repeat stores nothing twice.
    Raises: UsageError `text_refused`, `memory_type_unknown`, `name_invalid`, `moment_malformed`.
    """
    check_type(memory_type)
    moment = said_at(occurred_at, "occurred_at")
    if thread is not None:
        check_name(thread, "thread")
    text, replaced = cleaned(content)
    clean_metadata, _ = cleaned_metadata(metadata or {})
    screened = guard_of(session).screen(text, clean_metadata)
    text, clean_metadata = screened.text, screened.metadata
    vector = (
        None if dry_run else vector_of(session, embedded_text(clean_metadata.get("speaker"), text))
    )
    if dry_run:
        return AddedMemory(memory=None, embedded=False, replaced_characters=replaced, dry_run=True)
    new_id = memory_id or uuid.uuid4()
    scope = _scope(session, user)
    database = session.database
    with database.transaction():
        database.execute("memory", "add_user", scope)
        thread_id = None
        if thread is not None:
            opened = database.row("memory", "open_thread", {**scope, "thread": thread})
            thread_id = opened["id"] if opened else None
        added = database.row(
            "memory",
            "add",
            {
                **scope,
                "id": new_id,
                "thread_id": thread_id,
                "memory_type": memory_type,
                "content": text,
                "metadata": Jsonb({"source": "manual", **clean_metadata}),
                "occurred_at": moment,
            },
        )
        if added is not None:
            mark_memories(database, session.app, {new_id: screened.marks}, {new_id: user})
            put_vector(session, scope, new_id, vector)
            refresh(session, scope, [new_id])
    return AddedMemory(
        memory=_stored(session, user, new_id),
        embedded=vector is not None,
        replaced_characters=replaced,
    )


@gated
def show(session: Session, user: str, memory_id: UUID) -> Memory:
    """One memory of one user, deleted or not. Raises: NegmemError `memory_unknown`, `pii_withheld`."""
    return _stored(session, user, memory_id)


def _stored(session: Session, user: str, memory_id: UUID) -> Memory:
    """The memory as it stands, whoever asks: for writers, and for what is gated later."""
    found = _fetch(session, user, [memory_id])
    if not found:
        raise NegmemError(
            "memory_unknown",
            "there is no such memory",
            why=f'user "{user}" of app "{session.app}" has no memory {memory_id}',
            hint=f"negmem memory list --user {user}",
        )
    return found[0]


def _fetch(session: Session, user: str, ids: Sequence[UUID]) -> list[Memory]:
    params = {**_scope(session, user), "ids": list(ids)}
    return [Memory(**row) for row in session.database.rows("memory", "show", params)]


@gated
def list_memories(
    session: Session,
    user: str,
    *,
    memory_type: str | None = None,
    thread: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    where: Mapping[str, Any] | None = None,
    deleted: bool = False,
    pinned: bool = False,
    newest_first: bool = True,
    limit: int = 20,
    offset: int = 0,
) -> MemoryList:
    """A page of one user's memories, by when they were said; `where` is metadata that must be there.

    Raises: UsageError `limit_invalid`, `memory_type_unknown`, `name_invalid`, `moment_malformed`.
    """
    if memory_type is not None:
        check_type(memory_type)
    if thread is not None:
        check_name(thread, "thread")
    check_page(limit, offset, "negmem memory list --user NAME --limit 100")
    session.knows_user(user)
    params = {
        **_scope(session, user),
        "memory_type": memory_type,
        "thread": thread,
        "since": in_utc(since, "since"),
        "until": in_utc(until, "until"),
        "metadata": Jsonb(dict(where)) if where else None,
        "deleted": deleted,
        "pinned": pinned,
        "newest_first": newest_first,
        "row_limit": limit,
        "row_offset": offset,
    }
    rows = session.database.rows("memory", "list", params)
    total = int(rows[0]["total"]) if rows else 0
    memories = _fetch(session, user, [row["id"] for row in rows])
    return MemoryList(memories=memories, total=total, truncated=offset + len(memories) < total)


@gated_write
@reviewed("memory", "update", targets.memories, texts=_said, when=targets.is_observation)
def edit(
    session: Session,
    user: str,
    memory_id: UUID,
    *,
    content: str | None = None,
    memory_type: str | None = None,
    metadata: dict[str, Any] | None = None,
    expected_version: int | None = None,
    note: str | None = None,
    dry_run: bool = False,
) -> Memory:
    """Change a memory; what it said before is kept, and search follows.

    `metadata` is merged over the stored one; a value of None takes its key out. By hand it is a
    rectification: an entry on the trail, with `note` for why.
    Raises: NegmemError `memory_unknown`, `memory_deleted`, `version_conflict`; UsageError `text_refused`.
    """
    if note is not None:
        check_note(note)
    before = _stored(session, user, memory_id)
    if before.deleted_at is not None:
        raise _deleted(memory_id)
    if memory_type is not None:
        check_type(memory_type)
    text = before.content if content is None else cleaned(content)[0]
    changes, _ = cleaned_metadata(metadata or {})
    merged = {**(before.metadata or {}), **changes}
    merged = {key: value for key, value in merged.items() if value is not None}
    screened = guard_of(session).screen_again(text, merged, before.content, before.metadata or {})
    text, merged = screened.text, screened.metadata
    new_type = memory_type or before.type
    if (text, new_type, merged) == (before.content, before.type, before.metadata or {}):
        return before
    if dry_run:
        return before.model_copy(update={"content": text, "type": new_type, "metadata": merged})
    old_index_text = embedded_text((before.metadata or {}).get("speaker"), before.content)
    new_index_text = embedded_text(merged.get("speaker"), text)
    vector = None if new_index_text == old_index_text else vector_of(session, new_index_text)
    scope = _scope(session, user)
    database = session.database
    with database.transaction():
        row = database.row("memory", "lock", {**scope, "id": memory_id})
        if row is None or row["is_deleted"]:
            raise _deleted(memory_id)
        wanted = before.version if expected_version is None else expected_version
        if row["version"] != wanted:
            raise NegmemError(
                "version_conflict",
                "somebody changed this memory meanwhile",
                why=f"version {wanted} was expected, it is {row['version']}",
                hint=f"negmem memory show {memory_id} --user {user}",
            )
        database.execute(
            "memory",
            "keep_version",
            {
                **scope,
                "id": memory_id,
                "version": row["version"],
                "before": Jsonb(
                    {
                        "content": row["content"],
                        "type": row["type"],
                        "metadata": row["metadata"],
                    }
                ),
                "reason": "edited",
                "changed_by": session.actor,
            },
        )
        database.execute(
            "memory",
            "edit",
            {
                **scope,
                "id": memory_id,
                "content": text,
                "memory_type": new_type,
                "metadata": Jsonb(merged),
            },
        )
        database.rows("memory", "rescore_thread", {**scope, "ids": [memory_id]})
        if text != before.content:
            database.execute("pii", "forget_marks", {**scope, "memory_ids": [memory_id]})
            mark_memories(database, session.app, {memory_id: screened.marks}, {memory_id: user})
        if new_index_text != old_index_text:
            database.rows("memory", "unindex", {**scope, "ids": [memory_id]})
            database.execute("memory", "drop_vectors", {**scope, "memory_id": memory_id})
            put_vector(session, scope, memory_id, vector)
            database.rows("memory", "index", {**scope, "ids": [memory_id]})
        said = f"memory edit, version {row['version']} to {row['version'] + 1}"
        record_rectified(session, user, [str(memory_id)], said, note)
    return _stored(session, user, memory_id)


@gated_write
def undo(
    session: Session,
    user: str,
    memory_id: UUID,
    *,
    note: str | None = None,
    dry_run: bool = False,
) -> Memory:
    """Take the last edit of a memory back, as an edit of its own: a second `undo` takes back the first.

    Raises: as `edit`; NegmemError `nothing_to_undo`.
    """
    now = _stored(session, user, memory_id)
    if now.deleted_at is not None:
        raise _deleted(memory_id)
    versions = session.database.rows(
        "memory", "versions", {**_scope(session, user), "id": memory_id}
    )
    if not versions or versions[-1]["reason"] != "edited":
        last = (
            f"its last change was {versions[-1]['reason']}" if versions else "it was never edited"
        )
        raise NegmemError(
            "nothing_to_undo",
            "no edit is there to take back",
            why=last,
            hint=f"negmem memory history {memory_id} --user {user}",
        )
    was = versions[-1]["before"]
    gone = dict.fromkeys((now.metadata or {}).keys() - (was["metadata"] or {}).keys())
    return edit(
        session,
        user,
        memory_id,
        content=was["content"],
        memory_type=was["type"],
        metadata={**gone, **(was["metadata"] or {})},
        expected_version=now.version,
        note=note,
        dry_run=dry_run,
    )


@reviewed("memory", "delete", targets.memories, when=targets.is_observation)
def remove(
    session: Session,
    user: str,
    ids: Sequence[UUID],
    *,
    reason: str = "removed by hand",
    dry_run: bool = False,
) -> MemoryChange:
    """Soft-delete memories: out of every search at once, back with `restore` until the purge."""
    return _change(session, user, ids, "remove", {"reason": reason}, dry_run)


@reviewed("memory", "update", targets.memories, when=targets.is_observation)
def restore(
    session: Session, user: str, ids: Sequence[UUID], *, dry_run: bool = False
) -> MemoryChange:
    """Bring soft-deleted memories back, searchable as before."""
    return _change(session, user, ids, "restore", {}, dry_run)


def pin(session: Session, user: str, ids: Sequence[UUID], *, dry_run: bool = False) -> MemoryChange:
    """Keep memories from fading and from pruning."""
    return _change(session, user, ids, "pin", {}, dry_run)


def unpin(
    session: Session, user: str, ids: Sequence[UUID], *, dry_run: bool = False
) -> MemoryChange:
    """Let memories fade again."""
    return _change(session, user, ids, "unpin", {}, dry_run)


def _change(
    session: Session,
    user: str,
    ids: Sequence[UUID],
    action: str,
    extra: dict[str, Any],
    dry_run: bool,
) -> MemoryChange:
    """Plan from what stands, then act on what the plan says; one transaction."""
    scope = _scope(session, user)
    wanted = list(dict.fromkeys(ids))
    with session.database.transaction():
        found = {memory.id: memory for memory in _fetch(session, user, wanted)}
        todo = [i for i in wanted if i in found and _is_due(found[i], action)]
        if todo and not dry_run:
            params = {**scope, "ids": todo, "actor": session.actor, **extra}
            if action in ("pin", "unpin"):
                params["pinned"] = action == "pin"
                session.database.rows("memory", "pin", params)
            else:
                block = "forget" if action == "remove" else "restore"
                session.database.rows("memory", block, params)
        derived = reflected.follow(session, scope, todo, action, dry_run=dry_run)
    return MemoryChange(
        action=action,
        changed=todo,
        unchanged=[i for i in wanted if i in found and i not in todo],
        unknown=[i for i in wanted if i not in found],
        derived=derived,
        dry_run=dry_run,
    )


def _is_due(memory: Memory, action: str) -> bool:
    if action == "restore":
        return memory.deleted_at is not None
    if memory.deleted_at is not None:
        return False
    if action == "remove":
        return True
    return (memory.pinned_at is None) == (action == "pin")


def _deleted(memory_id: UUID) -> NegmemError:
    return NegmemError(
        "memory_deleted",
        "this memory is soft-deleted",
        why=f"{memory_id} was removed",
        hint=f"negmem memory restore {memory_id}",
    )
