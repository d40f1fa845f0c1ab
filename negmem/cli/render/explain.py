"""Search results as text: a line each; with their working, a column each part of the score."""

from __future__ import annotations

from datetime import datetime, timezone
from textwrap import wrap
from typing import TYPE_CHECKING

from negmem.cli.render.text import counted, one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.retrieval import SearchAnswer, SearchPlan, SearchResult

_PARTS = (
    "semantic",
    "keyword",
    "neighbours",
    "session",
    "speaker",
    "intent",
    "relevance",
    "retention",
)
_WIDTH = 11
_WITH_MEMORY = 25 + 30  # its age and short id, and the least of its text


def draw_answer(console: Console, answer: SearchAnswer, query: str, user: str) -> None:
    """The question, how it was searched, the results; with --explain their working and the plan."""
    title = one_line(query, 60)
    console.out(f'"{title}"   user {one_line(user)} · {_level(console, answer)}')
    for step in answer.fallbacks[:-1]:
        console.out(
            f"  before that {step.from_level} fell to {step.to_level}: {one_line(step.reason)}"
        )
    for step in answer.fallbacks:
        if step.hint:
            console.note(f"  fix: {step.hint}")
    if answer.results:
        console.out()
    if answer.plan is not None:
        _draw_explained(console, answer, answer.plan)
    else:
        for place, result in enumerate(answer.results, start=1):
            head = f"{place:>3}  {result.score:.4f}  {_age(result):>7}  {result.id}  "
            console.row(head, result.content)
    if not answer.results:
        console.out("  nothing found")
    if answer.shortfall:
        console.note(f"  {answer.shortfall}")
    _draw_why_not(console, answer)
    if console.common.verbose:
        took = answer.took_ms
        console.note(
            f"embedding {took.embed:.0f} ms, database {took.database:.1f} ms, all {took.total:.0f} ms"
        )


def _level(console: Console, answer: SearchAnswer) -> str:
    if not answer.fallbacks:
        return f"level {answer.level}, no fallback"
    last = answer.fallbacks[-1]
    text = f"level {answer.level} (fell from {last.from_level}: {one_line(last.reason)})"
    return console.style(text, "warn")


def _draw_explained(console: Console, answer: SearchAnswer, plan: SearchPlan) -> None:
    used = [part for part in _PARTS if any(_part(result, part) for result in answer.results)]
    names = "".join(f"{part:>{_WIDTH}}" for part in used)
    title = f"  #   score{names}"
    # On a screen too narrow for all of it, the memory stands below its figures.
    below = console.width is not None and len(title) + _WITH_MEMORY > console.width
    if answer.results:
        console.out(title if below else f"{title}      age   memory")
        weights = {"semantic": plan.semantic_weight, "keyword": plan.keyword_weight}
        if answer.level == "hybrid":
            row = "".join(
                f"{weights[part]:>{_WIDTH}.2f}" if part in weights else " " * _WIDTH
                for part in used
            )
            console.out(f"     weight{row}".rstrip())
    for place, result in enumerate(answer.results, start=1):
        cells = "".join(f"{_cell(_part(result, part)):>{_WIDTH}}" for part in used)
        head = f"{place:>3}  {result.score:.6f}{cells}"
        item = f"  {_age(result):>7}   {_short(console, result)}  "
        if below:
            console.out(head)
            console.row(f"   {item}", result.content)
        else:
            console.row(head + item, result.content)
    if answer.results:
        console.out()
    _line(console, "plan", f"{plan.strategy}: {plan.reason}")
    took = answer.took_ms
    console.out(f"  took      database {took.database:.1f} ms, embedding {took.embed:.0f} ms")
    console.out(
        f"  arms      {plan.semantic_candidates:,} candidates by vector,"
        f" {plan.keyword_candidates:,} by word"
        + (f" · asks for {plan.intent}" if plan.intent else "")
    )
    if plan.index:
        console.out(f"  index     {plan.index} · {counted(plan.rows_scanned, 'row')} read")
    _draw_dropped(console, plan)
    if console.common.verbose:
        _draw_raw(console, answer)
        console.note(plan.sql)
    elif answer.results:
        console.out("  raw values, full ids and SQL: -v")


def _draw_dropped(console: Console, plan: SearchPlan) -> None:
    """What is not among the results, and why."""
    if plan.dropped is None:
        return
    counts = (
        (plan.dropped.ranked_below, "ranked below"),
        (plan.dropped.filtered, "kept out by filters"),
        (plan.dropped.removed, "removed"),
        (plan.dropped.not_true_now, "not true now"),
    )
    said = [f"{count:,} {why}" for count, why in counts if count]
    _line(console, "left out", " · ".join(said) or "nothing")
    if plan.dropped.without_vector:
        without = counted(plan.dropped.without_vector, "item")
        _line(console, "blind", f"{without} without a vector: found by words alone")


def _line(console: Console, label: str, text: str) -> None:
    """A labelled line; on a screen it goes on under its beginning."""
    width = 10_000 if console.width is None else max(40, console.width)
    first, rest = f"  {label:<10}", " " * 12
    for line in wrap(text, width, initial_indent=first, subsequent_indent=rest):
        console.out(line)


def _draw_raw(console: Console, answer: SearchAnswer) -> None:
    for place, result in enumerate(answer.results, start=1):
        working = result.explain
        assert working is not None
        console.out(
            f"  {place:>2}  {result.id}  {result.kind} {result.type} · {result.score_type}"
            f" {result.raw_score:.6f} · similarity {_cell(working.semantic)}{_at(working.semantic_rank)} ·"
            f" words {_cell(working.keyword)}{_at(working.keyword_rank)} · retention {_cell(working.retention)} ·"
            f" importance {_cell(working.importance)} · relevance {working.relevance:.4f}"
        )


def _draw_why_not(console: Console, answer: SearchAnswer) -> None:
    standing = answer.why_not
    if standing is None:
        return
    score = f" · score {standing.score:.6f}" if standing.score is not None else ""
    if standing.score is not None and standing.last_score is not None:
        score += f", the last shown has {standing.last_score:.6f}"
    console.out()
    console.out(f"  {standing.id}  {standing.state}: {one_line(standing.reason)}{score}")
    if standing.ranks_looked_at is not None:
        arms = (("vectors", standing.semantic_rank), ("words", standing.keyword_rank))
        told = [
            f"{arm}: number {rank:,}"
            if rank is not None
            else f"{arm}: not among the first {standing.ranks_looked_at:,}"
            for arm, rank in arms
        ]
        if standing.semantic_unknown is not None:
            told[0] = f"vectors: not known ({one_line(standing.semantic_unknown)})"
        _line(console, "alone", ", ".join(told))
    for remedy in standing.remedies:
        console.out(f"  fix: {remedy}")
    if standing.explain is not None:
        parts = standing.explain.contributions
        values = ", ".join(
            f"{part} {getattr(parts, part):.6f}" for part in _PARTS if getattr(parts, part)
        )
        console.out(f"  {values}")


def _part(result: SearchResult, part: str) -> float:
    assert result.explain is not None
    return float(getattr(result.explain.contributions, part))


def _at(rank: int | None) -> str:
    return "" if rank is None else f" (number {rank:,})"


def _cell(value: float | None) -> str:
    return "–" if not value else f"{value:.4f}"


def _age(result: SearchResult) -> str:
    """How long ago it was said, in the largest unit that fits."""
    moment = result.occurred_at or result.created_at
    seconds = (datetime.now(timezone.utc) - moment).total_seconds()
    for size, unit in ((365 * 86_400, "y"), (86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def _short(console: Console, result: SearchResult) -> str:
    """The end of the id on a screen, as contexts show it; all of it in a pipe."""
    return str(result.id) if console.width is None else f"…{str(result.id)[-8:]}"
