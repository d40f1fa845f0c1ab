"""What differs and what was done about it: one line a thing, then the texts side by side."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from negmem.cli.render.text import counted, one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.change import Change, Difference, SkippedChange, SyncReport

_SIGNS = {"create": "+", "update": "~", "replace": "-/+", "delete": "-"}
_STYLES = {"create": "ok", "update": "warn", "replace": "warn", "delete": "fail"}
_RECORDED = ("owner_changed", "grants_changed", "moved")
_DONE = {"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted"}


def draw_difference(console: Console, found: Difference) -> None:
    """Each change with its texts, what is not negmem's with -v, the counts last."""
    if console.common.quiet and not found.changes:
        return
    if not console.common.quiet:
        console.out(safe_text(_head(found)))
        console.out()
    shown = [c for c in found.changes if c.significance == "semantic" or console.common.verbose]
    for change in shown:
        _draw_change(console, change)
        for line in _texts(change):
            console.out(_colored(console, line))
    if console.common.verbose:
        for thing in found.unmanaged:
            console.out(f"      {thing.kind:<9}  {_text(thing.name)}  not ours, left alone")
    if shown:
        console.out()
    console.out(_verdict(found))


def draw_sync(console: Console, report: SyncReport) -> None:
    """What was done, what was left and why, the counts last."""
    if console.common.quiet and not report.skipped:
        return
    for change in report.applied:
        _draw_change(console, change, "" if report.dry_run else _done(change))
    for _, alike in itertools.groupby(report.skipped, key=lambda left: (left.why, left.hint)):
        _draw_skipped(console, list(alike))
    for reason in report.degraded_reasons:
        console.out(f"  {console.style('warn', 'warn')}  {reason}")
    if report.applied or report.skipped or report.degraded_reasons:
        console.out()
    if not report.applied and not report.skipped:
        console.out(
            f"in agreement: {counted(report.unchanged, 'thing')} as declared, nothing to do"
        )
        return
    verb = "would apply" if report.dry_run else "applied"
    console.out(
        f"{verb} {len(report.applied)} · skipped {len(report.skipped)} · unchanged {report.unchanged}"
    )


def _done(change: Change) -> str:
    return "recorded as it is" if change.reason in _RECORDED else _DONE[change.action]


def plan_lines(changes: Iterable[Change]) -> list[str]:
    """The changes of a plan, one line each, to be shown before a question."""
    return [
        f"  {_SIGNS[c.action]:<3} {c.kind:<9}  {_text(c.name)}  {_text(change_words(c))}"
        for c in changes
    ]


def _head(found: Difference) -> str:
    declared = found.declared_in or "no automation: section"
    return f'{declared}  →  stored config of app "{found.app}"  →  {found.target}, schema {found.schema_name}'


def _draw_change(console: Console, change: Change, note: str = "") -> None:
    sign = console.style(f"{_SIGNS[change.action]:<3}", _STYLES[change.action])
    words = _text(note or change_words(change))
    console.out(f"  {sign} {change.kind:<9}  {_text(change.name)}  {words}".rstrip())


def _draw_skipped(console: Console, changes: Sequence[SkippedChange]) -> None:
    """What was left for one reason, and the reason once."""
    mark = console.style("skip", "warn")
    for change in changes:
        words = _text(change_words(change))
        console.out(f"  {mark} {change.kind:<8}  {_text(change.name)}  {words}")
    console.out(f"       why: {_text(changes[0].why)}")
    console.out(f"       fix: {_text(changes[0].hint)}")


def change_words(change: Change) -> str:
    """What is the matter with a thing, in a few words."""
    if change.kind == "config":
        place = f"  ({change.detail})" if change.detail else ""
        return f"{change.reason}: stored {change.before} → {change.after}{place}"
    words = change.state if change.state == change.reason else f"{change.state}: {change.reason}"
    words = f"{words}, {change.detail}" if change.detail else words
    return f"{words} (cosmetic)" if change.significance == "cosmetic" else words


def _texts(change: Change) -> Iterator[str]:
    """Both texts as a unified diff, where there are two."""
    if change.kind not in ("function", "index", "job") or None in (change.before, change.after):
        return
    if change.differences == ["owner"]:
        return
    assert change.before is not None and change.after is not None
    declared = "declared"
    if change.kind == "function":
        declared = f"sql/functions/{change.name.partition('(')[0]}.sql"
    lines = difflib.unified_diff(
        change.before.splitlines(),
        change.after.splitlines(),
        "database",
        declared,
        n=2,
        lineterm="",
    )
    for line in lines:
        yield f"      {safe_text(line)}"


def _colored(console: Console, line: str) -> str:
    first = line.lstrip()[:1]
    style = {"+": "ok", "-": "fail"}.get(first)
    return console.style(line, style) if style else line


def _verdict(found: Difference) -> str:
    semantic = [c for c in found.changes if c.significance == "semantic"]
    cosmetic = len(found.changes) - len(semantic)
    if not semantic:
        extra = f" · {cosmetic} cosmetic" if cosmetic else ""
        return f"no drift: {counted(found.unchanged, 'thing')} as declared{extra}{_others(found)}"
    counts = ", ".join(
        f"{_count(semantic, action)} to {action}"
        for action in ("create", "update", "replace", "delete")
    )
    others = _others(found)
    return f"drift: {counts} · {cosmetic} cosmetic{others}      {_way(found, len(semantic))}"


def _others(found: Difference) -> str:
    count = len(found.unmanaged)
    return f" · {count} not ours (-v)" if count else ""


def _way(found: Difference, differing: int) -> str:
    """What makes it agree; where a plain sync would leave something, what that needs."""
    left = [change for change in found.left_by_sync if change.significance == "semantic"]
    if not left:
        return "apply with: negmem sync"
    hints = list(dict.fromkeys(change.hint for change in left if change.hint))
    more = f" (and {len(hints) - 1} more: negmem sync --dry-run)" if len(hints) > 1 else ""
    if len(left) == differing:
        return (
            f"negmem sync leaves it; fix: {_text(hints[0])}{more}"
            if hints
            else "negmem sync leaves it"
        )
    of = f"negmem sync applies {differing - len(left)} of {differing}"
    return f"{of}; the rest: {_text(hints[0])}{more}" if hints else of


def _count(changes: Sequence[Change], action: str) -> int:
    return sum(change.action == action for change in changes)


def _text(text: str) -> str:
    return one_line(text)
