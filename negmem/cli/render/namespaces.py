"""Namespaces as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.namespace import NamespaceChange, Namespaces

_GLOBAL = {
    "write": "every user reads and writes",
    "read": "every user reads",
    "members": "members alone",
}


def draw_list(console: Console, found: Namespaces) -> None:
    """Each namespace, its members below it."""
    for one in found.namespaces:
        says = _GLOBAL[found.global_access] if one.kind == "global" else "members alone"
        console.out(f"{console.style(one_line(one.name), 'name')}  {one.kind} · {says}")
        for member in one.members:
            console.out(f"  {member.role:<6}  {one_line(member.user)}")
    if not found.namespaces:
        console.note("no namespaces")


def draw_change(console: Console, change: NamespaceChange) -> None:
    """What was done, or would be."""
    name = one_line(change.namespace)
    would = "would be " if change.dry_run else ""
    if change.action == "create":
        console.out(f"{name} {would}created" if change.changed else f"{name} exists already")
    elif change.action == "grant":
        before = f" (was {change.previous_role})" if change.previous_role else ""
        says = f"{would}{change.role}{before}" if change.changed else f"{change.role} already"
        console.out(f"{one_line(change.user or '')} in {name}: {says}")
    else:
        says = f"{would}taken away" if change.changed else "had no role"
        console.out(f"{one_line(change.user or '')} in {name}: {says}")
