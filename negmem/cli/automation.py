"""`negmem automation …`: config, functions and jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

app = new_app("Config, functions and jobs.")

Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="cleanup_memories, trigger_consolidation or reweight_relevance."
    ),
]


@command(app, "show", path="automation show")
def show(common: Common) -> int:
    """Show config, functions, jobs and what the database can carry, each with its state."""
    from negmem.cli.render.automation import draw_snapshot
    from negmem.core.automation.snapshot import snapshot

    with common.session() as session:
        common.console.answer("automation.show/1", snapshot(session), draw_snapshot)
    return ExitCode.DONE


@command(app, "enable", path="automation enable", writes=True)
def enable(common: Common, job: Job) -> int:
    """Store the wish that a job run, with actor and time; says whether anything runs it."""
    return _switch(common, job, True)


@command(app, "disable", path="automation disable", writes=True)
def disable(common: Common, job: Job) -> int:
    """Store the wish that a job not run, with actor and time."""
    return _switch(common, job, False)


def _switch(common: Common, job: str, enabled: bool) -> int:
    from negmem.cli.render.automation import draw_switch
    from negmem.core.automation.jobs import job_named, switch

    job_named(job)
    with common.session() as session:
        session.require_installed()
        done = switch(session, job, enabled, dry_run=common.dry_run)
        common.console.answer(f"{common.name.replace(' ', '.')}/1", done, draw_switch)
    return ExitCode.DONE
