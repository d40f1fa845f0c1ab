"""Entities: people, firms and things, by id and type; two of one name stay two."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.learning import items
from negmem.core.learning.access import Owner, access_of, owner_of, reach
from negmem.core.models.entity import (
    Entity,
    EntityChange,
    EntityList,
    EntityShown,
    FoundEntities,
    FoundEntity,
)
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.session import Session
from negmem.core.text.clean import TextRefusedError, clean_value
from negmem.core.text.exact_key import exact_key
from negmem.core.text.said_dates import said_date
from negmem.errors import NegmemError, UsageError

KIND = "entity"
MAX_ALIASES = 8
_HINT = "negmem entity add zhang_san --type person --name 张三"


def entity_key(text: str) -> str:
    """An id as it is stored: composed, case folded, blanks as _. Marks stay, so パン and ハン are two."""
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return "_".join(composed.split())


@gated_write
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
    key = entity_key(items.cleaned(entity_id, "id", _HINT, most=200))
    kind = items.cleaned(entity_type, "type", _HINT, most=64).casefold()
    if isinstance(aliases, str) or len(aliases) > MAX_ALIASES:
        raise _invalid(f"at most {MAX_ALIASES} aliases, each a text")
    said = {
        "name": items.cleaned(name, "name", _HINT, most=300),
        "description": items.cleaned(description, "description", _HINT) if description else None,
        "aliases": [items.cleaned(one, "alias", _HINT, most=300) for one in aliases],
        "properties": _properties(properties),
    }
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    said, flags = _screened(session, said)

    def act(write: bool) -> tuple[str, UUID | None]:
        found = [one for one in _resolved(session, [owner], key, kind) if one["by_id"]]
        if not found:
            if not write:
                return "added", None
            values = {**owner.params(session), **_columns(said, flags), "entity_id": key}
            values |= {"entity_type": kind, "written_by": user or session.actor}
            row = session.database.row("entities", "add", values)
            assert row is not None
            items.index(session, owner, KIND, [row["id"]])
            return "added", row["id"]
        stands = _one(session, [owner], found[0]["id"])
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
            _keep(session, owner, stands, "updated")
            items.unindex(session, owner, KIND, [stands.id])
            values = {**owner.params(session), "id": stands.id}
            merged = {**stands.metadata, **flags}
            session.database.execute("entities", "change", {**values, **_columns(after, merged)})
            items.index(session, owner, KIND, [stands.id])
        return "updated", stands.id

    return _written(session, user, owner, act, dry_run)


@gated_write
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
        raise _invalid(f"its confidence is {confidence:g}, not in 0..1")
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
        raise _invalid(f"the direction is {direction[:40]!r}, neither outgoing nor incoming")
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    screened = guard_of(session).screen(word)

    def act(write: bool) -> tuple[str, UUID | None]:
        one = _named(session, [owner], entity, entity_type)["id"]
        far = _named(session, [owner], other, other_type)["id"]
        if one == far:
            raise _invalid("an entity has no relation to itself")
        source, target = (one, far) if direction == "outgoing" else (far, one)
        before = _one(session, [owner], source)
        edges = {r.id for r in before.relationships if r.relation == screened.text}
        if write:
            items.unindex(session, owner, KIND, [source])
            values = {**owner.params(session), "source": source, "target": target}
            values |= {"relation": screened.text, "written_by": user or session.actor}
            made = session.database.row("entities", "add_relation", values)
            if made is not None:
                _keep(session, owner, before, "related")
                _touch(session, owner, source, screened.metadata)
            items.index(session, owner, KIND, [source])
            return ("unchanged" if made is None else "related"), one
        known = _one(session, [owner], target).relationships
        stands = any(r.id in edges and r.direction == "incoming" for r in known)
        return ("unchanged" if stands else "related"), one

    return _written(session, user, owner, act, dry_run)


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
    rows = items.search_items(session, KIND, owners, text, embedding, limit=limit, offset=offset)
    known = {one.id: one for one in _fetch(session, owners, [row["id"] for row in rows])}
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
    params = _params(session, owners, None, kind, limit, offset)
    rows = session.database.rows("entities", "list", params)
    total = int(rows[0]["total"]) if rows else 0
    return EntityList(
        entities=[_entity(row) for row in rows],
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
    """One entity by id, name or alias. Raises: NegmemError `entity_unknown`, `entity_ambiguous`."""
    owners = reach(session, user, namespace, "read")
    row = _named(session, owners, entity, entity_type)
    owner = Owner(row["owner_kind"], row["owner"])
    return EntityShown(
        entity=_one(session, [owner], row["id"]),
        versions=items.versions_of(session, owner, KIND, row["id"]) if history else None,
    )


class _RolledBackError(Exception):
    """Ends a transaction that only looked."""


def _written(
    session: Session,
    user: str | None,
    owner: Owner,
    act: Callable[[bool], tuple[str, UUID | None]],
    dry_run: bool,
) -> EntityChange:
    """Do `act` alone in the owner's store, then embed what it changed."""

    def work() -> tuple[str, UUID | None]:
        with session.database.transaction():
            access_of(session, user).require(owner, "write")
            items.lock_store(session, owner, KIND)
            return act(not dry_run)

    action, changed = items.retried(work)
    if changed is not None and action != "unchanged" and not dry_run:
        items.embed(session, owner, KIND, changed)
    entity = None if changed is None else _one(session, [owner], changed)
    return EntityChange(action=action, entity=entity, dry_run=dry_run)


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
        before = _one(session, [owner], _named(session, [owner], entity, entity_type)["id"])
        if not is_new(before, screened.text):
            return "unchanged", before.id
        if write:
            _keep(session, owner, before, action)
            items.unindex(session, owner, KIND, [before.id])
            values = {**owner.params(session), **more, "id": before.id, "content": screened.text}
            values["written_by"] = user or session.actor
            name = "add_fact" if action == "fact_added" else "add_event"
            session.database.execute("entities", name, values)
            _touch(session, owner, before.id, screened.metadata)
            items.index(session, owner, KIND, [before.id])
        return action, before.id

    return _written(session, user, owner, act, dry_run)


def _keep(session: Session, owner: Owner, entity: Entity, reason: str) -> None:
    before = entity.model_dump(mode="json")
    items.keep_version(session, owner, KIND, entity.id, entity.version, before, reason)


def _touch(session: Session, owner: Owner, id: UUID, flags: Mapping[str, Any]) -> None:
    values = {**owner.params(session), "id": id, "metadata": Jsonb(dict(flags))}
    session.database.execute("entities", "touch", values)


def _screened(session: Session, said: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    beside = (said["description"], said["aliases"], said["properties"])
    screened = guard_of(session).screen(said["name"], {}, beside)
    description, aliases, properties = screened.beside
    values = {"description": description, "aliases": list(aliases), "properties": properties}
    return {"name": screened.text, **values}, screened.metadata


def _columns(said: dict[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    columns = {"properties": Jsonb(said["properties"]), "metadata": Jsonb(dict(metadata))}
    return {**said, **columns}


def _properties(properties: Mapping[str, str] | None) -> dict[str, Any]:
    try:
        value, _ = clean_value(dict(properties or {}))
    except TextRefusedError as error:
        raise _invalid(f"properties: {error.detail}") from None
    assert isinstance(value, dict)
    return dict(value)


def _resolved(
    session: Session, owners: Sequence[Owner], word: str, entity_type: str | None
) -> list[dict[str, Any]]:
    params = {
        **items.owners_params(session, owners),
        "key": entity_key(word),
        "said": unicodedata.normalize("NFC", word.strip()),
        "entity_type": None if entity_type is None else entity_type.casefold(),
    }
    return session.database.rows("entities", "resolve", params)


def _named(
    session: Session, owners: Sequence[Owner], word: str, entity_type: str | None
) -> dict[str, Any]:
    """The one entity that a word names: an id goes before a name. Raises: as `show`."""
    items.cleaned(word, "id", _HINT, most=300)
    rows = _resolved(session, owners, word, entity_type)
    if not rows and entity_type is None and "/" in word:
        kind, _, rest = word.partition("/")
        rows = _resolved(session, owners, rest, kind)
    rows = [row for row in rows if row["by_id"]] or rows
    if not rows:
        raise NegmemError(
            "entity_unknown",
            f"there is no entity {word[:60]!r}",
            why="no id, name or alias of what may be read in this namespace is so",
            hint=f"negmem entity search {word[:60]!r}",
        )
    if len(rows) > 1:
        which = ", ".join(f"{row['entity_type']}/{row['entity_id']}" for row in rows[:5])
        raise NegmemError(
            "entity_ambiguous",
            f"{word[:60]!r} names {len(rows)} entities",
            why=which,
            hint=f"negmem entity show {rows[0]['entity_type']}/{rows[0]['entity_id']}",
        )
    return rows[0]


def _params(
    session: Session,
    owners: Sequence[Owner],
    ids: Sequence[UUID] | None,
    entity_type: str | None = None,
    limit: int = items.MAX_ROWS,
    offset: int = 0,
) -> dict[str, Any]:
    return {
        **items.owners_params(session, owners),
        "ids": None if ids is None else list(ids),
        "entity_type": entity_type,
        "row_limit": limit,
        "row_offset": offset,
    }


def _fetch(session: Session, owners: Sequence[Owner], ids: Sequence[UUID]) -> list[Entity]:
    rows = session.database.rows("entities", "list", _params(session, owners, ids))
    return [_entity(row) for row in rows]


def _one(session: Session, owners: Sequence[Owner], id: UUID) -> Entity:
    return _fetch(session, owners, [id])[0]


def _entity(row: dict[str, Any]) -> Entity:
    owner = Owner(row["owner_kind"], row["owner"])
    fields = {name: row[name] for name in Entity.model_fields if name in row}
    return Entity(
        **fields,
        namespace=owner.namespace,
        user_id=owner.name if owner.kind == "user" else None,
    )


def _invalid(why: str) -> UsageError:
    return UsageError("entity_invalid", "this can't be stored of an entity", why=why, hint=_HINT)
