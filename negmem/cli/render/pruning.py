"""A pruning as text: one line for each of the first that go, then the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import day

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.pruning import Pruned


_SHOWN = 20


def draw_pruned(console: Console, pruned: Pruned) -> None:
    """What went or would go, and why."""
    if pruned.run_id is not None and not pruned.removed:
        verb = "would bring back" if pruned.dry_run else "brought back"
        console.out(f"{verb} {pruned.restored:,} · {pruned.kept:,} are live")
        return
    shown = pruned.items if console.common.verbose else pruned.items[:_SHOWN]
    for item in shown:
        head = f"{item.id}  {day(console, item.created_at)}  {item.reason:<5}  "
        console.row(head, item.content)
    if len(shown) < len(pruned.items):
        console.out(f"… and {len(pruned.items) - len(shown):,} more: -v or --json lists all")
    verb = "would remove" if pruned.dry_run else "removed"
    console.out(
        f"{verb} {pruned.removed:,}: {pruned.reasons.age:,} by age, {pruned.reasons.count:,} by"
        f" number · {pruned.kept:,} stay, {pruned.protected:,} of them protected"
    )
    if pruned.future:
        console.note(f"{pruned.future:,} carry a date in the future")
    if pruned.changed_meanwhile:
        console.note(
            f"{pruned.changed_meanwhile:,} were changed meanwhile and are left as they are"
        )
    if pruned.removed and not pruned.dry_run and pruned.store in ("memory", "fact"):
        console.note(f"bring one back with: negmem {pruned.store} restore ID --user USER")
