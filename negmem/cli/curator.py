"""`negmem curator`: keeps a user's memories to an age and a number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

app = new_app("Keep a user's memories to an age and a number.")


@app.callback()
def curator() -> None:
    """Keep a user's memories to an age and a number."""


@command(app, "prune", path="curator prune", writes=True)
def prune(
    common: Common,
    user: User = None,
    max_age_days: Annotated[
        float,
        typer.Option(
            "--max-age-days",
            metavar="N",
            help="Memories stored or changed before so many days go. 0: no limit.",
        ),
    ] = 0,
    max_count: Annotated[
        int,
        typer.Option(
            "--max-count", metavar="N", help="So many stay, the latest ones. 0: no limit."
        ),
    ] = 0,
) -> int:
    """Remove old memories and those above a number; `memory restore` brings them back.

    Pinned and core memories stay, and count. Shows what goes and asks first.
    """
    from negmem.cli.render.pruning import draw_pruned
    from negmem.core.evolution import prune as pruning
    from negmem.core.formulas.pruning import Reason

    owner = common.require_user(user)
    console = common.console
    with common.session() as session:
        session.require_installed()
        console.note(f"target: {session.database.label} (from {session.database.target.origin})")
        planned = pruning.plan(session, owner, max_age_days=max_age_days, max_count=max_count)
        if common.dry_run or planned.removed == 0:
            result = pruning.preview(session, planned)
            if not common.dry_run:
                result = result.model_copy(update={"dry_run": False})
        else:
            console.confirm(
                f"remove {planned.removed:,} of {planned.total:,} memories of {owner}"
                f" ({planned.count(Reason.AGE):,} by age, {planned.count(Reason.COUNT):,} by number)?"
            )
            result = pruning.apply(session, planned, on_progress=_progress(common))
        console.answer("curator.prune/1", result, draw_pruned)
    return ExitCode.DONE


def _progress(common: Common) -> Callable[[int, int], None] | None:
    if common.json or common.quiet or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{done:,} of {total:,}{end}")
        sys.stderr.flush()

    return show
