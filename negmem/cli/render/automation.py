"""The automation of an app as text: its jobs, its functions, what it can carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.change import AutomationSnapshot, JobSwitch

_STYLES = {"scheduled": "ok", "present": "ok", "disabled": "dim", "unknown": "dim"}


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
    present = sum(function.status == "present" for function in shown.functions)
    console.out(f"  functions {present} of {len(shown.functions)} present")
    for function in shown.functions:
        if function.status != "present":
            word = console.style(function.status, "warn")
            console.out(f"            {one_line(function.signature)}  {word}: {function.reason}")
    found = shown.capabilities
    console.out(
        f"  carries   PostgreSQL {found.server_version} · vector {found.vector_version or 'none'}"
        f" · pg_cron {found.pg_cron_version or found.pg_cron_state or 'unknown'}"
    )
    console.out()
    reasons = f": {', '.join(shown.degraded_reasons)}" if shown.degraded_reasons else ""
    style = "ok" if shown.health.status == "healthy" else "warn"
    console.out(console.style(shown.health.status, style) + reasons)


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
    if done.enabled and not done.dry_run:
        state = "scheduled" if done.scheduled else f"not scheduled: {done.status}"
        console.out(f"{state}  {one_line(done.schedule)}  {one_line(done.command)}")
