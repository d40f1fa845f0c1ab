"""Draws what an export holds and what an import brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import counted, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.disclosure import Disclosed
    from negmem.core.models.export import Exported, Imported


def draw_exported(console: Console, done: Exported) -> None:
    """Rows by table, then the file and its hash."""
    widest = max([len(one.table) for one in done.tables], default=0)
    for one in done.tables:
        console.out(f"{one.table.ljust(widest)}  {one.rows:,}")
    console.out(f"{counted(done.rows, 'row')} of {done.user} in {done.path}")
    console.out(f"sha256  {done.sha256}")


def draw_imported(console: Console, done: Imported) -> None:
    """Rows by table, then what was not brought back."""
    widest = max([len(one.table) for one in done.tables], default=0)
    for one in done.tables:
        stood = f", {one.stood:,} stood" if one.stood else ""
        console.out(f"{one.table.ljust(widest)}  {one.added:,} added{stood}")
    for skipped in done.skipped:
        console.out(
            f"{console.style('skip', 'dim')}  {skipped.table}, {counted(skipped.rows, 'row')}: {skipped.reason}"
        )
    if done.dry_run:
        console.out(f"the export of {done.user} is whole; nothing was written (dry run)")
        return
    console.out(
        f"{counted(done.added, 'row')} of {done.user} added, {done.stood:,} stood; {counted(done.embedded, 'vector')}"
    )


def draw_disclosed(console: Console, done: Disclosed) -> None:
    """Rows by table, then the page."""
    widest = max([len(one.table) for one in done.tables], default=0)
    for one in done.tables:
        console.out(f"{one.table.ljust(widest)}  {one.rows:,}")
    console.out(
        f"{counted(done.rows, 'row')} of {safe_text(done.user)}, read {counted(done.reads, 'time')}, in {safe_text(done.path)}"
    )
