"""Instructions as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.instruction import InstructionChange, Instructions


def draw_list(console: Console, found: Instructions) -> None:
    """One line an instruction: key, version, what it says."""
    if not found.instructions:
        console.note("no instructions")
    longest = max((len(i.key) for i in found.instructions), default=0)
    for item in found.instructions:
        head = f"{one_line(item.key):<{min(longest, 32)}}  v{item.version:<3} "
        console.row(head, item.content)


def draw_shown(console: Console, found: Instructions) -> None:
    """Each version with its text."""
    for number, item in enumerate(found.instructions):
        if number:
            console.out()
        current = " · current" if item.is_current else ""
        console.out(
            f"{console.style(one_line(item.key), 'name')}  version {item.version} of "
            f"{item.versions}{current} · {stamp(console, item.created_at)} by "
            f"{one_line(item.created_by or 'unknown')}"
        )
        for line in safe_text(item.content).splitlines():
            console.out(f"  {line}")


def draw_change(console: Console, change: InstructionChange) -> None:
    """What was written."""
    if change.instruction is None:
        console.out("would write version 1")
    elif change.dry_run and change.changed:
        console.out(f"would write version {change.instruction.version + 1}")
    elif change.changed:
        console.out(f"{one_line(change.instruction.key)} version {change.instruction.version}")
    else:
        version = change.instruction.version
        console.out(
            f"{one_line(change.instruction.key)} unchanged: version {version} says so already"
        )
