"""Core blocks as text: a heading and the text of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.core_block import CoreBlock, CoreBlockChange, CoreBlocks


def _heading(console: Console, block: CoreBlock) -> str:
    where = block.scope if block.thread is None else f"{block.scope} {one_line(block.thread)}"
    cut = " · cut" if block.metadata.get("truncated") is True else ""
    return (
        f"{console.style(one_line(block.label), 'name')}  {where} · version {block.version} · "
        f"{block.tokens or 0:,} tokens{cut} · {stamp(console, block.updated_at)} by "
        f"{one_line(block.updated_by or 'unknown')}"
    )


def draw_blocks(console: Console, found: CoreBlocks) -> None:
    """Each block with its text, then the history of one."""
    for number, block in enumerate(found.blocks):
        if number:
            console.out()
        console.out(_heading(console, block))
        for line in safe_text(block.content).splitlines():
            console.out(f"  {line}")
    if not found.blocks:
        console.note("no core blocks")
    for version in found.history:
        console.out()
        console.out(
            f"version {version.version} · until {stamp(console, version.changed_at)} · "
            f"{one_line(version.reason)} by {one_line(version.changed_by)}"
        )
        for line in safe_text(version.content).splitlines():
            console.out(f"  {line}")


def draw_change(console: Console, change: CoreBlockChange) -> None:
    """What happened to the block."""
    done = {"set": "written", "remove": "removed"}[change.action]
    would = "would be " if change.dry_run else ""
    if change.block is None:
        console.out(f"the block {would}{done}")
        return
    name = one_line(change.block.label)
    if not change.changed:
        console.out(f"{name} unchanged: version {change.block.version} says so already")
        return
    version = "" if change.dry_run else f", version {change.block.version}"
    console.out(f"{name} {would}{done}{version}")
