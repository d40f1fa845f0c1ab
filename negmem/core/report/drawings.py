"""Which charts the page shows, made of a report's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from negmem.core.models.report import (
    CostSection,
    GrowthSection,
    Report,
    RetentionSection,
    RetrievalSection,
)
from negmem.core.report import charts
from negmem.core.report.charts import Chart

_LEAST_DAYS = 14


@dataclass(frozen=True)
class Figure:
    """A chart with its title; `unit` names the format of the axis, `rows` are its figures as a table."""

    title: str
    drawing: Any
    y_labels: list[tuple[float, float]]
    x_labels: list[str]
    unit: str
    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    keys: tuple[tuple[str, str], ...] = ()


def drawings_of(report: Report) -> dict[str, Figure]:
    """The charts of the sections that were read, by name."""
    found: dict[str, Figure] = {}
    if report.growth is not None:
        found["stock"] = _stock(report.growth)
        found["flow"] = _flow(report.growth)
    if report.retention is not None:
        found["scores"] = _scores(report.retention)
        found["forecast"] = _forecast(report.retention)
    if report.retrieval is not None:
        found["searches"] = _searches(report.retrieval)
        found["latency"] = _latency(report.retrieval)
    if report.cost is not None:
        found["tokens"] = _tokens(report.cost)
        found["contexts"] = _contexts(report.cost)
    return found


def live_by_day(growth: GrowthSection) -> list[int]:
    """How many lived at the end of each day, counted back from today."""
    live, found = growth.live, []
    for one in reversed(growth.days):
        found.append(max(0, live))
        live -= one.memories - one.removed
    return found[::-1]


def _begin(filled: Sequence[bool]) -> int:
    """The first day to draw: just before anything happened, but a fortnight at least."""
    first = next((n for n, is_filled in enumerate(filled) if is_filled), len(filled))
    return max(0, min(first - 1, len(filled) - _LEAST_DAYS))


def _stock(growth: GrowthSection) -> Figure:
    live = live_by_day(growth)
    begin = _begin([bool(value) for value in live])
    live, days = live[begin:], [one.day for one in growth.days[begin:]]
    chart = charts.line(
        live,
        [f"{_said(day)}: {value:,} live" for day, value in zip(days, live, strict=True)],
        _ends(days),
        label=f"Live memories: {live[0]:,} on {_said(days[0])}, {live[-1]:,} today",
        filled=True,
    )
    rows = list(zip(map(_said, days), live, strict=True))
    return _figure("Live memories", chart, "short", ("day", "live"), rows)


def _flow(growth: GrowthSection) -> Figure:
    shown = growth.days[_begin([bool(value) for value in live_by_day(growth)]) :]
    days = [one.day for one in shown]
    chart = charts.bars(
        [one.memories for one in shown],
        [
            f"{_said(one.day)}: {one.memories:,} memories from {one.turns:,} turns, {one.facts:,} facts,"
            f" {one.removed:,} removed"
            for one in shown
        ],
        _ends(days),
        label=f"Memories stored and removed a day: {sum(one.memories for one in growth.days):,} and"
        f" {sum(one.removed for one in growth.days):,} in all",
        below=[one.removed for one in shown],
    )
    rows = [
        (_said(one.day), one.turns, one.memories, one.facts, one.removed)
        for one in growth.days
        if one.turns or one.memories or one.facts or one.removed
    ]
    head = ("day", "turns", "memories", "facts", "removed")
    keys = (("a", "stored"), ("down", "removed"))
    return _figure("Stored and removed, by day", chart, "short", head, rows, keys)


def _scores(retention: RetentionSection) -> Figure:
    chart = charts.bars(
        [one.memories for one in retention.bins],
        [f"{one.low:.2f} to {one.high:.2f}: {one.memories:,}" for one in retention.bins],
        ["0", "0.5", "1"],
        label=f"Retention scores of {retention.live:,} live memories, from 0 to 1",
        marker=retention.settings.low_retention_threshold,
    )
    rows = [(f"{one.low:.2f} – {one.high:.2f}", one.memories) for one in retention.bins]
    keys = (
        ("a", "live memories"),
        ("mark", f"threshold {retention.settings.low_retention_threshold:g}"),
    )
    return _figure("Scores now", chart, "short", ("score", "memories"), rows, keys)


def _forecast(retention: RetentionSection) -> Figure:
    total, gone = 0, []
    for one in retention.days:
        total += one.memories
        gone.append(total)
    last = len(gone) - 1
    chart = charts.line(
        gone,
        [f"within {n} days: {value:,}" for n, value in enumerate(gone)],
        ["today", f"in {last // 2} days", f"in {last} days"],
        label=f"What may be forgotten: {retention.in_30_days:,} within 30 days,"
        f" {retention.in_90_days:,} within {last}",
        tone="warm",
        filled=True,
        markers=[30.5 / (last + 1)],
    )
    rows = [(f"{n} days", gone[n]) for n in (0, 7, 14, 30, 60, 90) if n <= last]
    keys = (("warm", "may be forgotten, if nobody reads it"), ("mark", "30 days"))
    return _figure("What goes next", chart, "short", ("within", "memories"), rows, keys)


def _searches(retrieval: RetrievalSection) -> Figure:
    days = retrieval.days[_begin([one.searches > 0 for one in retrieval.days]) :]
    empty = [round(one.searches * (one.empty_rate or 0)) for one in days]
    chart = charts.bars(
        [one.searches for one in days],
        [
            f"{_said(one.day)}: {one.searches:,} searches, {none:,} without a result"
            for one, none in zip(days, empty, strict=True)
        ],
        _ends([one.day for one in days]),
        label=f"Searches a day: {sum(one.searches for one in days):,} in all",
    )
    rows = [
        (_said(one.day), one.searches, none, f"{one.fallback_rate or 0:.0%}")
        for one, none in zip(days, empty, strict=True)
        if one.searches
    ]
    head = ("day", "searches", "no result", "fell back")
    return _figure("Searches, by day", chart, "short", head, rows)


def _latency(retrieval: RetrievalSection) -> Figure:
    days = retrieval.days[_begin([one.searches > 0 for one in retrieval.days]) :]
    chart = charts.line(
        [one.p95_ms for one in days],
        [
            f"{_said(one.day)}: half within {one.p50_ms or 0:,.0f} ms, 95 of 100 within"
            f" {one.p95_ms or 0:,.0f} ms"
            for one in days
        ],
        _ends([one.day for one in days]),
        label="Time of a search, by day",
        second=[one.p50_ms for one in days],
    )
    rows = [
        (_said(one.day), f"{one.p50_ms:,.1f}", f"{one.p95_ms:,.1f}")
        for one in days
        if one.p50_ms is not None and one.p95_ms is not None
    ]
    keys = (("a", "95 of 100 within (p95)"), ("b", "half within (p50)"))
    return _figure("Time of a search", chart, "ms", ("day", "p50 ms", "p95 ms"), rows, keys)


def _tokens(cost: CostSection) -> Figure:
    days = cost.days[_begin([bool(one.jobs or one.contexts) for one in cost.days]) :]
    chart = charts.bars(
        [one.tokens for one in days],
        [
            f"{_said(one.day)}: {one.jobs:,} jobs, {one.calls:,} calls, {one.tokens:,} tokens"
            for one in days
        ],
        _ends([one.day for one in days]),
        label=f"Tokens of the language model a day: {sum(one.tokens for one in cost.days):,} in all",
    )
    rows = [
        (
            _said(one.day),
            one.jobs,
            one.calls,
            one.tokens,
            "–" if one.cost_usd is None else f"${one.cost_usd:.4f}",
        )
        for one in days
        if one.jobs
    ]
    head = ("day", "jobs", "calls", "tokens", "cost")
    return _figure("Spent on consolidation", chart, "short", head, rows)


def _contexts(cost: CostSection) -> Figure:
    days = cost.days[_begin([bool(one.jobs or one.contexts) for one in cost.days]) :]
    chart = charts.bars(
        [one.context_tokens for one in days],
        [
            f"{_said(one.day)}: {one.contexts:,} contexts, {one.context_tokens:,} tokens"
            for one in days
        ],
        _ends([one.day for one in days]),
        label=f"Tokens of contexts a day: {cost.context_tokens:,} in all",
        tone="b",
    )
    rows = [(_said(one.day), one.contexts, one.context_tokens) for one in cost.days if one.contexts]
    return _figure(
        "Handed to agents as context", chart, "short", ("day", "contexts", "tokens"), rows
    )


def _figure(
    title: str,
    chart: Chart,
    unit: str,
    head: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
    keys: tuple[tuple[str, str], ...] = (),
) -> Figure:
    from markupsafe import Markup

    return Figure(
        title=title,
        drawing=Markup(chart.svg),
        y_labels=chart.y_labels,
        x_labels=chart.x_labels,
        unit=unit,
        head=head,
        rows=list(rows),
        keys=keys,
    )


def _said(day: date) -> str:
    return f"{day.day} {day:%b}"


def _ends(days: Sequence[date]) -> list[str]:
    """The first, the middle and the last day."""
    said: Callable[[date], str] = _said
    return [said(days[0]), said(days[len(days) // 2]), said(days[-1])]
