"""One memory's score as text: the curve drawn with what the terminal can show, and its factors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negmem.cli.render.console import Console
    from negmem.core.models.retention import (
        CurvePoint,
        RetentionCurve,
        RetentionExplanation,
    )

_HEIGHT = 10
_BESIDE = 41  # columns of a factor before what it comes from
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_KEPT = {
    "core": "core memories are never forgotten",
    "pinned": "it is pinned",
    "importance": "it is too important",
    "min_age": "it has not reached the minimum age",
    "hold": "its user is under legal hold",
}


def draw_curve(console: Console, found: RetentionCurve) -> None:
    """The curve with now and the threshold, and below it what happens when."""
    columns = max(20, min(100, (console.width or 80) - 8))
    scores = _sampled(found.points, columns)
    now = _column(found, columns)
    top = max(max(scores), found.threshold, 1e-12)
    has_blocks = _can_show()
    line = round(found.threshold / top * _HEIGHT)
    for row in range(_HEIGHT, 0, -1):
        cells = []
        for column, score in enumerate(scores):
            filled = score / top * _HEIGHT - (row - 1)
            mark = _cell(filled, has_blocks)
            if column == now and mark == " ":
                mark = "│" if has_blocks else "|"
            elif row == line and mark == " ":
                mark = "┄" if has_blocks else "-"
            cells.append(mark)
        console.out(f"{row / _HEIGHT * top:6.3f} {''.join(cells)}".rstrip())
    axis = ["─" if has_blocks else "-"] * columns
    axis[now] = "┴" if has_blocks else "+"
    console.out(f"{'':6} {''.join(axis)}")
    first, last = found.points[0].days, found.points[-1].days
    ends = f"{round(first):,} d", f"{last:+,.0f} d"
    names = [" "] * columns
    for text, at in ((ends[0], 0), (ends[1], columns - len(ends[1])), ("now", now - 1)):
        place = max(0, min(at, columns - len(text)))
        if text != "now" or all(mark == " " for mark in names[max(0, place - 1) : place + 4]):
            names[place : place + len(text)] = text
    console.out(f"{'':6} {''.join(names)}".rstrip())
    console.out()
    _facts(console, found)


def _sampled(points: Sequence[CurvePoint], columns: int) -> list[float]:
    """One score a column, between the two nearest points."""
    scores = []
    for column in range(columns):
        place = column / (columns - 1) * (len(points) - 1)
        left = min(int(place), len(points) - 2)
        share = place - left
        scores.append(points[left].score * (1 - share) + points[left + 1].score * share)
    return scores


def _column(found: RetentionCurve, columns: int) -> int:
    first, last = found.points[0].days, found.points[-1].days
    return round((0 - first) / (last - first) * (columns - 1)) if last > first else 0


def _cell(filled: float, has_blocks: bool) -> str:
    if has_blocks:
        return _EIGHTHS[max(0, min(8, round(filled * 8)))]
    return "#" if filled >= 0.75 else "." if filled >= 0.25 else " "


def _can_show() -> bool:
    """Whether the terminal draws more than ASCII: not a dumb one, not a locale that names another code."""
    named = next((v for n in ("LC_ALL", "LC_CTYPE", "LANG") if (v := os.environ.get(n))), "utf-8")
    return os.environ.get("TERM") != "dumb" and "utf" in named.lower()


def _facts(console: Console, found: RetentionCurve | RetentionExplanation) -> None:
    console.out(f"score       {found.score:.6f} now, threshold {found.threshold:g}")
    crosses = "never" if found.crosses_at is None else stamp(console, found.crosses_at)
    goes = "never"
    if found.goes_at is not None:
        goes = f"{stamp(console, found.goes_at)}, unless it is read before"
        if found.goes_at <= found.now and not found.kept_by:
            goes = f"at the next sweep (since {stamp(console, found.goes_at)}), unless it is read before"
    console.out(f"falls under {crosses}")
    console.out(f"may go      {goes}")
    for reason in found.kept_by:
        console.out(f"kept by     {reason}: {_KEPT[reason]}")
    width = None if console.width is None else max(20, console.width - 12)
    console.out(f"memory      {one_line(found.content, width)}")


def draw_explanation(console: Console, found: RetentionExplanation) -> None:
    """One line a factor; the contributions add up to the score."""
    console.out("factor               value     adds  from")
    room = None if console.width is None else max(20, console.width - _BESIDE)
    for factor in found.factors:
        value = f"{factor.value:.6f}"
        first, *more = wrapped(one_line(factor.basis), room)
        console.out(f"{factor.name:<19} {value:>9} {factor.contribution:+9.6f}  {first}")
        for line in more:
            console.out(" " * _BESIDE + line)
    console.out(f"{'score':<19} {'':>9} {found.score:+9.6f}  limited to 0..1")
    console.out()
    console.out(f"rate        {found.rate:g} a day, from {one_line(found.rate_from)}")
    _facts(console, found)
    if found.deleted_at is not None:
        console.out(
            f"removed     {stamp(console, found.deleted_at)}: {one_line(found.deleted_reason or '–')}"
        )
