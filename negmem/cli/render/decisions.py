"""Decisions of agents as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import day, stamp
from negmem.cli.render.origins import draw_changes, draw_origins
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.decision import (
        AgentDecision,
        AgentDecisions,
        DecisionChange,
        DecisionShown,
    )


def draw_list(console: Console, found: AgentDecisions) -> None:
    """A line a decision: id, when, by which agent, what; and what came of it."""
    for one in found.decisions:
        by = f"{one_line(one.agent)}: " if one.agent else ""
        came = f" → {one.outcome}" if one.outcome else ""
        head = f"{one.id}  {day(console, one.created_at)}  {by}"
        console.row(head, one.decision + came)
    if not found.decisions:
        console.note("no decisions")
    if found.truncated:
        console.note(f"{len(found.decisions)} of {found.total:,}")


def draw_decision(console: Console, one: AgentDecision) -> None:
    """One decision, whole."""
    console.out(console.style(one_line(one.decision), "name"))
    quality = f" ({one.outcome_quality})" if one.outcome_quality else ""
    sure = "" if one.confidence is None else f"{one.confidence:.2f}"
    rows = (
        ("because", one.reasoning),
        ("when", one.context),
        ("instead of", "; ".join(one.alternatives)),
        ("type", one.decision_type),
        ("confidence", sure),
        ("tags", ", ".join(one.tags)),
        ("thread", one.thread),
        ("outcome", f"{one.outcome}{quality}" if one.outcome else None),
        ("removed", None if one.deleted_at is None else stamp(console, one.deleted_at)),
    )
    for name, said in rows:
        if said:
            console.out(f"  {name:<10}  {one_line(said)}")
    console.out(f"  {one.id} · version {one.version} · {stamp(console, one.updated_at)}")


def draw_shown(console: Console, one: DecisionShown) -> None:
    """One decision, whole; the turns it rests on, who logged it and who changed it."""
    draw_decision(console, one)
    draw_origins(console, one.origins)
    draw_changes(console, one.created_at, one.agent, one.changes, one.undo)


def draw_change(console: Console, change: DecisionChange) -> None:
    """What was done, or would be."""
    would = "would be " if change.dry_run and change.action != "unchanged" else ""
    console.out(f"{would}{change.action}")
    if change.decision is not None:
        draw_decision(console, change.decision)
