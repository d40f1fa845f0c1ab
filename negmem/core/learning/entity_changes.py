"""Entities taken away, corrected, and brought back: each change keeps what was before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.holds import check_may_delete
from negmem.core.learning import items
from negmem.core.learning.access import Owner, access_of, owner_of
from negmem.core.learning.entities import named_target
from negmem.core.learning.entity_rows import (
    KIND,
    entity_key,
    keep,
    named,
    one_entity,
    removed_under,
    touch,
    written,
)
from negmem.core.models.entity import EntityChange
from negmem.core.pii import gated_write, guard_of
from negmem.core.review import Target, reviewed, writer_of
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.errors import NegmemError


@gated_write
@reviewed("entity", "update", named_target)
def replace_fact(
    session: Session,
    user: str | None,
    entity: str,
    fact_id: UUID,
    text: str | None = None,
    *,
    entity_type: str | None = None,
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """A fact holds no more; `text` holds instead. The old one stays stored, as superseded.

    Raises: NegmemError `part_unknown` where it is no fact of the entity in force; as `entities.add_fact`.
    """
    content = None if text is None else items.cleaned(text, "fact", "entity replace ID FACT TEXT")
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    screened = None if content is None else guard_of(session).screen(content)

    def act(write: bool) -> tuple[str, UUID | None]:
        before = one_entity(session, [owner], named(session, [owner], entity, entity_type)["id"])
        if all(one.id != fact_id for one in before.facts):
            raise _no_part(fact_id, entity)
        if not write:
            return "updated", before.id
        place = {**owner.params(session), "id": before.id}
        keep(session, owner, before, "fact replaced" if screened else "fact retired")
        items.unindex(session, owner, KIND, [before.id])
        made: UUID | None = None
        if screened is not None:
            key = exact_key(screened.text)
            same = [one.id for one in before.facts if exact_key(one.content) == key]
            made = next((one for one in same if one != fact_id), None)
            if made is None:
                values = {**place, "content": screened.text, "confidence": 1.0}
                values["written_by"] = writer_of(session, user)
                row = session.database.row("entities", "add_fact", values)
                made = None if row is None else row["id"]
        superseded = {**place, "fact_id": fact_id, "by": made}
        session.database.rows("entities", "supersede_fact", superseded)
        touch(session, owner, before.id, {} if screened is None else screened.metadata)
        items.index(session, owner, KIND, [before.id])
        return "updated", before.id

    return written(session, user, owner, act, dry_run)


@gated_write
@reviewed("entity", "delete", named_target)
def remove(
    session: Session,
    user: str | None,
    entity: str,
    *,
    part: UUID | None = None,
    reason: str = "removed by hand",
    entity_type: str | None = None,
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """Take an entity out of search and contexts, or one fact, event or outgoing relation of it.

    `undo` brings it back.
    Raises: NegmemError `entity_unknown`, `entity_ambiguous`, `part_unknown`, `namespace_denied`,
    `user_on_hold`.
    """
    why = items.cleaned(reason, "reason", "--reason TEXT", most=1000)
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")

    def act(write: bool) -> tuple[str, UUID | None]:
        before = one_entity(session, [owner], named(session, [owner], entity, entity_type)["id"])
        outgoing = [one for one in before.relationships if one.direction == "outgoing"]
        parts = {f.id for f in before.facts} | {e.id for e in before.events}
        parts |= {r.id for r in outgoing}
        if part is not None and part not in parts:
            raise _no_part(part, entity)
        check_may_delete(session, owner.name, owner.kind)
        if not write:
            return "removed", before.id
        keep(session, owner, before, "removed" if part is None else "part removed")
        items.unindex(session, owner, KIND, [before.id])
        values = {**owner.params(session), "id": before.id, "reason": why}
        if part is None:
            session.database.execute("entities", "remove", values)
        else:
            session.database.rows("entities", "remove_part", {**values, "part": part})
            touch(session, owner, before.id, {})
        items.index(session, owner, KIND, [before.id])
        return "removed", before.id

    return written(session, user, owner, act, dry_run, remembers=False)


def _to_undo(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    owner = owner_of(user, arguments.get("namespace", "global"))
    access_of(session, user).require(owner, "read")
    one = one_entity(
        session,
        [owner],
        _also_removed(session, owner, arguments["entity"], arguments.get("entity_type")),
    )
    return Target(owner, one.id, one.version, {"name": one.name})


@gated_write
@reviewed("entity", "update", _to_undo)
def undo(
    session: Session,
    user: str | None,
    entity: str,
    *,
    entity_type: str | None = None,
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """Take the last change of an entity back: a change, a part added or removed, a removal, an undo.

    Raises: NegmemError `nothing_to_undo`, `entity_unknown`, `entity_ambiguous`, `namespace_denied`.
    """
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")

    def act(write: bool) -> tuple[str, UUID | None]:
        id = _also_removed(session, owner, entity, entity_type)
        now = one_entity(session, [owner], id)
        kept = items.versions_of(session, owner, KIND, id)
        if not kept:
            raise NegmemError(
                "nothing_to_undo",
                "nothing was changed here",
                why="this entity is as it was added",
                hint=f"negmem entity show {entity[:60]} --history",
            )
        if not write:
            return "undone", id
        last = kept[-1].before
        keep(session, owner, now, "undone")
        items.unindex(session, owner, KIND, [id])
        outgoing = [r["id"] for r in last["relationships"] if r["direction"] == "outgoing"]
        values = {
            **owner.params(session),
            "id": id,
            "name": last["name"],
            "description": last["description"],
            "properties": Jsonb(last["properties"]),
            "aliases": last["aliases"],
            "metadata": Jsonb(last["metadata"]),
            "removed": bool(last.get("removed")),
            "reason": "undone",
            "facts": [one["id"] for one in last["facts"]],
            "events": [one["id"] for one in last["events"]],
            "relations": outgoing,
        }
        session.database.execute("entities", "restore", values)
        items.index(session, owner, KIND, [id])
        return "undone", id

    return written(session, user, owner, act, dry_run)


def _also_removed(session: Session, owner: Owner, word: str, entity_type: str | None) -> UUID:
    """The entity that a word names, or the removed one that had this id. Raises: as `entities.show`."""
    try:
        found: UUID = named(session, [owner], word, entity_type)["id"]
    except NegmemError as error:
        kind, _, rest = word.partition("/")
        gone = None
        if error.code == "entity_unknown":
            gone = removed_under(session, owner, entity_key(word), entity_type)
        if error.code == "entity_unknown" and gone is None and rest:
            gone = removed_under(session, owner, entity_key(rest), kind)
        if gone is None:
            raise
        return gone
    return found


def _no_part(part: UUID, entity: str) -> NegmemError:
    return NegmemError(
        "part_unknown",
        "the entity has no such fact, event or relation",
        why=f"{part} is none of those in force of {entity[:60]!r}",
        hint=f"negmem entity show {entity[:60]} --json",
    )
