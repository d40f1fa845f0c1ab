"""The state of a deployment as text: what the report's page says, on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.report import Report

_STYLES = {"fail": "fail", "warn": "warn", "info": "dim"}
_WORDS = {"fail": "FAIL", "warn": "warn", "info": "note"}


def draw_report(console: Console, report: Report) -> None:
    """A line a section, then what needs a person, and where the page is."""
    console.out(
        f"app {one_line(report.app)} · {one_line(report.target)} · schema {one_line(report.schema_name)}"
        f" · PostgreSQL {report.server_version}"
    )
    console.out()
    for name, text in _lines(report):
        console.out(f"  {console.style(f'{name:<11}', 'name')} {one_line(text)}")
    for unread in report.unread:
        console.out(
            f"  {console.style(f'{unread.section:<11}', 'name')}"
            f" {console.style('not read:', 'warn')} {one_line(f'{unread.message} ({unread.why})')}"
        )
    if report.notices:
        console.out()
    for notice in report.notices:
        mark = console.style(f"{_WORDS[notice.weight]:<4}", _STYLES[notice.weight])
        console.out(f"{mark} {one_line(notice.text)}")
        console.out(f"     {safe_text(notice.command)}")
    console.out()
    if report.page is None:
        console.out("the page: negmem report --out report.html")
    else:
        console.out(f"the page is in {one_line(report.page)}")


def _lines(report: Report) -> list[tuple[str, str]]:
    lines = []
    if report.health is not None:
        reasons = report.health.diagnosis.degraded_reasons
        status = report.health.diagnosis.status
        lines.append(("health", status + (f": {', '.join(reasons)}" if reasons else "")))
    if report.drift is not None:
        count = len(report.drift.changes)
        lines.append(("drift", f"{count:,} differ" if report.drift.drift else "none"))
    if report.growth is not None:
        guess = "about " if report.growth.is_sampled else ""
        month = sum(day.memories for day in report.growth.days[-30:])
        lines.append(
            (
                "growth",
                f"{guess}{report.growth.live:,} live {'memory' if report.growth.live == 1 else 'memories'}, {month:,} stored in 30 days,"
                f" {report.growth.total_bytes / 2**20:,.1f} MB",
            )
        )
    if report.retention is not None:
        found = report.retention
        mean = "" if found.mean_score is None else f", mean score {found.mean_score:.3f}"
        lines.append(
            (
                "retention",
                f"{'about ' if found.is_sampled else ''}{found.in_30_days:,} may be forgotten in 30 days, {found.in_90_days:,} in 90{mean}",
            )
        )
    if report.retrieval is not None:
        month_of = next(one for one in report.retrieval.metrics.windows if one.days == 30)
        hit = "" if month_of.hit_rate is None else f", {month_of.hit_rate:.0%} found something"
        p95 = "" if month_of.latency_p95_ms is None else f", p95 {month_of.latency_p95_ms:,.0f} ms"
        lines.append(
            (
                "retrieval",
                f"{month_of.searches:,} search{'' if month_of.searches == 1 else 'es'} in 30 days{hit}{p95}",
            )
        )
    if report.cost is not None:
        cost = report.cost
        money = "" if cost.cost_usd is None else f", ${cost.cost_usd:,.2f}"
        tokens = cost.prompt_tokens + cost.completion_tokens
        lines.append(
            ("cost", f"{cost.calls:,} calls, {tokens:,} tokens{money} in {report.days} days")
        )
    if report.topics is not None:
        words = ", ".join(word.word for word in report.topics.words[:6])
        lines.append(("topics", f"{report.topics.topics:,}" + (f": {words}" if words else "")))
    if report.benchmarks is not None:
        figures = [
            f"{one.name} {one.metric} {one.points[-1].value:,.4g}"
            for one in report.benchmarks.series
            if one.points
        ]
        lines.append(("benchmarks", ", ".join(figures[:4]) or "none on record"))
    return lines
