"""Facts as text: one line each in lists, all fields for one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from negmem.cli.render.conflicts import draw_row
from negmem.cli.render.memories import day, stamp
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.fact import (
        Fact,
        FactChange,
        FactHistory,
        FactList,
        FactMatches,
        WrittenFact,
    )

_PLANS = {
    "added": "would be added",
    "superseded": "would take the place of what stands there",
    "beside": "would be kept beside what stands there",
    "earlier": "would be filed as history: what came later stands",
    "ended": "would be given its end",
    "unchanged": "known already",
    "kept_manual": "would not stand against the value set by hand",
}
_ACTIONS = {
    "added": "added",
    "superseded": "took the place of what stood there",
    "beside": "kept beside what stands there",
    "earlier": "filed as history: what came later stands",
    "ended": "given its end",
    "unchanged": "known already",
    "kept_manual": "a value set by hand stands against it",
}


def shown_value(value: Any) -> str:
    """A value on one line: of `{"text": …}` the text, a string as it is, anything else as JSON."""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return one_line(str(value["text"]))
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _span(console: Console, fact: Fact) -> str:
    starts = "…" if fact.valid_from is None else day(console, fact.valid_from)
    ends = "…" if fact.valid_until is None else day(console, fact.valid_until)
    return f"{starts} – {ends}"


def _line(console: Console, fact: Fact, mark: str = "") -> None:
    head = f"{fact.id}  {one_line(fact.type):<10}  {_span(console, fact):<23}  "
    hand = " · by hand" if fact.origin == "manual" else f" · {fact.confidence:.2f}"
    text = f"{one_line(fact.key)}: {shown_value(fact.value)}{hand}{mark}"
    console.row(head, text)


def draw_list(console: Console, found: FactList) -> None:
    """One line a fact: id, type, when it was true, key and value."""
    for fact in found.facts:
        _line(console, fact)
    if not found.facts:
        console.note("no facts")


def draw_matches(console: Console, found: FactMatches) -> None:
    """The level that answered, then one line a fact with its score."""
    if found.reason is not None:
        console.note(f"level {found.level}: {found.reason}")
    for match in found.results:
        fact = match.fact
        head = f"{match.score:.4f}  {fact.id}  {_span(console, fact):<23}  "
        console.row(head, f"{fact.key}: {shown_value(fact.value)}")


def draw_fact(console: Console, fact: Fact) -> None:
    """Everything known about one version."""
    state = fact.status
    if fact.deleted_at is not None:
        state = f"removed {stamp(console, fact.deleted_at)}: {fact.deleted_reason}"
    elif fact.superseded_by is not None:
        state = f"superseded {stamp(console, fact.superseded_at)} by {fact.superseded_by}"
    until = "still" if fact.expired_at is None else f"until {stamp(console, fact.expired_at)}"
    rows = [
        ("id", str(fact.id)),
        ("user", fact.user),
        ("type", fact.type),
        ("key", fact.key),
        ("value", shown_value(fact.value)),
        (
            "true",
            f"from {stamp(console, fact.valid_from)} until {stamp(console, fact.valid_until)}",
        ),
        ("believed", f"from {stamp(console, fact.created_at)}, {until}"),
        ("state", state),
        ("origin", "set by hand" if fact.origin == "manual" else "extracted"),
        ("confidence", f"{fact.confidence:.4f}"),
        ("thread", fact.thread or "–"),
        ("version", str(fact.version)),
        ("vector", "yes" if fact.embedded else "none: found by keyword only"),
        ("sources", f"{fact.sources} events"),
        ("metadata", json.dumps(fact.metadata, ensure_ascii=False)),
    ]
    for name, value in rows:
        console.out(f"{name:<11} {one_line(value)}")


def draw_history(console: Console, found: FactHistory) -> None:
    """Each version with its state, then the conflicts between them."""
    console.out(f"{one_line(found.type)} {one_line(found.key)}")
    for fact in found.versions:
        mark = ""
        if fact.deleted_at is not None:
            mark = " · removed"
        elif fact.expired_at is not None:
            mark = f" · believed until {stamp(console, fact.expired_at)}"
        elif fact.status == "active":
            mark = " · stands"
        _line(console, fact, mark)
    for conflict in found.conflicts:
        draw_row(console, conflict)


def draw_written(console: Console, written: WrittenFact) -> None:
    """What became of the fact, and of the one before it."""
    name = "the fact" if written.fact is None else str(written.fact.id)
    console.out(f"{name}  {(_PLANS if written.dry_run else _ACTIONS)[written.action]}")
    if written.previous is not None:
        console.out(
            f"before: {shown_value(written.previous.value)}, {_span(console, written.previous)}"
        )
    if written.conflict_id is not None:
        console.note(f"conflict {written.conflict_id}: negmem conflict show {written.conflict_id}")


def draw_change(console: Console, change: FactChange) -> None:
    """One line a fact: what happened to it."""
    words = {"remove": ("removed", "removed already"), "restore": ("restored", "not removed")}
    done, idle = words[change.action]
    would = "would be " if change.dry_run else ""
    for fact_id in change.changed:
        console.out(f"{fact_id}  {would}{done}")
    for fact_id in change.unchanged:
        console.out(f"{fact_id}  unchanged: {idle}")
    for fact_id in change.unknown:
        console.out(f"{fact_id}  unknown")
