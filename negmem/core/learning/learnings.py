"""Learned knowledge: lessons that are saved once, found again by their meaning, and changed in versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from negmem.core.embedding import embed_texts
from negmem.core.holds import check_may_delete
from negmem.core.learning import items
from negmem.core.learning.access import Access, Owner, access_of, owner_of, reach
from negmem.core.learning.lesson import Lesson, cleaned_lesson, screened_lesson
from negmem.core.learning.origins import changes_of, origins_of, taking_back
from negmem.core.learning.stored_lessons import (
    KIND,
    fields_of,
    refuse_same,
    refuse_similar,
    row_of,
    stored,
    unknown,
)
from negmem.core.merging import stored_scale
from negmem.core.models.learning import (
    FoundLearning,
    FoundLearnings,
    Learning,
    LearningChange,
    LearningList,
    LearningShown,
    LearningVersions,
)
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.review import Target, reviewed, writer_of
from negmem.core.session import Session
from negmem.errors import NegmemError

_NAMED = 3


class _RolledBackError(Exception):
    """Ends a transaction that only looked."""


def _said(arguments: Mapping[str, Any]) -> list[str]:
    return [f"{arguments['title']}: {arguments['learning']}"]


def _saved(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """Whose a lesson would be, and what stands there already that is like it."""
    owner = owner_of(user, arguments.get("namespace", "global"))
    access_of(session, user).require(owner, "read")
    text, embedding, _, _ = items.ask_words(session, _said(arguments)[0])
    rows = items.search_items(session, user, KIND, [owner], text, embedding, limit=_NAMED)
    known = {row["id"]: row for row in stored(session, [owner], [row["id"] for row in rows])}
    near = tuple(
        (row["id"], f"{known[row['id']]['title']}: {known[row['id']]['learning']}", row["score"])
        for row in rows
        if row["id"] in known
    )
    return Target(owner, near=near)


def _standing(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """The lesson that would be changed, as it is."""
    row = row_of(session, access_of(session, user).readable, arguments["id"])
    fields = {name: row[name] for name in ("title", "learning", "context", "tags")}
    return Target(Owner(row["owner_kind"], row["owner"]), row["id"], row["version"], fields)


@gated_write
@reviewed("knowledge", "add", _saved, texts=_said)
def save(
    session: Session,
    user: str | None,
    *,
    title: str,
    learning: str,
    context: str | None = None,
    tags: Sequence[str] = (),
    namespace: str = "global",
    anyway: bool = False,
    dry_run: bool = False,
) -> LearningChange:
    """Save a lesson, unless one like it is there: it is searched for first, in the same transaction.

    Args: anyway, save it beside lessons that say nearly the same; never beside one that says the very
    same.
    Raises: NegmemError `learning_exists`, `learning_similar`, `namespace_denied`; UsageError
    `text_refused`, `tags_invalid`, `user_missing`.
    """
    lesson = screened_lesson(session, cleaned_lesson(title, learning, context, tags))
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    vectors = embed_texts(session, [f"{lesson.title}: {lesson.learning}"])
    vector = None if vectors is None else vectors.vectors[0]
    embedding = None if vector is None else items.vector_literal(vector)
    scale = stored_scale(session)

    def write() -> UUID | None:
        made: UUID | None = None
        try:
            with session.database.transaction():
                access_of(session, user).require(owner, "write")
                items.lock_store(session, owner, KIND)
                refuse_same(session, owner, lesson)
                if not anyway:
                    near = scale.documents.similarity
                    refuse_similar(session, user, owner, lesson, embedding, near)
                made = _add(session, owner, user, lesson)
                if dry_run:
                    raise _RolledBackError
        except _RolledBackError:
            return None
        return made

    made = items.retried(write)
    if made is None:
        return LearningChange(action="saved", learning=None, dry_run=True)
    items.embed(session, owner, KIND, made)
    return LearningChange(action="saved", learning=_one(session, [owner], made))


@gated
def search_learnings(
    session: Session,
    user: str | None,
    query: str,
    *,
    namespace: str = "global",
    limit: int = 10,
    offset: int = 0,
) -> FoundLearnings:
    """Lessons that answer a question, by words and by meaning, of what the user may read there.

    Raises: UsageError `query_blank`, `limit_invalid`, `user_missing`; NegmemError `namespace_denied`.
    """
    items.check_page(limit, offset)
    owners = reach(session, user, namespace, "read")
    text, embedding, level, reason = items.ask_words(session, query)
    rows = items.search_items(
        session, user, KIND, owners, text, embedding, limit=limit, offset=offset
    )
    known = {row["id"]: row for row in stored(session, owners, [row["id"] for row in rows])}
    return FoundLearnings(
        learnings=[
            FoundLearning(
                **fields_of(known[row["id"]]),
                score=row["score"],
                semantic=row["semantic"],
                keyword=row["keyword"],
            )
            for row in rows
            if row["id"] in known
        ],
        total=int(rows[0]["total"]) if rows else 0,
        level=level,
        reason=reason,
    )


@gated
def list_learnings(
    session: Session,
    user: str | None,
    *,
    namespace: str = "global",
    tags: Sequence[str] = (),
    removed: bool = False,
    limit: int = 20,
    offset: int = 0,
) -> LearningList:
    """A page of lessons, the last changed first; with `tags` those that have all of them.

    Raises: UsageError `limit_invalid`, `user_missing`; NegmemError `namespace_denied`.
    """
    items.check_page(limit, offset)
    params = {
        **items.owners_params(session, reach(session, user, namespace, "read")),
        "ids": None,
        "tags": list(tags) or None,
        "deleted": removed,
        "row_limit": limit,
        "row_offset": offset,
    }
    rows = session.database.rows("learning", "list", params)
    total = int(rows[0]["total"]) if rows else 0
    return LearningList(
        learnings=[Learning(**fields_of(row)) for row in rows],
        total=total,
        truncated=offset + len(rows) < total,
    )


@gated
def show(session: Session, user: str | None, id: UUID) -> LearningShown:
    """One lesson of those that the user may read, where it came from, and who changed it.

    Raises: NegmemError `learning_unknown`.
    """
    row = row_of(session, access_of(session, user).readable, id)
    owner = Owner(row["owner_kind"], row["owner"])
    changes = changes_of(session, owner, KIND, id)
    return LearningShown(
        **fields_of(row),
        origins=origins_of(session, user, [id]).get(id, []),
        changes=changes,
        undo=taking_back(f"negmem learn undo {id}", owner, user) if changes else None,
    )


@gated_write
@reviewed("knowledge", "update", _standing)
def edit(
    session: Session,
    user: str | None,
    id: UUID,
    *,
    title: str | None = None,
    learning: str | None = None,
    context: str | None = None,
    tags: Sequence[str] | None = None,
    expected_version: int | None = None,
    dry_run: bool = False,
) -> LearningChange:
    """Change what a lesson says; what it said before is kept. An empty `context` takes it away.

    Raises: as `save`; NegmemError `learning_unknown`, `version_conflict`.
    """

    def changed(lesson: Lesson) -> Lesson:
        wanted = cleaned_lesson(
            lesson.title if title is None else title,
            lesson.learning if learning is None else learning,
            lesson.context if context is None else context,
            lesson.tags if tags is None else tags,
        )
        described = guard_of(session).screen_again(
            wanted.learning, lesson.metadata, lesson.learning, lesson.metadata
        )
        return screened_lesson(session, replace(wanted, metadata=described.metadata))

    return _change(session, user, id, "edited", changed, expected_version, dry_run=dry_run)


@gated_write
@reviewed("knowledge", "delete", _standing)
def remove(
    session: Session,
    user: str | None,
    id: UUID,
    *,
    reason: str | None = None,
    expected_version: int | None = None,
    dry_run: bool = False,
) -> LearningChange:
    """Take a lesson out of search and contexts; `undo` brings it back.

    Raises: NegmemError `learning_unknown`, `version_conflict`, `namespace_denied`.
    """
    why = None if reason is None else items.cleaned(reason, "reason", "--reason TEXT", most=1000)
    return _change(
        session,
        user,
        id,
        "removed",
        lambda lesson: lesson,
        expected_version,
        removed=True,
        reason=why,
        dry_run=dry_run,
    )


@gated
def versions(session: Session, user: str | None, id: UUID) -> LearningVersions:
    """A lesson and what it said before, oldest first. Raises: NegmemError `learning_unknown`."""
    owners = access_of(session, user).readable
    row = row_of(session, owners, id)
    owner = Owner(row["owner_kind"], row["owner"])
    return LearningVersions(
        learning=Learning(**fields_of(row)), versions=items.versions_of(session, owner, KIND, id)
    )


@gated_write
@reviewed("knowledge", "update", _standing)
def undo(session: Session, user: str | None, id: UUID, *, dry_run: bool = False) -> LearningChange:
    """Take the last change back: an edit, a removal, or an undo. Raises: NegmemError `nothing_to_undo`."""
    owner, access = _located(session, user, id)
    access.require(owner, "write")
    kept = items.versions_of(session, owner, KIND, id)
    if not kept:
        raise NegmemError(
            "nothing_to_undo",
            "nothing was changed here",
            why="this learning is as it was saved",
            hint=f"negmem learn show {id}",
        )
    last = kept[-1].before
    before = Lesson(
        last["title"],
        last["learning"],
        last["context"],
        tuple(last["tags"]),
        last["metadata"],
    )
    return _change(
        session,
        user,
        id,
        "undone",
        lambda lesson: before,
        kept[-1].version + 1,
        removed=bool(last.get("removed")),
        reason=last.get("deleted_reason"),
        dry_run=dry_run,
    )


def _change(
    session: Session,
    user: str | None,
    id: UUID,
    action: str,
    changed: Any,
    expected_version: int | None,
    *,
    removed: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> LearningChange:
    owner, _ = _located(session, user, id)
    place = {**owner.params(session), "id": id}
    hint = f"negmem learn show {id}"

    def write() -> bool:
        with session.database.transaction():
            access_of(session, user).require(owner, "write")
            if removed:
                check_may_delete(session, owner.name, owner.kind)
            items.lock_store(session, owner, KIND, remembers=not removed)
            row = session.database.row("learning", "lock", place)
            if row is None:
                raise unknown(session, id)
            items.check_version(expected_version, row["version"], "learning", hint)
            was_removed = row["deleted_at"] is not None
            if was_removed and action == "edited":
                raise unknown(session, id, "it was removed; negmem learn undo brings it back")
            before = Lesson(
                row["title"], row["learning"], row["context"], tuple(row["tags"]), row["metadata"]
            )
            after = changed(before)
            if after == before and was_removed == removed:
                return False
            if not removed:
                refuse_same(session, owner, after, but=id)
            if dry_run:
                return True
            kept = {
                **before.before(),
                "removed": was_removed,
                "deleted_reason": row["deleted_reason"],
            }
            items.keep_version(session, owner, KIND, id, row["version"], kept, action)
            items.unindex(session, owner, KIND, [id])
            values = {**place, **after.params(), "deleted": removed, "deleted_reason": reason}
            session.database.execute("learning", "change", values)
            items.index(session, owner, KIND, [id])
        return True

    is_changed = items.retried(write)
    if is_changed and not dry_run and not removed:
        items.embed(session, owner, KIND, id)
    return LearningChange(
        action=action if is_changed else "unchanged",
        learning=_one(session, [owner], id),
        dry_run=dry_run,
    )


def _add(session: Session, owner: Owner, user: str | None, lesson: Lesson) -> UUID:
    values = {**owner.params(session), **lesson.params(), "written_by": writer_of(session, user)}
    row = session.database.row("learning", "add", values)
    assert row is not None
    made: UUID = row["id"]
    items.index(session, owner, KIND, [made])
    return made


def _one(session: Session, owners: Sequence[Owner], id: UUID) -> Learning:
    return Learning(**fields_of(row_of(session, owners, id)))


def _located(session: Session, user: str | None, id: UUID) -> tuple[Owner, Access]:
    access = access_of(session, user)
    row = row_of(session, access.readable, id)
    return Owner(row["owner_kind"], row["owner"]), access
