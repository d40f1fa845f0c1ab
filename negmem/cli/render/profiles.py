"""Profiles as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.profile import Profile, ProfileChange


def draw_profile(console: Console, found: Profile) -> None:
    """A line a field."""
    longest = min(32, max((len(one.field) for one in found.fields), default=0))
    for one in found.fields:
        how = one.origin if one.declared else f"{one.origin}, not in the schema"
        name = console.style(f"{one_line(one.field):<{longest}}", "name")
        console.out(f"{name}  {_said(one.value)}  ({how})")
    if not found.fields:
        console.note("nothing is known")
    if found.missing:
        console.note(f"not known: {', '.join(found.missing)}")


def draw_change(console: Console, change: ProfileChange) -> None:
    """What was done, or would be."""
    would = "would be " if change.dry_run and change.action != "unchanged" else ""
    before = "" if change.previous is None else f" (was {_said(change.previous)})"
    value = "" if change.value is None else f" {_said(change.value)}"
    console.out(f"{one_line(change.field)}{value}: {would}{change.action}{before}")


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(one_line(str(one)) for one in value)
    return one_line(str(value))
