"""Entities as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.learnings import draw_earlier
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.entity import (
        Entity,
        EntityChange,
        EntityList,
        EntityShown,
        FoundEntities,
    )


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
    """What it was before, then what it is."""
    draw_earlier(console, shown.versions or (), ("name", "description", "aliases", "properties"))
    draw_entity(console, shown.entity)


def draw_entity(console: Console, one: Entity) -> None:
    """One entity, whole."""
    console.out(f"{console.style(one_line(one.name), 'name')}  {_id(one)} · version {one.version}")
    if one.description:
        console.out(f"  {one_line(one.description)}")
    if one.aliases:
        console.out(f"  also: {', '.join(map(one_line, one.aliases))}")
    for key, value in one.properties.items():
        console.out(f"  {one_line(key)}: {one_line(str(value))}")
    for fact in one.facts:
        console.out(f"  fact      {one_line(fact.content)}")
    for event in one.events:
        console.out(f"  event     {one_line(event.date or 'undated')}  {one_line(event.content)}")
    for edge in one.relationships:
        arrow = "->" if edge.direction == "outgoing" else "<-"
        far = f"{one_line(edge.name)} ({one_line(edge.entity_type)}/{one_line(edge.entity_id)})"
        console.out(f"  relation  {arrow} {one_line(edge.relation)} {far}")


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
