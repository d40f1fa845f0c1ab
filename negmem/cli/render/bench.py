"""A benchmark as text: the runs side by side, then the categories; and for CI systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import counted, one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.bench import Bar, BenchRun, RetrievalBench

_CATEGORY_FIGURES = ("recall@1", "recall@5", "recall@10", "any@5", "all@10", "ndcg@10", "mrr@10")


def draw_bench(console: Console, bench: RetrievalBench) -> None:
    """Figures of every run, a column each; categories of the first; bars."""
    runs: list[BenchRun | RetrievalBench] = [bench, *bench.compared]
    config = bench.config
    variant = f" {config.variant}" if config.variant else ""
    versions = " · ".join(f"{name} {version}" for name, version in bench.versions.items())
    console.out(
        f"{bench.dataset}{variant} · {counted(bench.questions, 'question')} ·"
        f" {config.memories:,} memories in {counted(config.conversations, 'store')} · {bench.took_s:.0f} s"
    )
    console.out(f"{versions} · embedding {config.embedding or 'none'}")
    console.out()
    width = max(10, *(len(run.config.name) + 2 for run in runs))
    console.out(
        f"{'turn level':<16}"
        + "".join(f"{run.config.name:>{width}}" for run in runs)
        + "   95 % of the first"
    )
    for name in bench.metrics:
        cells = "".join(f"{run.metrics[name]:>{width}.4f}" for run in runs)
        low, high = bench.intervals[name]
        console.out(f"{name:<16}{cells}   {low:.3f} to {high:.3f}")
    console.out(
        f"{'characters@10':<16}"
        + "".join(f"{run.mean_characters_in_10:>{width},.0f}" for run in runs)
    )
    console.out(f"{'p50 ms':<16}" + "".join(f"{run.latency_ms.p50:>{width}.1f}" for run in runs))
    console.out(f"{'p95 ms':<16}" + "".join(f"{run.latency_ms.p95:>{width}.1f}" for run in runs))
    if bench.session_metrics:
        console.out()
        console.out(f"{'session level':<16}")
        for name in bench.session_metrics:
            cells = "".join(f"{run.session_metrics[name]:>{width}.4f}" for run in runs)
            low, high = bench.session_intervals[name]
            console.out(f"{name:<16}{cells}   {low:.3f} to {high:.3f}")
    _draw_categories(console, bench)
    for difference in bench.differences:
        low, high = difference.interval
        word = "clear" if difference.is_clear else "within chance"
        console.out(
            f"{difference.name} against {bench.config.name}: {difference.metric}"
            f" {difference.difference:+.4f} ({low:+.4f} to {high:+.4f}, {word})"
        )
    for run in runs:
        for step, count in run.fallbacks.items():
            console.out(f"fallback  {run.config.name}: {step}, {count:,} times")
    for bar in bench.bars:
        word = console.style("ok", "ok") if bar.passed else console.style("FAIL", "fail")
        console.out(f"{word}  {_bar_text(bar)}")


def _draw_categories(console: Console, bench: RetrievalBench) -> None:
    shown = [name for name in _CATEGORY_FIGURES if name in bench.metrics]
    width = max(8, *(len(name) for name in bench.by_category)) + 2
    console.out()
    head = "".join(f"{name:>11}" for name in shown)
    console.out(f"{'category':<{width}}{'n':>6}{head}")
    for category, found in bench.by_category.items():
        cells = "".join(f"{found.metrics[name]:>11.4f}" for name in shown)
        console.out(f"{one_line(category):<{width}}{found.questions:>6}{cells}")


def _bar_text(bar: Bar) -> str:
    return f"{bar.metric} {bar.reached:.4f}, at least {bar.wanted:g} wanted"


def write_bench_report(console: Console, bench: RetrievalBench, format_name: str) -> None:
    """The bars as `github` annotations or as `junit` test cases; without bars, the figures alone."""
    if format_name == "github":
        for bar in bench.bars:
            level = "notice" if bar.passed else "error"
            title = f"negmem bench {bench.dataset} {bar.metric}"
            console.out(f"::{level} title={title}::{_bar_text(bar)}")
        figures = ", ".join(f"{name} {value:.4f}" for name, value in bench.metrics.items())
        console.out(f"negmem bench {bench.dataset}: {figures}")
        return
    from xml.sax.saxutils import quoteattr

    failed = [bar for bar in bench.bars if not bar.passed]
    console.out('<?xml version="1.0" encoding="UTF-8"?>')
    console.out(
        f'<testsuite name="negmem bench {bench.dataset}" tests="{len(bench.bars)}"'
        f' failures="{len(failed)}" errors="0" skipped="0" time="{bench.took_s:.1f}">'
    )
    for bar in bench.bars:
        head = f"  <testcase classname={quoteattr('bench.' + bench.dataset)} name={quoteattr(bar.metric)}"
        if bar.passed:
            console.out(f"{head}/>")
            continue
        console.out(f"{head}>")
        console.out(f"    <failure message={quoteattr(_bar_text(bar))}/>")
        console.out("  </testcase>")
    console.out("</testsuite>")
