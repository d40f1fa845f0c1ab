"""Draws where personal data stands and what was done about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from negmem.cli.render.text import counted, one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.pii import PiiFix, PiiScan, PiiSkipped


def draw_scan(console: Console, found: PiiScan) -> None:
    """Findings by place, then what was read and what could not be."""
    widest = max([len(f"{one.table}.{one.column}") for one in found.findings], default=0)
    for one in found.findings:
        place = f"{one.table}.{one.column}".ljust(widest)
        example = f"  {one.examples[0]}" if one.examples else ""
        said = f"{one.findings:,} in {counted(one.rows, 'row')}"
        console.out(f"{console.style(one.kind.ljust(12), 'warn')}  {place}  {said}{example}")
    nothing = "" if found.findings else "no personal data found; "
    console.out(
        f"{nothing}{counted(found.rows, 'row')} of {counted(found.tables, 'table')} read, by {found.engine}"
    )
    if found.unscanned:
        console.out(
            f"{console.style('warn', 'warn')}  {found.unscanned:,} rows are marked unscanned:"
            " negmem pii fix --policy mark"
        )
    if found.failed:
        console.out(f"{console.style('warn', 'warn')}  {found.failed:,} rows could not be read now")
    _draw_skipped(console, "not read", found.skipped)
    _draw_next(console, "negmem pii scan", found.next)


def draw_fix(console: Console, done: PiiFix) -> None:
    """What was rewritten by table, then what was not."""
    verb = {"mark": "marked", "mask": "masked", "anonymize": "anonymized"}.get(done.policy, "")
    widest = max([len(one.table) for one in done.fixed], default=0)
    for one in done.fixed:
        would = "would be " if done.dry_run else ""
        console.out(
            f"{one.table.ljust(widest)}  {one.findings:,} in {counted(one.rows, 'row')} {would}{verb}"
        )
    console.out(
        f"{counted(done.rows, 'row')} of {done.scanned:,}" + (" (dry run)" if done.dry_run else "")
    )
    if done.embedded:
        console.out(f"{done.embedded:,} vectors computed anew")
    if done.changed_meanwhile:
        console.out(
            f"{console.style('warn', 'warn')}  {done.changed_meanwhile:,} rows were changed by"
            " somebody else meanwhile: run it again"
        )
    if done.failed:
        console.out(f"{console.style('warn', 'warn')}  {done.failed:,} rows could not be read")
    _draw_skipped(console, "left as it is", done.left)
    _draw_skipped(console, "not read", done.skipped)
    _draw_next(console, f"negmem pii fix --policy {done.policy}", done.next)


def _draw_skipped(console: Console, what: str, skipped: Sequence[PiiSkipped]) -> None:
    for one in skipped:
        console.out(f"{console.style('skip', 'dim')}  {one.table} {what}: {one_line(one.reason)}")


def _draw_next(console: Console, command: str, place: str | None) -> None:
    if place is not None:
        console.out(f"there is more: {command} --after {place}")
