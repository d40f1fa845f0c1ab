"""All that is known of a user, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.picture import UserPicture


def draw_picture(console: Console, found: UserPicture) -> None:
    """A line for what is held, then store by store."""
    held = (
        f"{found.memories:,} memories, {found.facts:,} facts, {found.threads:,} threads,"
        f" {found.open_jobs:,} open jobs"
    )
    console.out(f"{console.style(one_line(found.user), 'name')}  {held}")
    if found.standing.paused_at or found.standing.held_at:
        console.out("  paused or held: negmem user show")
    shared = [f"{one_line(name)} ({role})" for name, role in found.namespaces.items()]
    console.out(f"  namespaces  {', '.join(shared)}")
    if found.waiting_proposals:
        console.out(f"  waiting     {found.waiting_proposals:,}: negmem proposals list")
    for store in found.stores:
        state = store.mode if store.is_on else "off"
        console.out(f"{console.style(store.store, 'name')}  {store.total:,} ({state})")
        for item in store.items:
            by = f"by {one_line(item.written_by)}" if item.written_by else "by hand"
            console.out(f"  {one_line(item.text)}  ({by}, version {item.version})")
            for origin in item.origins:
                day = f"{origin.said_at:%Y-%m-%d}"
                console.row(f"      {day} {one_line(origin.thread)}: ", origin.quote)
            console.out(f"      undo: {one_line(item.undo)}")
        if store.total > len(store.items):
            console.out(f"  {store.total - len(store.items):,} more: --limit N")
