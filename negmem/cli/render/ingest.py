"""What ingest did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line
from negmem.core.models.ingest import Ingested

if TYPE_CHECKING:
    from negmem.cli.render.console import Console

_SHOWN = 5


def draw_ingested(console: Console, result: Ingested) -> None:
    """Counts, then the first rejects with their lines."""
    verb = "would add" if result.dry_run else "added"
    console.out(
        f"{'read':<10}{_count(result.read_turns, 'turn')} in "
        f"{_count(result.read_sessions, 'session')} from {one_line(result.source)} ({result.format})"
    )
    added = (
        f"{_count(result.events, 'event')} · {_count(result.memories, 'memory')}"
        f" in {_count(result.sessions, 'session')}"
    )
    console.out(f"{verb:<10}{added}" if result.events else f"{verb:<10}nothing new")
    embedding = result.embedding
    if embedding.model and not result.dry_run and (embedding.vectors or embedding.missing):
        parts = [_count(embedding.vectors, "vector")]
        if embedding.repaired:
            parts.append(f"{embedding.repaired:,} of them were missing")
        if embedding.missing:
            parts.append(console.style(f"{embedding.missing:,} memories without", "warn"))
        console.out(f"{'embedded':<10}{' · '.join(parts)} ({embedding.model})")
    if result.duplicates:
        console.out(f"{'known':<10}{_count(result.duplicates, 'turn')} stored already")
    if result.blank:
        console.out(f"{'blank':<10}{_count(result.blank, 'turn')} without text")
    if result.rejected:
        kept = f", kept in {result.reject_file}" if result.reject_file else ""
        head = console.style(f"{'rejected':<10}", "warn")
        console.out(f"{head}{_count(result.rejected, 'record')}{kept}")
        for fault in result.rejects[:_SHOWN]:
            place = f"line {fault.line}"
            place += f", item {fault.item}" if fault.item else ""
            place += f", turn {fault.turn}" if fault.turn else ""
            console.out(f"{'':<10}{place}: {fault.reason}: {one_line(fault.detail, 120)}")
        if result.rejected > _SHOWN:
            console.out(f"{'':<10}and {result.rejected - _SHOWN:,} more")


def _count(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"
