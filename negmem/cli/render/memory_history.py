"""The history of a memory as text, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.memory_history import MemoryHistory


def draw_history(console: Console, found: MemoryHistory) -> None:
    """One line a version, a memory taken in, a turn; then what stands."""

    def line(when: str, what: str) -> None:
        width = None if console.width is None else max(20, console.width - len(when) - 2)
        console.out(f"{when}  {one_line(what, width)}")

    for source in found.sources:
        where = f" in {source.thread}" if source.thread else ""
        line(
            stamp(console, source.occurred_at), f"said by {source.author}{where}, {source.event_id}"
        )
    line(stamp(console, found.created_at), "stored")
    for version in found.versions:
        said = version.content or ""
        line(
            stamp(console, version.changed_at),
            f"version {version.version} {version.reason} by {version.changed_by}; before: {said}",
        )
    for taken in found.merged_from:
        how = "the same" if taken.similarity is None else f"similarity {taken.similarity:.3f}"
        line(stamp(console, taken.at), f"took in {taken.id} ({how}): {taken.content or 'purged'}")
    if found.deleted_at is not None:
        line(stamp(console, found.deleted_at), f"removed: {found.deleted_reason}")
        if found.merged_into is not None:
            console.note(f"taken apart again with: negmem memory restore {found.id}")
    line(f"version {found.version}", found.content)
