"""Draws the certificate of an erasure, and what a replay did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.audit import draw_reach
from negmem.cli.render.memories import stamp
from negmem.cli.render.text import counted

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.erasure import Erased, Replayed


def draw_erased(console: Console, done: Erased) -> None:
    """The certificate, for a person to read."""
    draw_reach(console, done.tables)
    if done.state == "planned":
        console.out(f"{counted(done.rows, 'row')} would go (dry run)")
        return
    if done.state == "nothing":
        console.out("nothing of this person is here")
        return
    for one in done.names_replaced:
        console.out(f"{one.table}: the name was replaced in {counted(one.rows, 'row')} of others")
    console.out(f"{console.style('erased', 'ok')}  {counted(done.rows, 'row')}")
    console.out(f"person       {done.person}")
    console.out(f"started      {stamp(console, done.started_at)}")
    console.out(f"finished     {stamp(console, done.finished_at)}")
    found = done.verification
    if found is not None:
        console.out(
            f"searched     {found.tables} tables for the name, {found.needles:,} texts,"
            f" {found.vectors:,} vectors"
        )
        for one in found.mentions:
            word = console.style("mentioned", "warn")
            console.out(
                f"{word}    in {counted(one.rows, 'row')} of {one.table}, which are not this person's"
            )
        if not found.mentions:
            console.out("found        nothing")
    console.out(f"trail        {done.trail_head}")
    console.out(f"certificate  sha256 {done.sha256}")
    console.out("out of reach:")
    for text in done.unreachable:
        console.out(f"  {text}")


def draw_replayed(console: Console, done: Replayed) -> None:
    """A line a person who was here."""
    for one in done.persons:
        console.out(f"{one.person}  {one.action.replace('_', ' ')}  {counted(one.rows, 'row')}")
    would = " (dry run)" if done.dry_run else ""
    console.out(
        f"{done.listed:,} on the list, {len(done.persons):,} here, {done.erased:,} erased{would}"
    )
