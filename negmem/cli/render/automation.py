"""The automation of an app as text: its jobs, its functions, what it can carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from negmem.cli.render.text import counted, one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.change import (
        AutomationSnapshot,
        Change,
        JobSwitch,
        NextRun,
        Reconciled,
        SkippedChange,
    )
    from negmem.core.models.job import JobExport, JobRun, PurgedRuns, RunLog

_STYLES = {
    "scheduled": "ok",
    "present": "ok",
    "succeeded": "ok",
    "failed": "fail",
    "running": "dim",
    "disabled": "dim",
    "unknown": "dim",
}
_DONE = {"create": "scheduled", "update": "put right", "replace": "put right", "delete": "removed"}
_WOULD = {
    "create": "would schedule",
    "update": "would put right",
    "replace": "would put right",
    "delete": "would remove",
}


def draw_snapshot(console: Console, shown: AutomationSnapshot) -> None:
    """Jobs one by one; functions as a count, with each that is not as it should be."""
    main = ", the main app" if shown.is_main else ""
    by = f" by {shown.updated_by}" if shown.updated_by else ""
    console.out(one_line(f"{shown.target} · schema {shown.schema_name} · app {shown.app}{main}"))
    console.out(one_line(f"config revision {shown.revision}{by}"))
    console.out()
    width = max(len(job.name) for job in shown.jobs)
    for job in shown.jobs:
        status = console.style(f"{job.status:<9}", _STYLES.get(job.status, "warn"))
        reason = f"  ({job.reason})" if job.reason and job.status != "scheduled" else ""
        console.out(
            f"  job       {one_line(job.name):<{width}}  {status}  {one_line(job.schedule)}{reason}"
        )
        if console.common.verbose:
            console.out(f"            {one_line(job.command)}")
        if job.status == "scheduled":
            for run in job.next_runs if console.common.verbose else job.next_runs[:1]:
                console.out(f"            next      {_when(run)}")
    present = sum(function.status == "present" for function in shown.functions)
    console.out(f"  functions {present} of {len(shown.functions)} present")
    for function in shown.functions:
        if function.status != "present":
            word = console.style(function.status, "warn")
            why = "" if function.reason == function.status else f": {function.reason}"
            console.out(f"            {one_line(function.signature)}  {word}{why}")
    found = shown.capabilities
    console.out(
        f"  carries   PostgreSQL {found.server_version} · vector {found.vector_version or 'none'}"
        f" · pg_cron {found.pg_cron_version or found.pg_cron_state or 'unknown'}"
    )
    console.out()
    reasons = f": {', '.join(shown.degraded_reasons)}" if shown.degraded_reasons else ""
    style = "ok" if shown.health.status == "healthy" else "warn"
    console.out(console.style(shown.health.status, style) + reasons)


def _when(run: NextRun) -> str:
    """A time in UTC, and in the other zones where they say something else."""
    utc = f"{run.at:%Y-%m-%d %H:%M} UTC"
    others = [text for text in (run.cron_zone, run.local) if text[:16] != utc[:16]]
    return " · ".join([utc, *dict.fromkeys(others)])


def _draw_changes(
    console: Console, applied: Sequence[Change], skipped: Sequence[SkippedChange], dry_run: bool
) -> None:
    for change in applied:
        verb = _WOULD[change.action] if dry_run else _DONE[change.action]
        detail = f"  ({one_line(change.detail)})" if change.detail else ""
        console.out(f"{verb}  {one_line(change.name)}{detail}")
        if change.action == "delete":
            for line in (change.before or "").splitlines():
                console.out(f"    {one_line(line)}")
    for left in skipped:
        console.out(
            f"{console.style('skip', 'warn')}  {one_line(left.name)}  {one_line(left.reason)}"
        )
        console.out(f"    why: {one_line(left.why)}")
        console.out(f"    fix: {one_line(left.hint)}")


def draw_reconciled(console: Console, done: Reconciled) -> None:
    """What was done to the job, and how it stands now."""
    if not done.applied and not done.skipped:
        console.out(f"unchanged  {one_line(done.job.name)}")
    _draw_changes(console, done.applied, done.skipped, done.dry_run)
    reason = f": {done.job.reason}" if done.job.reason else ""
    console.out(f"{done.job.status}{one_line(reason)}  {one_line(done.job.schedule)}")


def draw_run(console: Console, done: JobRun) -> None:
    """How the run ended; with -q only where it was left."""
    if done.dry_run:
        console.out(f"would run  {one_line(done.command)}")
        return
    if console.common.quiet and done.status == "succeeded":
        return
    style = "ok" if done.status == "succeeded" else "warn"
    said = f"  {one_line(done.message)}" if done.message else ""
    console.out(
        f"{console.style(done.status, style)}  {done.job_key}  {counted(done.rows_touched, 'row')}"
        f" in {counted(done.calls, 'call')}, {done.took_ms:,.0f} ms{said}"
    )


def draw_logs(console: Console, log: RunLog) -> None:
    """One line a run: when, what, how it ended, how long it took, and where that is written."""
    for run in log.runs:
        started = f"{run.started_at:%Y-%m-%d %H:%M:%S}" if run.started_at else "not started"
        took = f"{run.took_ms:,.0f} ms" if run.took_ms is not None else "-"
        rows = counted(run.rows_touched, "row") if run.rows_touched is not None else "-"
        app = f"@{one_line(run.app)}" if run.app else ""
        status = console.style(f"{run.status:<9}", _STYLES.get(run.status, "warn"))
        said = f"  {one_line(run.message, 60)}" if run.message else ""
        console.out(
            f"{started:<19}  {run.job_key + app:<21}  {status}  {rows:>10}  {took:>10}"
            f"  {run.started_through:<9}  {' + '.join(run.sources)}{said}"
        )
    if not log.runs:
        console.out(f"no run on record in {' and '.join(log.looked_at)}")
    if log.truncated:
        console.note(f"the latest {len(log.runs)}; more with --limit")


def draw_purged(console: Console, done: PurgedRuns) -> None:
    """How many rows went from which record; with -q nothing where none did."""
    nothing = not done.automation_runs and not done.job_run_details
    if not (console.common.quiet and nothing):
        verb = "would delete" if done.dry_run else "deleted"
        theirs = "-" if done.job_run_details is None else f"{done.job_run_details:,}"
        console.out(
            f"{verb}  {done.automation_runs:,} rows of automation_runs · {theirs} of"
            f" cron.job_run_details  (older than {done.keep_days} days)"
        )
    if done.schedule_statement is not None and (console.common.verbose or done.dry_run):
        console.out(f"by pg_cron itself, in its database: {safe_text(done.schedule_statement)}")


def draw_export(console: Console, done: JobExport) -> None:
    """The file as it is."""
    for line in done.text.splitlines():
        console.out(safe_text(line))


def draw_switch(console: Console, done: JobSwitch) -> None:
    """What was stored, and whether something runs the job by it."""
    word = "enabled" if done.enabled else "disabled"
    if not done.changed:
        console.out(f"unchanged  {done.job_key} is {word} already (app {one_line(done.app)})")
    else:
        verb = "would store" if done.dry_run else "stored"
        console.out(
            f"{verb}  {done.job_key} {word} (app {one_line(done.app)}, by {one_line(done.actor)})"
        )
    _draw_changes(console, done.applied, done.skipped, done.dry_run)
    if done.enabled and not done.dry_run:
        state = "scheduled" if done.scheduled else f"not scheduled: {done.status}"
        console.out(f"{state}  {one_line(done.schedule)}  {one_line(done.command)}")
