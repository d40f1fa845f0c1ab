"""Rows of entities: found by what names them, read with their parts, written alone in their store."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.learning import items
from negmem.core.learning.access import Owner, access_of
from negmem.core.models.entity import Entity, EntityChange
from negmem.core.pii import guard_of
from negmem.core.session import Session
from negmem.core.text.clean import TextRefusedError, clean_value
from negmem.errors import NegmemError, UsageError

KIND = "entity"
HINT = "negmem entity add zhang_san --type person --name 张三"


def entity_key(text: str) -> str:
    """An id as it is stored: composed, case folded, blanks as _. Marks stay, so パン and ハン are two."""
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return "_".join(composed.split())


def written(
    session: Session,
    user: str | None,
    owner: Owner,
    act: Callable[[bool], tuple[str, UUID | None]],
    dry_run: bool,
    *,
    remembers: bool = True,
) -> EntityChange:
    """Do `act` alone in the owner's store, then embed what it changed."""

    def work() -> tuple[str, UUID | None]:
        with session.database.transaction():
            access_of(session, user).require(owner, "write")
            items.lock_store(session, owner, KIND, remembers=remembers)
            return act(not dry_run)

    action, changed = items.retried(work)
    if changed is not None and action != "unchanged" and not dry_run:
        items.embed(session, owner, KIND, changed)
    entity = None if changed is None else one_entity(session, [owner], changed)
    return EntityChange(action=action, entity=entity, dry_run=dry_run)


def keep(session: Session, owner: Owner, entity: Entity, reason: str) -> None:
    """Keep what an entity was as a version, before it is changed."""
    before = {**entity.model_dump(mode="json"), "removed": entity.deleted_at is not None}
    items.keep_version(session, owner, KIND, entity.id, entity.version, before, reason)


def touch(session: Session, owner: Owner, id: UUID, flags: Mapping[str, Any]) -> None:
    """A new version of an entity whose parts have changed; flags of a new part join its metadata."""
    values = {**owner.params(session), "id": id, "metadata": Jsonb(dict(flags))}
    session.database.execute("entities", "touch", values)


def screened(session: Session, said: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of an entity may be stored, as the policy for personal data leaves it, and the flags."""
    beside = (said["description"], said["aliases"], said["properties"])
    screened = guard_of(session).screen(said["name"], {}, beside)
    description, aliases, properties = screened.beside
    values = {"description": description, "aliases": list(aliases), "properties": properties}
    return {"name": screened.text, **values}, screened.metadata


def columns(said: dict[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of an entity."""
    columns = {"properties": Jsonb(said["properties"]), "metadata": Jsonb(dict(metadata))}
    return {**said, **columns}


def checked_properties(properties: Mapping[str, str] | None) -> dict[str, Any]:
    """Properties as they can be stored. Raises: UsageError `entity_invalid`."""
    try:
        value, _ = clean_value(dict(properties or {}))
    except TextRefusedError as error:
        raise invalid(f"properties: {error.detail}") from None
    assert isinstance(value, dict)
    return dict(value)


def resolved(
    session: Session, owners: Sequence[Owner], word: str, entity_type: str | None
) -> list[dict[str, Any]]:
    """The entities that a word names, by id first."""
    params = {
        **items.owners_params(session, owners),
        "key": entity_key(word),
        "said": unicodedata.normalize("NFC", word.strip()),
        "entity_type": None if entity_type is None else entity_type.casefold(),
    }
    return session.database.rows("entities", "resolve", params)


def removed_under(session: Session, owner: Owner, key: str, entity_type: str | None) -> UUID | None:
    """The removed entity that had this id and type, if one had; the first where the type is not said."""
    params = {
        **items.owners_params(session, [owner]),
        "key": key,
        "entity_type": None if entity_type is None else entity_type.casefold(),
    }
    row = session.database.row("entities", "removed", params)
    return None if row is None else row["id"]


def named(
    session: Session, owners: Sequence[Owner], word: str, entity_type: str | None
) -> dict[str, Any]:
    """The one entity that a word names: an id goes before a name. Raises: as `show`."""
    items.cleaned(word, "id", HINT, most=300)
    rows = resolved(session, owners, word, entity_type)
    if not rows and entity_type is None and "/" in word:
        kind, _, rest = word.partition("/")
        rows = resolved(session, owners, rest, kind)
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


def page_params(
    session: Session,
    owners: Sequence[Owner],
    ids: Sequence[UUID] | None,
    entity_type: str | None = None,
    limit: int = items.MAX_ROWS,
    offset: int = 0,
    *,
    with_removed: bool = False,
) -> dict[str, Any]:
    """The parameters of the block `entities.list`; ids None: all."""
    return {
        **items.owners_params(session, owners),
        "ids": None if ids is None else list(ids),
        "with_removed": with_removed,
        "entity_type": entity_type,
        "row_limit": limit,
        "row_offset": offset,
    }


def fetch(
    session: Session, owners: Sequence[Owner], ids: Sequence[UUID], *, with_removed: bool = False
) -> list[Entity]:
    """Live entities of some owners, by id, with all their parts; with those that were removed."""
    params = page_params(session, owners, ids, with_removed=with_removed)
    rows = session.database.rows("entities", "list", params)
    return [entity_of(row) for row in rows]


def one_entity(session: Session, owners: Sequence[Owner], id: UUID) -> Entity:
    """One entity that is there, or was."""
    return fetch(session, owners, [id], with_removed=True)[0]


def entity_of(row: dict[str, Any]) -> Entity:
    """A row of the block `entities.list` as an entity."""
    owner = Owner(row["owner_kind"], row["owner"])
    fields = {name: row[name] for name in Entity.model_fields if name in row}
    return Entity(
        **fields,
        namespace=owner.namespace,
        user_id=owner.name if owner.kind == "user" else None,
    )


def invalid(why: str) -> UsageError:
    """What can not be stored of an entity."""
    return UsageError("entity_invalid", "this can't be stored of an entity", why=why, hint=HINT)
