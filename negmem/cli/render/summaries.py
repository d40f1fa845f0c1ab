"""Summaries as text: a heading and the text of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.summary import Summaries, Summary, SummaryRefresh

_FRESHNESS = {
    "fresh": ("fresh", "ok"),
    "sources_changed": ("stale: its sources changed", "warn"),
    "source_removed": ("stale: a source was removed, no context shows it", "warn"),
}


def _name(kind: str, thread: str | None) -> str:
    return kind if thread is None else f"{kind} {one_line(thread)}"


def _draw(console: Console, summary: Summary) -> None:
    words, style = _FRESHNESS[summary.freshness]
    by = one_line(summary.model_used) if summary.model_used else "no model: sentences as they stand"
    console.out(
        f"{console.style(_name(summary.type, summary.thread), 'name')}  "
        f"{console.style(words, style)} · version {summary.version} · {summary.tokens or 0:,} tokens"
    )
    console.out(
        f"  of {summary.memories or 0} memories and {summary.facts or 0} facts · "
        f"{stamp(console, summary.updated_at)} · {by}"
    )
    if summary.fallback:
        console.out(f"  the model was asked, and is not used: {one_line(summary.fallback)}")
    console.out()
    for line in safe_text(summary.content).splitlines():
        console.out(f"  {line}")


def draw_summaries(console: Console, found: Summaries) -> None:
    """Each summary with how fresh it is."""
    for number, summary in enumerate(found.summaries):
        if number:
            console.out()
        _draw(console, summary)
    if not found.summaries:
        console.note("no summaries yet: negmem summary refresh --user NAME")


def draw_refresh(console: Console, done: SummaryRefresh) -> None:
    """One line a summary: what was done, and why."""
    for one in done.refreshed:
        action = (
            f"would be {one.action}" if done.dry_run and one.action == "written" else one.action
        )
        console.out(f"{_name(one.type, one.thread)}  {action}: {one_line(one.reason)}")
    if not done.refreshed:
        console.note("no thread changed since its summary")
