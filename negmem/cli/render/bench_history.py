"""Recorded benchmark runs as text: a line each, with what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.bench import BenchHistory, RecordedRun

_SHOWN = {
    "retrieval": ("recall@5", "recall@10", "ndcg@10", "session.recall@5", "latency_p50_ms"),
    "load": ("operations_per_s", "single_operations_per_s", "ratio", "search_p50_ms"),
    "judge": ("accuracy", "questions", "cost_usd"),
}


def draw_history(console: Console, history: BenchHistory) -> None:
    """The newest first; in brackets the change since the run before on the same data."""
    for run in history.runs:
        console.out(_line(run))
        figures = "  ".join(
            _figure(run, name) for name in _SHOWN.get(run.kind, ()) if name in run.metrics
        )
        console.out(f"    {figures}")
    if not history.runs:
        console.note("no run is recorded")
    if history.truncated:
        console.note(f"the newest {len(history.runs):,}; more with --limit")


def _line(run: RecordedRun) -> str:
    data = "" if run.data_hash is None else f" · data {run.data_hash[:8]}"
    version = run.versions.get("negmem", "?")
    where = run.kind if run.dataset is None else f"{run.kind} {run.dataset}"
    return one_line(
        f"{run.started_at:%Y-%m-%d %H:%M}  {where} · {run.name} · negmem {version}"
        f" · PostgreSQL {run.versions.get('postgresql', '?')}{data}"
    )


def _figure(run: RecordedRun, name: str) -> str:
    change = run.changes.get(name)
    said = "" if change is None else f" ({change:+.4g})"
    return f"{name} {run.metrics[name]:.4g}{said}"
