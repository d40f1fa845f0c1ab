"""`negmem retention …`: what is forgotten, when, why, and for good."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from negmem.cli.options import Common, Limit, User, command, new_app
from negmem.errors import UsageError

app = new_app("Forgetting: run it, see what would go and why, purge for good.")

Id = Annotated[str, typer.Argument(metavar="ID")]
Days = Annotated[int, typer.Option("--days", metavar="N", min=0, help="How far to look ahead.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A number as it might be, such as decay_lambda=0.05; may be given several times.",
    ),
]
Points = Annotated[
    int, typer.Option("--points", metavar="N", min=2, help="How many points --json gives.")
]


@command(app, "retention run", writes=True)
def run(common: Common, user: User = None) -> None:
    """Forget what is due: soft deletes, batch by batch, each committed.

    `memory restore` brings a memory back until `retention purge`. What is cut off goes on at the next
    run. --dry-run counts what would go now, by the same rules.
    """
    from negmem.cli.render.retention import draw_run
    from negmem.core.evolution import retention

    owner = common.checked_user(user)
    with common.installed() as session:
        done = retention.run(
            session, user=owner, dry_run=common.dry_run, on_progress=_progress(common)
        )
        common.answer(done, draw_run)


@command(app, "retention preview")
def preview(
    common: Common,
    user: User = None,
    days: Days = 30,
    changes: Set = None,
    limit: Limit = 20,
) -> None:
    """Show what would go within the days to come, when, why, and the tokens freed.

    With --set it says how many more or fewer go by other numbers than those stored. Nothing is written.
    """
    from negmem.cli.render.retention import draw_preview
    from negmem.core.evolution import retention

    owner = common.checked_user(user)
    pairs = _pairs(changes)
    with common.installed() as session:
        found = retention.preview(session, owner, days=days, changes=pairs, limit=limit)
        common.answer(found, draw_preview)


def _pairs(changes: list[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for change in changes or []:
        key, equals, value = change.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                "pair_malformed",
                f"--set {change[:60]!r} is no KEY=VALUE",
                why="there is no = in it, or no key before it",
                hint="negmem retention preview --set decay_lambda=0.05",
            )
        pairs[key.strip()] = value.strip()
    return pairs


@command(app, "retention curve")
def curve(common: Common, memory_id: Id, user: User = None, points: Points = 61) -> None:
    """Draw the score of one memory, from its last access on to when it may go."""
    from negmem.cli.render.retention_curve import draw_curve
    from negmem.core.evolution import retention_curve
    from negmem.core.memories import parse_id

    owner = common.require_user(user)
    wanted = parse_id(memory_id)
    with common.installed() as session:
        found = retention_curve.curve(session, owner, wanted, points=points)
        common.answer(found, draw_curve)


@command(app, "retention explain")
def explain(common: Common, memory_id: Id, user: User = None) -> None:
    """Show each factor of one memory's score, and what it adds or takes."""
    from negmem.cli.render.retention_curve import draw_explanation
    from negmem.core.evolution import retention_curve
    from negmem.core.memories import parse_id

    owner = common.require_user(user)
    wanted = parse_id(memory_id)
    with common.installed() as session:
        found = retention_curve.explain(session, owner, wanted)
        common.answer(found, draw_explanation)


@command(app, "retention purge", writes=True)
def purge(common: Common, user: User = None) -> None:
    """Remove for good what is over its lifetime: what was removed, searches, jobs, caches.

    By retention.restore_window_days, retrieval_log_days and job_days. Pinned rows and users under
    legal hold stay. Shows what goes and asks first; in cron it needs --yes.
    """
    from negmem.cli.render.retention import draw_purge
    from negmem.core.evolution import retention_purge

    owner = common.checked_user(user)
    console = common.console
    with common.installed() as session:
        common.tell_target(session)
        planned = retention_purge.plan(session, user=owner)
        if common.dry_run or planned.rows == 0:
            done = retention_purge.preview(planned)
            if not common.dry_run:
                done = done.model_copy(update={"dry_run": False})
        else:
            console.confirm(
                f"remove {planned.memories:,} memories, {planned.retrieval_logs:,} searches and"
                f" {planned.others:,} other rows for good? there is no way back"
            )
            progress = _progress(common)
            report = None if progress is None else lambda gone, total: progress(gone)
            done = retention_purge.apply(session, planned, on_progress=report)
        common.answer(done, draw_purge)


def _progress(common: Common) -> Callable[[int], None] | None:
    if common.json or common.quiet or not sys.stderr.isatty():
        return None

    def show(done: int) -> None:
        sys.stderr.write(f"\r{done:,} gone ")
        sys.stderr.flush()

    return show
