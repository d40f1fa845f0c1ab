"""The built-in scheduler as text: who leads, what is due, how a run of it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.job import SchedulerRun, SchedulerStatus


def draw_status(console: Console, found: SchedulerStatus) -> None:
    """The leader on one line, then each job with its last start and its next."""
    leader = found.leader
    if leader is None:
        console.out(f"{console.style('none', 'warn')}  no built-in scheduler runs")
    else:
        word = console.style("alive", "ok") if leader.is_alive else console.style("dead", "fail")
        console.out(
            f"{word}  pid {leader.process_id} on {one_line(leader.host)}, leads since"
            f" {leader.since:%Y-%m-%d %H:%M:%S} UTC, last sign {leader.age_s:.0f} s ago"
        )
    for job in found.jobs:
        if not job.enabled and not console.common.verbose:
            continue
        last = f"{job.last_started_at:%Y-%m-%d %H:%M}" if job.last_started_at else "never"
        next_run = "off"
        if job.next_run_at is not None:
            next_run = "due now" if job.is_due else f"{job.next_run_at:%Y-%m-%d %H:%M} UTC"
        console.out(
            f"  {job.job_key:<21}  {one_line(job.app)}  {one_line(job.schedule):<12}"
            f"  last {last}  next {next_run}"
        )


def draw_ended(console: Console, ended: SchedulerRun) -> None:
    """One line: who stopped it, and what it did."""
    if not console.common.quiet:
        console.out(
            f"stopped by {ended.stopped_by}: {ended.succeeded} succeeded, {ended.failed} failed,"
            f" {ended.skipped} skipped"
        )
