"""A judgement of answers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.bench import JudgeBench


def draw_judge(console: Console, judge: JudgeBench) -> None:
    """Accuracy with its interval, by category; what was not graded, and what it took."""
    low, high = judge.interval
    console.out(
        f"{judge.dataset} · {judge.graded:,} of {judge.questions:,} questions graded by"
        f" {one_line(judge.config.model)} · {judge.took_s:.0f} s"
    )
    console.out(f"accuracy        {judge.accuracy:.4f}   95 %: {low:.3f} to {high:.3f}")
    for category, found in judge.by_category.items():
        console.out(f"  {one_line(category):<24}{found.graded:>6}  {found.accuracy:.4f}")
    cost = "price unknown" if judge.cost_usd is None else f"{judge.cost_usd:,.4f} US dollars"
    console.out(f"{judge.calls:,} calls · {judge.tokens:,} tokens · {cost}")
    for code, times in judge.refusals.items():
        console.out(f"not graded  {code}, {times:,} times")
    if judge.stopped:
        console.out(f"stopped: {one_line(judge.stopped)}")
