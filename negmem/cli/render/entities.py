"""Entities as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.learnings import draw_earlier
from negmem.cli.render.memories import day
from negmem.cli.render.origins import draw_changes, draw_origins
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from uuid import UUID

    from negmem.cli.render.console import Console
    from negmem.core.models.entity import (
        Entity,
        EntityChange,
        EntityEvent,
        EntityFact,
        EntityList,
        EntityRelationship,
        EntityShown,
        FoundEntities,
    )
    from negmem.core.models.origin import PartOrigin

_INDENT = "            "


def draw_list(console: Console, found: EntityList) -> None:
    """A line an entity."""
    for one in found.entities:
        console.out(_line(console, one, ""))
    if not found.entities:
        console.note("no entities")
    if found.truncated:
        console.note(f"{len(found.entities)} of {found.total}")


def draw_found(console: Console, found: FoundEntities) -> None:
    """A line an entity, with its score."""
    for one in found.entities:
        console.out(_line(console, one, f"{one.score:.3f}  "))
    if not found.entities:
        console.note("nothing found")
    if found.reason:
        console.note(f"by {found.level} alone: {one_line(found.reason)}")


def draw_shown(console: Console, shown: EntityShown) -> None:
    """What it was before; what it is, each part with its id and where it came from; who changed it."""
    draw_earlier(console, shown.versions or (), ("name", "description", "aliases", "properties"))
    one = shown.entity
    origins: dict[UUID, list[PartOrigin]] = {}
    for origin in shown.origins:
        origins.setdefault(origin.part, []).append(origin)
    _head(console, one)
    draw_origins(console, origins.get(one.id, ()))
    for part in _parts(one):
        console.out(_part(part))
        by = one_line(part.written_by or "unknown")
        console.out(f"{_INDENT}{part.id}  {day(console, part.created_at)} by {by}")
        draw_origins(console, origins.get(part.id, ()), _INDENT)
    draw_changes(console, one.created_at, one.written_by, shown.changes, shown.undo)


def draw_entity(console: Console, one: Entity) -> None:
    """One entity, whole."""
    _head(console, one)
    for part in _parts(one):
        console.out(_part(part))


def _head(console: Console, one: Entity) -> None:
    console.out(f"{console.style(one_line(one.name), 'name')}  {_id(one)} · version {one.version}")
    if one.description:
        console.out(f"  {one_line(one.description)}")
    if one.aliases:
        console.out(f"  also: {', '.join(map(one_line, one.aliases))}")
    for key, value in one.properties.items():
        console.out(f"  {one_line(key)}: {one_line(str(value))}")


def _parts(one: Entity) -> list[EntityFact | EntityEvent | EntityRelationship]:
    return [*one.facts, *one.events, *one.relationships]


def _part(part: EntityFact | EntityEvent | EntityRelationship) -> str:
    from negmem.core.models.entity import EntityEvent, EntityFact

    if isinstance(part, EntityFact):
        return f"  fact      {one_line(part.content)}"
    if isinstance(part, EntityEvent):
        return f"  event     {one_line(part.date or 'undated')}  {one_line(part.content)}"
    arrow = "->" if part.direction == "outgoing" else "<-"
    far = f"{one_line(part.name)} ({one_line(part.entity_type)}/{one_line(part.entity_id)})"
    return f"  relation  {arrow} {one_line(part.relation)} {far}"


def draw_change(console: Console, change: EntityChange) -> None:
    """What was done, or would be."""
    would = "would be " if change.dry_run and change.action != "unchanged" else ""
    console.out(would + change.action.replace("_", " "))
    if change.entity is not None:
        draw_entity(console, change.entity)


def _id(one: Entity) -> str:
    where = "" if one.namespace == "global" else f" [{one_line(one.namespace)}]"
    return f"{one_line(one.entity_type)}/{one_line(one.entity_id)}{where}"


def _line(console: Console, one: Entity, head: str) -> str:
    parts = f"{len(one.facts)} facts, {len(one.events)} events, {len(one.relationships)} relations"
    return f"{head}{_id(one)}  {console.style(one_line(one.name), 'name')} · {parts}"
