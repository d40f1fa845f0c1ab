"""`negmem automation …`: config, functions and jobs."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, Limit, command, new_app
from negmem.errors import UsageError

app = new_app("Config, functions and jobs.")

Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="cleanup_memories, trigger_consolidation or reweight_relevance."
    ),
]
OptionalJob = Annotated[
    str | None,
    typer.Argument(
        metavar="[JOB]", help="cleanup_memories, trigger_consolidation or reweight_relevance."
    ),
]
Jobs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB…]", help="cleanup_memories, trigger_consolidation or reweight_relevance."
    ),
]
OlderThan = Annotated[
    int | None,
    typer.Option(
        "--older-than", metavar="DAYS", help="Default: retention.run_log_days of the YAML (90)."
    ),
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="crontab|systemd|kubernetes", help="For which scheduler.")
]


@command(app, "automation show")
def show(common: Common) -> None:
    """Show config, functions, jobs and what the database can carry, each with its state."""
    from negmem.cli.render.automation import draw_snapshot
    from negmem.core.automation.snapshot import snapshot

    with common.session() as session:
        common.answer(snapshot(session), draw_snapshot)


@command(app, "automation enable", writes=True)
def enable(common: Common, job: Job) -> int:
    """Store the wish that a job run, with actor and time, and schedule it where pg_cron is.

    Says whether anything runs it. Exit 3 where pg_cron is there and the job could not be scheduled.
    """
    return _switch(common, job, True)


@command(app, "automation disable", writes=True)
def disable(common: Common, job: Job) -> int:
    """Store the wish that a job not run, with actor and time, and unschedule it where pg_cron is.

    A run that is under way goes on, and is told.
    """
    return _switch(common, job, False)


def _switch(common: Common, job: str, enabled: bool) -> int:
    from negmem.cli.render.automation import draw_switch
    from negmem.core.automation.jobs import job_named, switch

    job_named(job, "enable" if enabled else "disable")
    with common.installed() as session:
        done = switch(session, job, enabled, dry_run=common.dry_run)
        common.answer(done, draw_switch)
    return ExitCode.ATTENTION if done.skipped and not done.dry_run else ExitCode.DONE


@command(app, "automation reconcile", writes=True)
def reconcile(common: Common, job: Job) -> int:
    """Make one job in pg_cron agree with the stored config.

    Takes over a job of this name that the same role scheduled by hand. Exit 3 where it is on and
    still not scheduled.
    """
    from negmem.cli.render.automation import draw_reconciled
    from negmem.core.automation.jobs import job_named
    from negmem.core.automation.jobs import reconcile as put_right

    job_named(job, "reconcile")
    with common.installed() as session:
        done = put_right(session, job, dry_run=common.dry_run)
        common.answer(done, draw_reconciled)
    is_well = done.dry_run or done.job.status in ("scheduled", "disabled")
    return ExitCode.DONE if is_well and not done.skipped else ExitCode.ATTENTION


@command(app, "automation run", writes=True)
def run(common: Common, job: Job) -> None:
    """Run a job now, without pg_cron; the run is recorded. The sweep goes on until nothing is due.

    Exit 0 also where another run of it is under way: this one says skipped and leaves.
    """
    from negmem.cli.render.automation import draw_run
    from negmem.core.automation.job_catalog import job_named
    from negmem.core.automation.job_runs import run as run_now

    job_named(job, "run")
    with common.installed() as session:
        done = run_now(session, job, dry_run=common.dry_run)
        common.answer(done, draw_run)


@command(app, "automation logs")
def logs(common: Common, job: OptionalJob = None, limit: Limit = 20) -> None:
    """Show the latest runs, newest first, from pg_cron's log and from negmem's run table."""
    from negmem.cli.render.automation import draw_logs
    from negmem.core.automation.job_catalog import job_named
    from negmem.core.automation.job_runs import logs as read_logs

    if job is not None:
        job_named(job, "logs")
    with common.installed() as session:
        found = read_logs(session, job, limit=limit)
        common.answer(found, draw_logs)


@command(app, "automation purge", writes=True)
def purge(common: Common, older_than: OlderThan = None) -> None:
    """Delete old records of runs: negmem's own, and those of its jobs in pg_cron's log.

    Rows of other jobs are never touched, and the last run of each job stays. With -v it prints the
    statement by which pg_cron trims its log of these jobs by itself.
    """
    from negmem.cli.render.automation import draw_purged
    from negmem.core.automation.run_history import purge as purge_runs

    with common.installed() as session:
        done = purge_runs(session, older_than_days=older_than, dry_run=common.dry_run)
        common.answer(done, draw_purged)


@command(app, "automation export")
def export(common: Common, jobs: Jobs = None, format_name: FormatOption = "crontab") -> None:
    """Write the jobs for a scheduler outside the database: those named, else those that are on."""
    from negmem.cli.render.automation import draw_export
    from negmem.core.automation.job_export import export as write

    if format_name not in ("crontab", "systemd", "kubernetes"):
        raise UsageError(
            "usage",
            "--format is crontab, systemd or kubernetes",
            why=f"got {format_name!r}",
            hint="negmem automation export --format systemd",
        )
    with common.installed() as session:
        done = write(session, cast("Any", format_name), jobs or ())
        common.answer(done, draw_export)
