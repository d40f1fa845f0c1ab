"""What consolidation did, and its queue, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.consolidation import (
        Consolidated,
        JobFailure,
        Queue,
        QueueCounts,
        QueuedJob,
    )

_SHOWN = 5


def draw_consolidated(console: Console, result: Consolidated) -> None:
    """Jobs, what came of them, step by step; what failed and what is left."""
    if result.dry_run:
        _draw_plan(console, result)
        return
    jobs = result.jobs
    parts = [f"{jobs.done:,} done"]
    parts += [f"{jobs.skipped:,} with nothing to do"] if jobs.skipped else []
    parts += [console.style(f"{jobs.failed:,} failed", "fail")] if jobs.failed else []
    parts += [f"{jobs.released:,} back in the queue"] if jobs.released else []
    parts += [f"{jobs.lost:,} taken over by others"] if jobs.lost else []
    parts += [f"{result.queued:,} queued by this run"] if result.queued else []
    parts += [f"{result.retried:,} made due again"] if result.retried else []
    console.out(f"{'jobs':<10}{' · '.join(parts)}")
    if jobs.done or jobs.failed:
        console.out(
            f"{'found':<10}{result.facts:,} facts · {result.conflicts:,} conflicts · "
            f"{result.links:,} links · {result.memories:,} memories · "
            f"{result.duplicates_merged:,} duplicates merged"
        )
    for name, step in result.steps.items():
        states = [
            f"{number:,} {word}"
            for number, word in (
                (step.done, "done"),
                (step.skipped, "skipped"),
                (step.failed, "failed"),
                (step.not_run, "not run"),
            )
            if number
        ]
        counted = ", ".join(f"{word} {number:,}" for word, number in step.counts.items() if number)
        console.out(
            f"  {name:<22}{', '.join(states):<24}{step.took_ms:>9,.0f} ms"
            + (f"  {counted}" if counted else "")
        )
    if result.llm.model:
        parts = [f"{result.llm.calls:,} calls", f"{result.llm.tokens:,} tokens"]
        if result.llm.tokens:
            cost = result.llm.cost_usd
            parts.append("price unknown" if cost is None else f"{cost:.4f} USD")
        parts.append(f"{result.llm.fallbacks:,} fallbacks")
        console.out(f"{'model':<10}{one_line(result.llm.model)}: {' · '.join(parts)}")
    if result.job and not (result.queued or result.steps):
        console.note(f"nothing changed since the last {result.job}; --again does it once more")
    for failure in result.failures[:_SHOWN]:
        _draw_failure(console, failure)
    if len(result.failures) > _SHOWN:
        console.out(f"{'':<10}and {len(result.failures) - _SHOWN:,} more")
    _draw_counts(console, result.queue)


def _draw_plan(console: Console, result: Consolidated) -> None:
    console.out(f"{'would do':<10}{len(result.planned):,} jobs that are due")
    if result.queued:
        console.out(f"{'would add':<10}{result.queued:,} jobs")
    for job in result.planned:
        console.out(f"  {_place(job)}")
    _draw_counts(console, result.queue)


def _draw_failure(console: Console, failure: JobFailure) -> None:
    where = one_line(failure.thread or "all threads", 40)
    head = console.style(f"{'failed':<10}", "fail")
    then = {"parked": "parked", "waiting": "tried again later"}.get(failure.became, failure.became)
    console.out(f"{head}{failure.job} of {one_line(failure.user, 40)}, {where} ({then})")
    console.out(f"{'':<10}{one_line(failure.error, 300)}")


def _draw_counts(console: Console, counts: QueueCounts) -> None:
    parts = [
        f"{number:,} {word}"
        for number, word in (
            (counts.due, "due"),
            (counts.running, "running"),
            (counts.waiting, "waiting"),
            (counts.held_back, "of users who are paused, held or being erased"),
        )
        if number
    ]
    if counts.next_attempt_at is not None:
        parts.append(f"next attempt {counts.next_attempt_at:%Y-%m-%d %H:%M:%S} UTC")
    if counts.parked:
        parts.append(console.style(f"{counts.parked:,} parked", "fail"))
    console.out(f"{'queue':<10}{' · '.join(parts) or 'empty'}")
    if counts.parked:
        console.note(
            "why: negmem consolidate --list --state parked    again: negmem consolidate --retry"
        )


def draw_queue(console: Console, queue: Queue) -> None:
    """One line a job, with the reason under it where there is one."""
    for job in queue.jobs:
        style = {"parked": "fail", "waiting": "warn", "running": "ok"}.get(job.state)
        state = f"{job.state:<10}"
        console.out((console.style(state, style) if style else state) + _place(job))
        if job.state == "running":
            console.out(f"{'':<10}by {job.worker}, until {job.lease_until:%H:%M:%S} UTC")
        if job.state == "waiting":
            console.out(f"{'':<10}next attempt {job.next_attempt_at:%Y-%m-%d %H:%M:%S} UTC")
        if job.error and job.state in ("parked", "waiting", "due", "cancelled"):
            console.out(f"{'':<10}{one_line(job.error, 300)}")
    if queue.truncated:
        console.note("there are more: --limit N")
    _draw_counts(console, queue.counts)


def _place(job: QueuedJob) -> str:
    where = one_line(job.thread, 40) if job.thread is not None else "all threads"
    tries = f" · attempt {job.attempts} of {job.max_attempts}" if job.attempts else ""
    return f"{job.job:<20}{one_line(job.user, 40)}, {where}{tries}  {job.id}"
