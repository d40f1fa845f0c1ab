"""A load as text: one client and many side by side, then what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.bench import LoadBench, LoadRun


def draw_load(console: Console, load: LoadBench) -> None:
    """A column each for one client and for all."""
    config = load.config
    versions = " · ".join(f"{name} {version}" for name, version in load.versions.items())
    console.out(
        f"{config.rows:,} memories of {config.users:,} users · {config.reads:.0%} searches ·"
        f" {config.seconds:g} s each · {load.took_s:.0f} s in all"
    )
    console.out(versions)
    console.out()
    runs = (load.single, load.many)
    _row(console, "clients", runs, lambda run: f"{run.clients:,}")
    _row(console, "operations/s", runs, lambda run: f"{run.operations_per_s:,.1f}")
    _row(console, "searches", runs, lambda run: f"{run.searches:,}")
    _row(console, "search p50 ms", runs, lambda run: f"{run.search_ms.p50:,.2f}")
    _row(console, "search p95 ms", runs, lambda run: f"{run.search_ms.p95:,.2f}")
    _row(console, "writes", runs, lambda run: f"{run.writes:,}")
    _row(console, "write p50 ms", runs, lambda run: f"{run.write_ms.p50:,.2f}")
    _row(console, "write p95 ms", runs, lambda run: f"{run.write_ms.p95:,.2f}")
    _row(console, "errors", runs, lambda run: f"{run.errors:,}")
    console.out()
    console.out(f"{config.clients:,} clients do {load.ratio:.2f} times the work of one")
    kept = load.expected_accesses - load.lost_accesses
    word = console.style("ok", "ok") if not load.lost_accesses else console.style("FAIL", "fail")
    console.out(f"{word}  {kept:,} of {load.expected_accesses:,} accesses counted")
    if load.lost_logs:
        console.out(f"{console.style('FAIL', 'fail')}  {load.lost_logs:,} searches have no log")
    for text in load.error_texts:
        console.out(f"error  {one_line(text)}")
    for bar in load.bars:
        word = console.style("ok", "ok") if bar.passed else console.style("FAIL", "fail")
        console.out(f"{word}  {bar.metric} {bar.reached:.4g}, at least {bar.wanted:g} wanted")


def _row(console: Console, name: str, runs: tuple[LoadRun, LoadRun], cell: object) -> None:
    assert callable(cell)
    console.out(f"{name:<16}" + "".join(f"{cell(run):>14}" for run in runs))
