"""Core blocks: short texts that stand in every context of a user, an app or a thread."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.holds import check_may_delete
from negmem.core.models.core_block import (
    MAX_TOKENS,
    SCOPES,
    CoreBlock,
    CoreBlockChange,
    CoreBlocks,
    CoreBlockVersion,
)
from negmem.core.on_trail import record_rectified, record_removed
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.session import Session
from negmem.core.text.names import check_name
from negmem.core.text.storable import storable_metadata, storable_text
from negmem.errors import NegmemError, UsageError
from negmem.providers.tokens import TokenCounter

DEFAULT_LABEL = "persona"
MAX_LABEL = 64
_MAX_ACTOR = 64
_SET = "negmem core set persona TEXT --user NAME"
_CUT_MARKS = ("truncated", "truncated_to")


@gated
def show(
    session: Session,
    user: str | None,
    *,
    label: str | None = None,
    scope: str | None = None,
    thread: str | None = None,
    history: bool = False,
) -> CoreBlocks:
    """The blocks that a user's contexts have, or those of the app alone; `thread` leaves other threads out.

    With `history` also what the one block named by `label` and `scope` said before.
    Raises: UsageError `scope_unknown`, `label_invalid`, `name_invalid`, `user_missing`, `thread_unknown`,
    `label_missing`.
    """
    if scope is not None:
        _check_scope(scope)
    if label is not None:
        _check_label(label)
    if thread is not None:
        check_name(thread, "thread")
    params = {
        "user_id": user,
        "app_name": session.app,
        "scope": scope,
        "thread": thread,
        "label": label,
    }
    if user is not None:
        session.knows_user(user)
    blocks = [CoreBlock(**row) for row in session.database.rows("core_blocks", "list", params)]
    versions: list[CoreBlockVersion] = []
    if history:
        if label is None:
            raise UsageError(
                "label_missing",
                "which block's history is meant",
                why="--history tells of one block",
                hint="negmem core show persona --history --user NAME",
            )
        place = _place(session, user, label, scope or "user", thread)
        rows = session.database.rows("core_blocks", "versions", place)
        versions = [CoreBlockVersion(**row) for row in rows]
    return CoreBlocks(blocks=blocks, history=versions)


@gated_write
def set_block(
    session: Session,
    user: str | None,
    content: str,
    *,
    label: str = DEFAULT_LABEL,
    scope: str = "user",
    thread: str | None = None,
    metadata: dict[str, Any] | None = None,
    append: bool = False,
    expected_version: int | None = None,
    dry_run: bool = False,
    counter: TokenCounter | None = None,
) -> CoreBlockChange:
    """Write a block; what it said before is kept. `append` adds a line to what stands.

    A text of more than 2,048 tokens is cut: warning `core_block_cut`, and `cut` in the answer. `metadata`
    is merged over what stands, a value of None takes its key out. The same text again changes nothing.
    Raises: as `show`; UsageError `text_refused`; NegmemError `version_conflict`.
    """
    screened = guard_of(session).screen(
        storable_text(content, _SET, "it is blank; negmem core rm takes a block away"),
        storable_metadata(metadata or {}, _SET),
    )
    text, added = screened.text, screened.metadata
    place = _place(session, user, label, scope, thread)
    counter = counter or TokenCounter(session.config.llm.model)
    database = session.database
    with database.transaction():
        if user is not None and not dry_run:
            database.execute("memory", "add_user", place)
        while True:  # again only where the block was removed between both statements
            row = database.row("core_blocks", "lock", place)
            _check_version(row, expected_version, label, user)
            before = row or {"content": "", "metadata": {}, "version": 0}
            joined = f"{before['content']}\n{text}" if append and before["content"] else text
            kept = {k: v for k, v in before["metadata"].items() if k not in _CUT_MARKS}
            new, marks, tokens = _fitted(joined, {**kept, **added}, counter)
            changed = (new, marks) != (before["content"], before["metadata"])
            if dry_run or not changed:
                break
            values = {
                **place,
                "content": new,
                "tokens": tokens,
                "updated_by": session.actor[:_MAX_ACTOR],
                "metadata": Jsonb(marks),
            }
            if row is not None:
                _keep(session, place, row, "set")
                changes = {**values, "id": row["id"], "version": row["version"] + 1}
                database.execute("core_blocks", "set", changes)
                said = f"core set, version {row['version']} to {row['version'] + 1}"
                record_rectified(session, place["user_id"], [_subject(row)], said)
                break
            made = database.row("core_blocks", "make_room", values)
            if made is not None:
                _follow_removed(session, place, {**values, "id": made["id"]})
                break
        if changed and not dry_run:
            database.execute("core_blocks", "forget_preloads", place)
    is_cut = marks.get("truncated") is True
    if is_cut:
        session.warn(
            "core_block_cut",
            f"the block was cut to {MAX_TOKENS:,} tokens: what came after them is not kept",
        )
    if counter.notice is not None:
        session.warn("tokens_not_exact", counter.notice)
    block = _find(session, user, label, scope, thread)
    return CoreBlockChange(action="set", block=block, changed=changed, cut=is_cut, dry_run=dry_run)


@gated_write
def remove(
    session: Session,
    user: str | None,
    *,
    label: str,
    scope: str = "user",
    thread: str | None = None,
    dry_run: bool = False,
) -> CoreBlockChange:
    """Take a block out of all contexts; what it said stays in its history.

    Raises: as `show`; NegmemError `core_block_unknown`, `user_on_hold`.
    """
    place = _place(session, user, label, scope, thread)
    block = _find(session, user, label, scope, thread)
    if block is None:
        raise NegmemError(
            "core_block_unknown",
            "there is no such core block",
            why=f"{_owner_words(session, user, scope)} has no block {label[:64]!r} of scope {scope}",
            hint="negmem core show" + ("" if user is None else f" --user {user}"),
        )
    with session.database.transaction():
        check_may_delete(session, place["owner"], place["owner_kind"])
        if not dry_run:
            row = session.database.row("core_blocks", "lock", place)
            if row is not None:
                _keep(session, place, row, "removed")
                session.database.execute("core_blocks", "remove", {**place, "id": row["id"]})
                session.database.execute("core_blocks", "forget_preloads", place)
                record_removed(session, place["user_id"], [_subject(row)], "core rm")
    return CoreBlockChange(action="remove", block=block, changed=True, dry_run=dry_run)


def _subject(row: dict[str, Any]) -> str:
    """How the trail names a block."""
    return f"memory_core_blocks:{row['id']}"


def _find(
    session: Session, user: str | None, label: str, scope: str, thread: str | None
) -> CoreBlock | None:
    params = {
        "user_id": user,
        "app_name": session.app,
        "scope": scope,
        "thread": thread,
        "label": label,
    }
    row = session.database.row("core_blocks", "list", params)
    return None if row is None else CoreBlock(**row)


def _place(
    session: Session, user: str | None, label: str, scope: str, thread: str | None
) -> dict[str, Any]:
    """Where a block stands: the columns of its key, and whose caches it touches."""
    _check_scope(scope)
    _check_label(label)
    if scope == "app":
        return {
            "owner_kind": "global",
            "owner": "",
            "user_id": None,
            "app_name": session.app,
            "scope": scope,
            "thread_id": None,
            "label": label,
        }
    if user is None:
        raise UsageError(
            "user_missing",
            f"a block of scope {scope} needs to know whose it is",
            why="no --user was given",
            hint="--user NAME, or --scope app",
        )
    thread_id: UUID | None = None
    if scope == "thread":
        thread_id = _thread_id(session, user, thread)
    return {
        "owner_kind": "user",
        "owner": user,
        "user_id": user,
        "app_name": session.app,
        "scope": scope,
        "thread_id": thread_id,
        "label": label,
    }


def _thread_id(session: Session, user: str, thread: str | None) -> UUID:
    if thread is None:
        raise UsageError(
            "thread_missing",
            "a block of scope thread needs its thread",
            why="no --thread was given",
            hint="--scope thread --thread NAME",
        )
    check_name(thread, "thread")
    scope = {"user_id": user, "app_name": session.app, "thread": thread}
    row = session.database.row("core_blocks", "thread", scope)
    if row is None:
        raise UsageError(
            "thread_unknown",
            "there is no such thread",
            why=f'user "{user}" of app "{session.app}" has no thread {thread[:60]!r}',
            hint="--scope user",
        )
    found: UUID = row["id"]
    return found


def _check_scope(scope: str) -> Literal["user", "app", "thread"]:
    if scope not in SCOPES:
        raise UsageError(
            "scope_unknown",
            f"{scope[:60]!r} is no scope of a core block",
            why=f"the scopes are {', '.join(SCOPES)}",
            hint="--scope user",
        )
    return scope  # type: ignore[return-value]


def _check_label(label: str) -> None:
    check_name(label, "label")
    if len(label) > MAX_LABEL or any(ord(c) < 32 or c in "[]" for c in label):
        raise UsageError(
            "label_invalid",
            "this can't be the label of a core block",
            why=f"at most {MAX_LABEL} characters, no control characters, no brackets",
            hint="negmem core set persona TEXT --user NAME",
        )


def _check_version(
    row: dict[str, Any] | None, expected: int | None, label: str, user: str | None
) -> None:
    stands = 0 if row is None else int(row["version"])
    if expected is not None and expected != stands:
        raise NegmemError(
            "version_conflict",
            "somebody changed this core block meanwhile",
            why=f"version {expected} was expected, it is {stands or 'not there'}",
            hint=f"negmem core show {label}" + ("" if user is None else f" --user {user}"),
        )


def _follow_removed(session: Session, place: dict[str, Any], values: dict[str, Any]) -> None:
    """A block made again goes on counting where the removed one of its name ended."""
    row = session.database.row("core_blocks", "latest_version", place)
    if row is not None and row["version"]:
        changes = {**values, "version": row["version"] + 1}
        session.database.execute("core_blocks", "set", changes)


def _keep(session: Session, place: dict[str, Any], row: dict[str, Any], reason: str) -> None:
    thread_id = place["thread_id"]
    before = {
        "scope": place["scope"],
        "label": place["label"],
        "thread_id": None if thread_id is None else str(thread_id),
        "content": row["content"],
        "metadata": row["metadata"],
        "updated_by": row["updated_by"],
    }
    values = {
        **place,
        "id": row["id"],
        "version": row["version"],
        "before": Jsonb(before),
        "reason": reason,
        "changed_by": session.actor,
    }
    session.database.execute("core_blocks", "keep_version", values)


def _fitted(
    text: str, metadata: dict[str, Any], counter: TokenCounter
) -> tuple[str, dict[str, Any], int]:
    """The text within the limit, the metadata that says whether it was cut, and its tokens."""
    metadata = {key: value for key, value in metadata.items() if value is not None}
    tokens = counter.count(text)
    if tokens <= MAX_TOKENS:
        return text, metadata, tokens
    dots = "..."
    kept = counter.fit(text, MAX_TOKENS - counter.count(dots))[0].rstrip() + dots
    tokens = counter.count(kept)
    return kept, {**metadata, "truncated": True, "truncated_to": tokens}, tokens


def _owner_words(session: Session, user: str | None, scope: str) -> str:
    return f'app "{session.app}"' if scope == "app" else f'user "{user}" of app "{session.app}"'
