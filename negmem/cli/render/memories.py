"""Memories as text: one line each in lists, all fields for one."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.memory import AddedMemory, Memory, MemoryChange, MemoryList


def stamp(console: Console, moment: datetime | None) -> str:
    """A moment: local with its zone for a person, UTC in a pipe."""
    if moment is None:
        return "–"
    if console.is_terminal:
        return moment.astimezone().strftime("%Y-%m-%d %H:%M %Z")
    utc = moment.astimezone(timezone.utc).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='seconds')}Z"


def day(console: Console, moment: datetime | None) -> str:
    """The day of a moment: local for a person, UTC in a pipe."""
    if moment is None:
        return "–"
    zoned = moment.astimezone() if console.is_terminal else moment.astimezone(timezone.utc)
    return zoned.date().isoformat()


def draw_list(console: Console, found: MemoryList) -> None:
    """One line a memory: id, when, type, retention, content."""
    for memory in found.memories:
        when = day(console, memory.occurred_at)
        head = f"{memory.id}  {when:<10}  {memory.type:<10}  {memory.retention:.3f}  "
        pin = "[pinned] " if memory.pinned_at else ""
        console.row(head, pin + memory.content)
    if not found.memories:
        console.note("no memories")


def draw_memory(console: Console, memory: Memory) -> None:
    """Everything known about one memory."""
    fades = "never" if memory.never_fades else stamp(console, memory.fades_at)
    state = "live"
    if memory.deleted_at is not None:
        state = f"removed {stamp(console, memory.deleted_at)}: {memory.deleted_reason}"
    elif memory.pinned_at is not None:
        state = f"pinned {stamp(console, memory.pinned_at)}"
    rows = [
        ("id", str(memory.id)),
        ("user", memory.user),
        ("type", memory.type),
        ("thread", memory.thread or "–"),
        ("said", stamp(console, memory.occurred_at)),
        ("stored", stamp(console, memory.created_at)),
        ("version", str(memory.version)),
        ("state", state),
        ("retention", f"{memory.retention:.4f} now, fades {fades}"),
        ("importance", f"{memory.importance:.4f}"),
        ("accesses", f"{memory.access_count}, last {stamp(console, memory.last_accessed_at)}"),
        ("vector", "yes" if memory.embedded else "none: found by keyword only"),
        ("sources", f"{memory.sources} events"),
        ("topic", memory.topic or "–"),
        ("metadata", json.dumps(memory.metadata or {}, ensure_ascii=False)),
    ]
    for name, value in rows:
        console.out(f"{name:<11} {one_line(value)}")
    console.out()
    console.out(safe_text(memory.content))


def draw_added(console: Console, added: AddedMemory) -> None:
    """What was stored."""
    if added.memory is None:
        console.out("would store one memory")
        return
    console.out(f"stored {added.memory.id}")
    if added.replaced_characters:
        console.note(f"{added.replaced_characters} characters that can't be stored were replaced")


def draw_change(console: Console, change: MemoryChange) -> None:
    """One line a memory: what happened to it."""
    words = {
        "remove": ("removed", "removed already"),
        "restore": ("restored", "not removed"),
        "pin": ("pinned", "pinned already"),
        "unpin": ("unpinned", "not pinned"),
    }
    done, idle = words[change.action]
    would = "would be " if change.dry_run else ""
    for memory_id in change.changed:
        console.out(f"{memory_id}  {would}{done}")
    for memory_id in change.derived:
        console.out(f"{memory_id}  {would}{done} too: it was made of that")
    for memory_id in change.unchanged:
        console.out(f"{memory_id}  unchanged: {idle}")
    for memory_id in change.unknown:
        console.out(f"{memory_id}  unknown")
