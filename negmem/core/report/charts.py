"""Charts as inline SVG, made of numbers alone: bars, areas, lines and sparklines.

The drawings stretch to whatever width they are given; labels stand beside them as HTML, so that they stay
readable on a telephone and in print. Colours are classes, which follow the reader's scheme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

HEIGHT = 100
_SLOT = 10
_BAR = 7.4


@dataclass(frozen=True)
class Chart:
    """A drawing (SVG) with the labels of its axes: heights in percent from the top with their values."""

    svg: str
    y_labels: list[tuple[float, float]]
    x_labels: list[str]


def nice_top(value: float) -> float:
    """The least of 1, 2, 2.5, 4, 5, 8 and 10 times a power of ten that is `value` or more; 1 for nothing."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 4, 5, 8, 10) if step * power >= value * 0.9999)


def bars(
    values: Sequence[float],
    hints: Sequence[str],
    x_labels: Sequence[str],
    *,
    label: str,
    tone: str = "a",
    below: Sequence[float] | None = None,
    marker: float | None = None,
) -> Chart:
    """A bar for each value, with a hint to hover; `below` hangs from the base line in another tone.

    Args: label, what a screen reader says; marker, a place along the axis 0..1 that is marked.
    """
    top = nice_top(max([*values, 0]))
    low = nice_top(max(below)) if below and max(below) > 0 else 0.0
    if low:  # one scale for both directions
        top, low = max(top, low * 0.25), max(low, top * 0.25)
    scale = HEIGHT / (top + low)
    base = min(top * scale, float(HEIGHT))
    width = max(1, len(values)) * _SLOT
    y_labels = [(0.0, top), (base / 2, top / 2), (base, 0.0)]
    if low:
        y_labels = [(0.0, top), (base, 0.0), (float(HEIGHT), low)]
    parts = [_grid(width, base, [y for y, _ in y_labels])]
    for place, value in enumerate(values):
        x = place * _SLOT + (_SLOT - _BAR) / 2
        if value > 0:
            height = max(value * scale, 0.6)
            parts.append(_rect(f"bar {tone}", x, base - height, _BAR, height))
        under = below[place] if below else 0
        if under > 0:
            parts.append(_rect("bar down", x, base, _BAR, max(under * scale, 0.6)))
    if marker is not None:
        x = marker * width
        parts.append(f'<path class="mark" d="M{x:.2f} 0V{HEIGHT}"/>')
    parts.append(_hover(hints))
    return Chart(_svg(width, parts, label), y_labels, list(x_labels))


def line(
    values: Sequence[float | None],
    hints: Sequence[str],
    x_labels: Sequence[str],
    *,
    label: str,
    tone: str = "a",
    filled: bool = False,
    second: Sequence[float | None] | None = None,
    top: float | None = None,
    markers: Sequence[float] = (),
) -> Chart:
    """A line through the values, broken where there are none; `filled` down to the base line."""
    known = [value for value in (*values, *(second or ())) if value is not None]
    top = nice_top(max(known, default=0)) if top is None else top
    width = max(1, len(values)) * _SLOT
    parts = [_grid(width, HEIGHT, (0, HEIGHT / 2, HEIGHT))]
    parts += [f'<path class="mark" d="M{at * width:.2f} 0V{HEIGHT}"/>' for at in markers]
    for series, name in ((second or (), "b"), (values, tone)):
        for run in _runs(series, top):
            if filled and len(run) > 1 and name == tone:
                first, last = run[0][0], run[-1][0]
                edge = f"M{first:.2f} {HEIGHT}L{_path(run)[1:]}L{last:.2f} {HEIGHT}Z"
                parts.append(f'<path class="area {name}" d="{edge}"/>')
            parts.append(f'<path class="line {name}" d="{_path(run)}"/>')
    parts.append(_hover(hints))
    y_labels = [(0.0, top), (HEIGHT / 2, top / 2), (float(HEIGHT), 0.0)]
    return Chart(_svg(width, parts, label), y_labels, list(x_labels))


def sparkline(values: Sequence[float], *, label: str) -> str:
    """A small line over its own range, with a dot at its end; nothing for fewer than two values."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    step = 100 / (len(values) - 1)
    points = [(n * step, 22 - 18 * (value - low) / span) for n, value in enumerate(values)]
    if high == low:
        points = [(x, 13.0) for x, _ in points]
    return (
        f'<svg class="spark" viewBox="-2 0 104 26" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}"><path class="line a" d="{_path(points)}"/></svg>'
    )


def _runs(values: Sequence[float | None], top: float) -> list[list[tuple[float, float]]]:
    """The points of each unbroken stretch; a lone point becomes a short stroke."""
    runs: list[list[tuple[float, float]]] = []
    current: list[tuple[float, float]] = []
    for place, value in enumerate([*values, None]):
        if value is not None:
            y = HEIGHT - HEIGHT * min(max(value / top, 0.0), 1.0)
            current.append((place * _SLOT + _SLOT / 2, y))
            continue
        if len(current) == 1:
            (x, y) = current[0]
            current = [(x - _SLOT * 0.3, y), (x + _SLOT * 0.3, y)]
        if current:
            runs.append(current)
        current = []
    return runs


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in points)


def _rect(name: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{name}" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"/>'
    )


def _grid(width: float, base: float, heights: Sequence[float]) -> str:
    return "".join(
        f'<path class="{"base" if y == base else "grid"}" d="M0 {y:.2f}H{width}"/>' for y in heights
    )


def _hover(hints: Sequence[str]) -> str:
    return "".join(
        f'<rect class="hover" x="{place * _SLOT}" y="0" width="{_SLOT}" height="{HEIGHT}">'
        f"<title>{escape(hint)}</title></rect>"
        for place, hint in enumerate(hints)
    )


def _svg(width: float, parts: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {HEIGHT}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
