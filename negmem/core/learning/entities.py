"""Entities: people, firms and things, by id and type; two of one name stay two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from negmem.core.learning import items
from negmem.core.learning.access import Owner, access_of, owner_of, reach
from negmem.core.learning.entity_rows import (
    HINT,
    KIND,
    checked_properties,
    columns,
    entity_key,
    entity_of,
    fetch,
    invalid,
    keep,
    named,
    one_entity,
    page_params,
    removed_under,
    resolved,
    screened,
    touch,
    written,
)
from negmem.core.learning.origins import changes_of, origins_of, taking_back
from negmem.core.models.entity import (
    Entity,
    EntityChange,
    EntityList,
    EntityShown,
    FoundEntities,
    FoundEntity,
)
from negmem.core.models.origin import PartOrigin
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.review import Target, reviewed, writer_of
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.core.text.said_dates import said_date
from negmem.errors import NegmemError

MAX_ALIASES = 8


def _revived(
    session: Session, owner: Owner, id: UUID, said: dict[str, Any], flags: Mapping[str, Any]
) -> tuple[str, UUID | None]:
    """An entity under the id of a removed one: what was known of that one does not come back with it."""
    keep(session, owner, one_entity(session, [owner], id), "added again")
    items.unindex(session, owner, KIND, [id])
    values = {**owner.params(session), "id": id}
    session.database.execute("entities", "revive", values)
    session.database.execute("entities", "change", {**values, **columns(said, flags)})
    items.index(session, owner, KIND, [id])
    return "added", id


def _under_id(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """The entity that stands under the id and type, if one does."""
    owner = owner_of(user, arguments.get("namespace", "global"))
    access_of(session, user).require(owner, "read")
    key, kind = entity_key(arguments["entity_id"]), arguments["entity_type"].casefold()
    found = [one for one in resolved(session, [owner], key, kind) if one["by_id"]]
    return Target(owner) if not found else _of(owner, one_entity(session, [owner], found[0]["id"]))


def _grown(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """Whose the entity is that would get a part more; what others add meanwhile does not stand against it."""
    return Target(owner_of(user, arguments.get("namespace", "global")))


def named_target(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """The entity that a call names, as it is."""
    owner = owner_of(user, arguments.get("namespace", "global"))
    access_of(session, user).require(owner, "read")
    row = named(session, [owner], arguments["entity"], arguments.get("entity_type"))
    return _of(owner, one_entity(session, [owner], row["id"]))


def _of(owner: Owner, one: Entity) -> Target:
    said = ("name", "description", "aliases", "properties", "entity_id", "entity_type")
    fields = {name: getattr(one, name) for name in said}
    return Target(owner, one.id, one.version, fields)


@gated_write
@reviewed("entity", "update", _under_id)
def add(
    session: Session,
    user: str | None,
    entity_id: str,
    *,
    entity_type: str,
    name: str,
    description: str | None = None,
    properties: Mapping[str, str] | None = None,
    aliases: Sequence[str] = (),
    namespace: str = "global",
    update: bool = False,
    dry_run: bool = False,
) -> EntityChange:
    """Add an entity. The same again changes nothing; another one under its id and type is refused.

    Args: update, change the one that stands; what is not given stays.
    Raises: NegmemError `entity_exists`, `namespace_denied`; UsageError `text_refused`, `entity_invalid`.
    """
    key = entity_key(items.cleaned(entity_id, "id", HINT, most=200))
    kind = items.cleaned(entity_type, "type", HINT, most=64).casefold()
    if isinstance(aliases, str) or len(aliases) > MAX_ALIASES:
        raise invalid(f"at most {MAX_ALIASES} aliases, each a text")
    said = {
        "name": items.cleaned(name, "name", HINT, most=300),
        "description": items.cleaned(description, "description", HINT) if description else None,
        "aliases": [items.cleaned(one, "alias", HINT, most=300) for one in aliases],
        "properties": checked_properties(properties),
    }
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    said, flags = screened(session, said)

    def act(write: bool) -> tuple[str, UUID | None]:
        found = [one for one in resolved(session, [owner], key, kind) if one["by_id"]]
        if not found:
            gone = removed_under(session, owner, key, kind)
            if not write:
                return "added", None
            if gone is not None:
                return _revived(session, owner, gone, said, flags)
            values = {**owner.params(session), **columns(said, flags), "entity_id": key}
            values |= {"entity_type": kind, "written_by": writer_of(session, user)}
            row = session.database.row("entities", "add", values)
            assert row is not None
            items.index(session, owner, KIND, [row["id"]])
            return "added", row["id"]
        stands = one_entity(session, [owner], found[0]["id"])
        given = {k: v for k, v in said.items() if v not in (None, [], {})}
        if all(getattr(stands, k) == v for k, v in given.items()):
            return "unchanged", stands.id
        if not update:
            raise NegmemError(
                "entity_exists",
                f"there is an entity {kind}/{key} already",
                why="it has another name, description, aliases or properties",
                hint="another ID, if it is another one; --update, to change the one that stands",
            )
        if write:
            after = {k: given.get(k, getattr(stands, k)) for k in said}
            keep(session, owner, stands, "updated")
            items.unindex(session, owner, KIND, [stands.id])
            values = {**owner.params(session), "id": stands.id}
            merged = {**stands.metadata, **flags}
            session.database.execute("entities", "change", {**values, **columns(after, merged)})
            items.index(session, owner, KIND, [stands.id])
        return "updated", stands.id

    return written(session, user, owner, act, dry_run)


@gated_write
@reviewed("entity", "add", _grown)
def add_fact(
    session: Session,
    user: str | None,
    entity: str,
    text: str,
    *,
    entity_type: str | None = None,
    confidence: float = 1.0,
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """Add what is so of an entity; what it has already is not added again.

    Raises: NegmemError `entity_unknown`, `entity_ambiguous`, `namespace_denied`; UsageError.
    """
    content = items.cleaned(text, "fact", "negmem entity fact zhang_san 在杭州工作")
    if not 0 <= confidence <= 1:
        raise invalid(f"its confidence is {confidence:g}, not in 0..1")
    return _part(
        session,
        user,
        entity,
        entity_type,
        namespace,
        "fact_added",
        content,
        lambda one, said: all(exact_key(f.content) != exact_key(said) for f in one.facts),
        {"confidence": confidence},
        dry_run,
    )


@gated_write
@reviewed("entity", "add", _grown)
def add_event(
    session: Session,
    user: str | None,
    entity: str,
    text: str,
    *,
    date: str | None = None,
    entity_type: str | None = None,
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """Add what happened to an entity; `date` as people say it, read where it can be (2026-Q1, 2026年3月).

    Raises: as `add_fact`.
    """
    content = items.cleaned(text, "event", "negmem entity event acme 签约 --date 2026-03-01")
    said_at = None if date is None else items.cleaned(date, "date", "--date 2026-03-01", most=100)
    happened, precision = (None, None) if said_at is None else said_date(said_at)

    def is_new(one: Entity, said: str) -> bool:
        return all((exact_key(e.content), e.date) != (exact_key(said), said_at) for e in one.events)

    more = {"happened_at": happened, "date_text": said_at, "date_precision": precision}
    return _part(
        session, user, entity, entity_type, namespace, "event_added", content, is_new, more, dry_run
    )


@gated_write
@reviewed("entity", "add", _grown)
def relate(
    session: Session,
    user: str | None,
    entity: str,
    relation: str,
    other: str,
    *,
    direction: str = "outgoing",
    entity_type: str | None = None,
    other_type: str | None = None,
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """Relate two entities of a namespace; incoming: the other has the relation to this one.

    Raises: as `add_fact`; UsageError `entity_invalid` for one and the same, or another direction.
    """
    word = items.cleaned(relation, "relation", "negmem entity relate a works_at b", most=255)
    if direction not in ("outgoing", "incoming"):
        raise invalid(f"the direction is {direction[:40]!r}, neither outgoing nor incoming")
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    screened = guard_of(session).screen(word)

    def act(write: bool) -> tuple[str, UUID | None]:
        one = named(session, [owner], entity, entity_type)["id"]
        far = named(session, [owner], other, other_type)["id"]
        if one == far:
            raise invalid("an entity has no relation to itself")
        source, target = (one, far) if direction == "outgoing" else (far, one)
        before = one_entity(session, [owner], source)
        edges = {r.id for r in before.relationships if r.relation == screened.text}
        if write:
            items.unindex(session, owner, KIND, [source])
            values = {**owner.params(session), "source": source, "target": target}
            values |= {"relation": screened.text, "written_by": writer_of(session, user)}
            made = session.database.row("entities", "add_relation", values)
            if made is not None:
                keep(session, owner, before, "related")
                touch(session, owner, source, screened.metadata)
            items.index(session, owner, KIND, [source])
            return ("unchanged" if made is None else "related"), one
        known = one_entity(session, [owner], target).relationships
        stands = any(r.id in edges and r.direction == "incoming" for r in known)
        return ("unchanged" if stands else "related"), one

    return written(session, user, owner, act, dry_run)


@gated
def search_entities(
    session: Session,
    user: str | None,
    query: str,
    *,
    namespace: str = "global",
    limit: int = 10,
    offset: int = 0,
) -> FoundEntities:
    """Entities that a text names or that answer it; names are found inside running text too.

    Raises: UsageError `query_blank`, `limit_invalid`, `user_missing`; NegmemError `namespace_denied`.
    """
    items.check_page(limit, offset)
    owners = reach(session, user, namespace, "read")
    text, embedding, level, reason = items.ask_words(session, query)
    rows = items.search_items(
        session, user, KIND, owners, text, embedding, limit=limit, offset=offset
    )
    known = {one.id: one for one in fetch(session, owners, [row["id"] for row in rows])}
    return FoundEntities(
        entities=[
            FoundEntity(
                **dict(known[row["id"]]), score=row["score"], is_named=bool(row["is_named"])
            )
            for row in rows
            if row["id"] in known
        ],
        total=int(rows[0]["total"]) if rows else 0,
        level=level,
        reason=reason,
    )


@gated
def list_entities(
    session: Session,
    user: str | None,
    *,
    entity_type: str | None = None,
    namespace: str = "global",
    limit: int = 20,
    offset: int = 0,
) -> EntityList:
    """A page of entities, the last changed first. Raises: as `search_entities`."""
    items.check_page(limit, offset)
    owners = reach(session, user, namespace, "read")
    kind = None if entity_type is None else entity_type.casefold()
    params = page_params(session, owners, None, kind, limit, offset)
    rows = session.database.rows("entities", "list", params)
    total = int(rows[0]["total"]) if rows else 0
    return EntityList(
        entities=[entity_of(row) for row in rows],
        total=total,
        truncated=offset + len(rows) < total,
    )


@gated
def show(
    session: Session,
    user: str | None,
    entity: str,
    *,
    entity_type: str | None = None,
    namespace: str = "global",
    history: bool = False,
) -> EntityShown:
    """One entity by id, name or alias, where it came from, and who changed it.

    Raises: NegmemError `entity_unknown`, `entity_ambiguous`.
    """
    owners = reach(session, user, namespace, "read")
    row = named(session, owners, entity, entity_type)
    owner = Owner(row["owner_kind"], row["owner"])
    one = one_entity(session, [owner], row["id"])
    parts = [one.id, *(f.id for f in one.facts), *(e.id for e in one.events)]
    changes = changes_of(session, owner, KIND, one.id)
    command = f"negmem entity undo {one.entity_type}/{one.entity_id}"
    return EntityShown(
        entity=one,
        origins=[
            PartOrigin(**dict(said), part=part)
            for part, found in origins_of(session, user, parts).items()
            for said in found
        ],
        changes=changes,
        undo=taking_back(command, owner, user) if changes else None,
        versions=items.versions_of(session, owner, KIND, row["id"]) if history else None,
    )


def _part(
    session: Session,
    user: str | None,
    entity: str,
    entity_type: str | None,
    namespace: str,
    action: str,
    content: str,
    is_new: Callable[[Entity, str], bool],
    more: dict[str, Any],
    dry_run: bool,
) -> EntityChange:
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    screened = guard_of(session).screen(content)

    def act(write: bool) -> tuple[str, UUID | None]:
        before = one_entity(session, [owner], named(session, [owner], entity, entity_type)["id"])
        if not is_new(before, screened.text):
            return "unchanged", before.id
        if write:
            keep(session, owner, before, action)
            items.unindex(session, owner, KIND, [before.id])
            values = {**owner.params(session), **more, "id": before.id, "content": screened.text}
            values["written_by"] = writer_of(session, user)
            name = "add_fact" if action == "fact_added" else "add_event"
            session.database.execute("entities", name, values)
            touch(session, owner, before.id, screened.metadata)
            items.index(session, owner, KIND, [before.id])
        return action, before.id

    return written(session, user, owner, act, dry_run)
