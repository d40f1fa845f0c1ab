"""Conflicts as text: one line each in lists, both sides for one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from negmem.cli.render.memories import day, stamp
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.conflict import Conflict, ConflictList, ConflictResolved, ConflictSide


def _side(side: ConflictSide | None) -> str:
    if side is None:
        return "erased"
    value = side.value
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        value = value["text"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(f"{side.key}: {text}")


def draw_row(console: Console, conflict: Conflict) -> None:
    """One conflict: id, day, state, both sides."""
    state = "open" if conflict.status == "open" else conflict.resolution
    delta = "" if conflict.confidence_delta is None else f" · Δ {conflict.confidence_delta:+.2f}"
    head = f"{conflict.id}  {day(console, conflict.created_at)}  {state:<10}  "
    sides = f"{_side(conflict.old)}  ↔  {_side(conflict.new)}"
    console.row(head, f"{sides}  ({conflict.type}{delta})")


def draw_list(console: Console, found: ConflictList) -> None:
    """One line a conflict, then how many wait for a decision."""
    for conflict in found.conflicts:
        draw_row(console, conflict)
    if not found.conflicts:
        console.note("no conflicts")
    if found.open:
        console.note(f"{found.open:,} open: negmem conflict resolve ID keep_old|keep_new|…")


def draw_conflict(console: Console, conflict: Conflict) -> None:
    """Both sides, what was decided, and by whom."""
    rows = [
        ("id", str(conflict.id)),
        ("user", conflict.user),
        ("type", conflict.type),
        ("found by", conflict.detected_by),
        ("found", stamp(console, conflict.created_at)),
        ("state", conflict.status if conflict.status == "open" else conflict.resolution),
    ]
    if conflict.confidence_delta is not None:
        rows.append(("confidence", f"{conflict.confidence_delta:+.4f}, new less old"))
    if conflict.similarity is not None:
        rows.append(("similarity", f"{conflict.similarity:.4f}, calibrated"))
    for name, value in rows:
        console.out(f"{name:<11} {one_line(value)}")
    for name, side in (("old", conflict.old), ("new", conflict.new)):
        console.out(f"{name:<11} {_side(side)}")
        if side is not None:
            origin = "by hand" if side.origin == "manual" else f"confidence {side.confidence:.2f}"
            starts, ends = stamp(console, side.valid_from), stamp(console, side.valid_until)
            console.out(f"{'':<11} {side.id} · {side.status} · {origin} · {starts} to {ends}")
    for step in conflict.steps:
        by = one_line(step.by or "unknown")
        console.out(f"{'decided':<11} {step.resolution} · {stamp(console, step.at)} · {by}")
    if conflict.can_undo:
        console.note(f"taken back with: negmem conflict resolve {conflict.id} --undo")


def draw_resolved(console: Console, done: ConflictResolved) -> None:
    """What stands now."""
    would = "would be " if done.dry_run else ""
    what = "taken back" if done.action == "undo" else f"decided: {done.conflict.resolution}"
    console.out(f"{done.conflict.id}  {would}{what}")
    for name, side in (("old", done.conflict.old), ("new", done.conflict.new)):
        if side is not None:
            console.out(f"{name}  {side.status:<10}  {_side(side)}")
