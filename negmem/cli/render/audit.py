"""Draws decisions and the trail of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import counted, one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.audit import AuditHistory, Decided, Reached, TrailHead, TrailVerified


def draw_decided(console: Console, done: Decided) -> None:
    """A line a decision, then rows by table."""
    for one in done.records:
        by = f" by {one_line(one.by)}" if one.by else ""
        replayed = f"  decided before{by}" if one.replayed else ""
        head = f"{one.memory_id}  {one.decision:<9}  version {one.version}"
        console.out(f"{head}  {stamp(console, one.at)}{replayed}")
    draw_reach(console, done.reach)
    if done.summaries_rebuilt:
        console.out(f"{done.summaries_rebuilt:,} summaries made anew")
    if done.dry_run:
        console.out("nothing was done (dry run)")


def draw_reach(console: Console, reach: Sequence[Reached]) -> None:
    """Rows by table."""
    widest = max([len(one.table) for one in reach], default=0)
    for one in reach:
        console.out(f"{one.table.ljust(widest)}  {counted(one.rows, 'row')}")


def draw_history(console: Console, found: AuditHistory) -> None:
    """A line an entry."""
    for one in found.entries:
        who = one.actor if one.actor_verified else f"{one.actor} (unverified)"
        note = f"  {one_line(one.note)}" if one.note else ""
        head = f"{one.sequence:>6}  {stamp(console, one.at)}  {one.decision:<9}"
        console.out(f"{head}  {one.subject}  v{one.version}  {one_line(who)}{note}")
    if not found.entries:
        console.out(f"the trail has nothing about {found.user}")
    if found.next is not None:
        console.out(f"there is more: negmem audit history --before {found.next}")


def draw_head(console: Console, found: TrailHead) -> None:
    """The one line to keep."""
    console.out(found.head)


def draw_verified(console: Console, found: TrailVerified) -> None:
    """The verdict, faults with their place, what is proven and what is not."""
    for one in found.faults:
        place = "" if one.first is None else f"entry {one.first:,}"
        if one.last is not None and one.last != one.first:
            place = f"entries {one.first:,} to {one.last:,}"
        console.out(f"{console.style(one.kind.ljust(15), 'fail')}  {place}  {one.said}")
    verdict = console.style("whole", "ok") if found.whole else console.style("broken", "fail")
    console.out(f"{verdict}  {found.entries:,} entries of {found.app}")
    if found.proven_to is not None:
        console.out(f"proven by a head up to entry {found.proven_to:,}")
    for remark in found.remarks:
        console.out(f"{console.style('note', 'warn')}  {remark}")
