"""Lessons as they stand: their rows, and the refusal of one that says what another says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from negmem.core.learning import items
from negmem.core.learning.access import Owner
from negmem.core.learning.lesson import Lesson
from negmem.core.models.learning import Learning
from negmem.core.pii import guard_of
from negmem.core.pii_exit import DetectionFailedError
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.core.text.likeness import likeness
from negmem.errors import NegmemError

KIND = "learning"
_COMPARED = 20
_NAMED = 3


def stored(session: Session, owners: Sequence[Owner], ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Rows of lessons of these owners, removed ones too."""
    params = {
        **items.owners_params(session, owners),
        "ids": list(ids),
        "tags": None,
        "deleted": None,
        "row_limit": items.MAX_ROWS,
        "row_offset": 0,
    }
    return session.database.rows("learning", "list", params)


def row_of(session: Session, owners: Sequence[Owner], id: UUID) -> dict[str, Any]:
    """The row of one lesson of these owners. Raises: NegmemError `learning_unknown`."""
    rows = stored(session, owners, [id])
    if not rows:
        raise unknown(session, id)
    return rows[0]


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    """What an answer says of a row."""
    owner = Owner(row["owner_kind"], row["owner"])
    fields = {name: row[name] for name in Learning.model_fields if name in row}
    return {
        **fields,
        "namespace": owner.namespace,
        "user": owner.name if owner.kind == "user" else None,
    }


def unknown(session: Session, id: UUID, why: str = "") -> NegmemError:
    """The error of an id that names nothing here; `why` says more than that."""
    return NegmemError(
        "learning_unknown",
        "there is no such learning",
        why=why or f'none of what may be read in app "{session.app}" has the id {id}',
        hint="negmem learn list --namespace all --user NAME",
    )


def refuse_same(session: Session, owner: Owner, lesson: Lesson, *, but: UUID | None = None) -> None:
    """Raises: NegmemError `learning_exists` where another lesson than `but` says the very same."""
    params = {**owner.params(session), "body_hash": lesson.body_hash, "but": but}
    same = session.database.row("learning", "same_body", params)
    if same is not None:
        raise NegmemError(
            "learning_exists",
            "this was learned before",
            why=f"{_named(session, same)} says the same",
            hint=f"negmem learn edit {same['id']} --title …    to change it",
        )


def refuse_similar(
    session: Session,
    user: str | None,
    owner: Owner,
    lesson: Lesson,
    embedding: str | None,
    similarity: Callable[[float], float],
) -> None:
    """Raises: NegmemError `learning_similar` where one says nearly the same, or has the same title.

    Args: embedding, of title and text; similarity, of a cosine, 0..1.
    """
    text = f"{lesson.title} {lesson.learning}"
    rows = items.search_items(session, user, KIND, [owner], text, embedding, limit=_COMPARED)
    known = {row["id"]: row for row in stored(session, [owner], [row["id"] for row in rows])}
    alike = []
    for row in rows:
        other = known.get(row["id"])
        if other is None:
            continue
        near = None if row["cosine"] is None else similarity(row["cosine"])
        if exact_key(other["title"]) == exact_key(lesson.title):
            alike.append((other, "has the same title"))
        elif likeness(other["learning"], lesson.learning, near).same:
            alike.append((other, "says nearly the same"))
    if alike:
        named = "; ".join(f"{_named(session, other)} {says}" for other, says in alike[:_NAMED])
        raise NegmemError(
            "learning_similar",
            "something like this was learned before",
            why=named + (f"; and {len(alike) - _NAMED} more" if len(alike) > _NAMED else ""),
            hint=f"negmem learn edit {alike[0][0]['id']} --learning …    or save it beside: --anyway",
        )


def _named(session: Session, row: dict[str, Any]) -> str:
    """A learning in the words of a refusal: its id, and its title as this role may see it."""
    try:
        title = guard_of(session).passes(row["title"])
    except DetectionFailedError:
        return str(row["id"])
    return f'{row["id"]} "{title if len(title) <= 60 else title[:59] + "…"}"'
