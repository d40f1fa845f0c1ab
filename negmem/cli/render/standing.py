"""Draws what stands for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.standing import Standing


def draw_standing(console: Console, found: Standing) -> None:
    """A line for each thing that stands."""
    if found.erasing_since:
        console.out(f"being erased since {stamp(console, found.erasing_since)}")
    if found.paused_at:
        console.out(f"paused since {stamp(console, found.paused_at)}: nothing is remembered")
    if found.held_at:
        reason = f" ({one_line(found.hold_reason)})" if found.hold_reason else ""
        console.out(f"held since {stamp(console, found.held_at)}{reason}: nothing is deleted")
    if not (found.erasing_since or found.paused_at or found.held_at):
        console.out(f"{found.user} is neither paused nor held")
    if found.dry_run:
        console.out("nothing was done (dry run)")
