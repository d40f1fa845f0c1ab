"""Where an item came from and who changed it, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import day, stamp
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from negmem.cli.render.console import Console
    from negmem.core.models.origin import ItemChange, Origin


def draw_origins(console: Console, origins: Sequence[Origin], indent: str = "  ") -> None:
    """A row a turn: when, in which thread, its id, what was said."""
    for one in origins:
        head = f"{indent}said {day(console, one.said_at)} in {one_line(one.thread)}, {one.id}: "
        console.row(head, one.quote)


def draw_changes(
    console: Console,
    added: datetime,
    by: str | None,
    changes: Sequence[ItemChange],
    undo: str | None,
) -> None:
    """Who added an item and who changed it, oldest first; then what takes the last change back."""
    console.out(f"  added {stamp(console, added)} by {one_line(by or 'unknown')}")
    if changes and changes[-1].version > 1:
        console.out(f"  … {changes[-1].version - 1} earlier changes")
    for one in reversed(changes):
        what = one_line(one.reason.replace("_", " "))
        console.out(f"  {what} {stamp(console, one.changed_at)} by {one_line(one.changed_by)}")
    if undo is not None:
        console.out(f"  undo: {one_line(undo)}")
