"""Metrics as text: the layers with their targets, the rates with their trends, the advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.metrics import Advice, LayerMetric, Metrics, Trend

_STATES = {"met": ("ok", "ok"), "missed": ("warn", "warn"), "unknown": ("?", "dim")}


def draw_metrics(console: Console, metrics: Metrics) -> None:
    """Everything on some forty lines."""
    whose = "" if metrics.user is None else f" · user {one_line(metrics.user)}"
    console.out(f"app {one_line(metrics.app)}{whose}")
    console.out()
    for figure in metrics.layers:
        _layer(console, figure)
    console.out()
    console.out(f"  {'':<22}{'7 days':>10}{'before':>10}{'30 days':>12}{'before':>10}")
    names = list(dict.fromkeys(trend.name for trend in metrics.trends))
    for name in names:
        week, month = (trend for trend in metrics.trends if trend.name == name)
        console.out(f"  {name:<22}{_pair(week)}  {_pair(month)}")
    for window in metrics.windows:
        if window.fallbacks:
            reasons = ", ".join(f"{code} {times:,}" for code, times in window.fallbacks.items())
            console.out(f"  falls in {window.days} days: {reasons}")
    if metrics.advice:
        console.out()
    for advice in metrics.advice:
        _advice(console, advice, metrics.dry_run)


def _layer(console: Console, figure: LayerMetric) -> None:
    word, style = _STATES[figure.state]
    value = "unknown" if figure.value is None else f"{figure.value:,.4g}"
    mark = console.style(f"{word:<5}", style)
    console.out(
        f"  {mark} {figure.layer}  {figure.name:<26}{value:>9}  {figure.target:<13} {figure.basis}"
    )


def _pair(trend: Trend) -> str:
    return "".join(
        f"{'–' if value is None else f'{value:,.4g}':>10}" for value in (trend.now, trend.before)
    )


def _advice(console: Console, advice: Advice, dry_run: bool) -> None:
    console.out(f"advice {console.style(advice.code, 'name')}: {one_line(advice.finding)}")
    if advice.applied:
        console.out(f"  set {advice.key} to {advice.proposed:g}; next: negmem sync")
    else:
        would = "would set, as by: " if dry_run and advice.key is not None else ""
        console.out(f"  {would}{advice.command}")
