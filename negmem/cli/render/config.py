"""Configuration as text: aligned columns, one key a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.config import ConfigChange, ConfigHistory, ConfigShown


def _text(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, str):
        return (
            one_line(value)
            if value.strip() == value and value
            else json.dumps(value, ensure_ascii=False)
        )
    return one_line(json.dumps(value, ensure_ascii=False))


def draw_shown(console: Console, shown: ConfigShown) -> None:
    """Key, value, origin; one line each."""
    keys = max((len(value.key) for value in shown.values), default=0)
    texts = max((min(len(_text(value.value)), 40) for value in shown.values), default=0)
    for value in shown.values:
        console.out(f"{value.key:<{keys}}  {_text(value.value):<{texts}}  {value.origin}")


def draw_change(console: Console, change: ConfigChange) -> None:
    """What was set, from which value, and where."""
    place = f'stored config of app "{change.place}"' if change.target == "stored" else change.place
    if not change.changed:
        console.out(f"unchanged  {change.key} is {_text(change.after)} already ({place})")
        return
    verb = "would set" if change.dry_run else "set"
    before, after = _text(change.before), _text(change.after)
    console.out(f"{verb}  {change.key}  {before} → {after}  ({place})")
    if change.target == "stored" and not change.dry_run:
        console.note("functions and jobs follow with: negmem sync")


def draw_history(console: Console, found: ConfigHistory) -> None:
    """A line a revision, then a line a key of it."""
    for one in found.revisions:
        console.out(
            f"{one.revision:>4}  {one.at:%Y-%m-%d %H:%M:%S} UTC  {one_line(one.actor)}  {one_line(one.reason)}"
        )
        for change in one.changes:
            before, after = _text(change.before), _text(change.after)
            console.out(f"      {change.key}  {before} → {after}")
    if found.truncated:
        console.out(f"{len(found.revisions)} of {found.total} revisions (-n {found.total})")
