"""`negmem sync`: makes the database agree with what is declared."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.core.automation.sync import Consent
    from negmem.core.session import Session

app = new_app("Make the database agree with what is declared.")

OverwriteEdited = Annotated[
    bool,
    typer.Option("--overwrite-edited", help="Also functions changed by hand; their text is kept."),
]
Prune = Annotated[
    bool, typer.Option("--prune", help="Also delete what is negmem's and no longer wanted.")
]
Take = Annotated[
    str | None,
    typer.Option("--take", metavar="yaml|stored", help="Who wins where both config sides changed."),
]


@command(app, "sync", writes=True)
def sync(
    common: Common,
    overwrite_edited: OverwriteEdited = False,
    prune: Prune = False,
    take: Take = None,
) -> int:
    """Apply one plan, all of it or nothing; a second run changes nothing and says so.

    Exit 3 where something was left: functions changed by hand, config that the database changed,
    jobs that are on and that nothing schedules.
    """
    from negmem.cli.render.diff import draw_sync
    from negmem.core.automation.sync import Consent
    from negmem.core.automation.sync import sync as run

    if take not in (None, "yaml", "stored"):
        raise UsageError(
            "usage",
            "--take is yaml or stored",
            why=f"got {take!r}",
            hint="negmem sync --take yaml",
        )
    consent = Consent(overwrite_edited, prune, cast("Literal['yaml', 'stored'] | None", take))
    with common.session() as session:
        if not common.dry_run:
            _ask(common, session, consent)
        report = run(session, consent, dry_run=common.dry_run)
        common.console.answer("sync/1", report, draw_sync)
    needs_attention = bool(report.skipped or report.degraded_reasons)
    return ExitCode.ATTENTION if needs_attention and not common.dry_run else ExitCode.DONE


def _ask(common: Common, session: Session, consent: Consent) -> None:
    """Show the plan and ask: always at a terminal, else only before work is lost."""
    from negmem.cli.render.diff import plan_lines
    from negmem.core.automation.sync import sync as run

    may_lose = consent.overwrite_edited or consent.prune
    if common.yes or not (sys.stdin.isatty() or may_lose):
        return
    planned = run(session, consent, dry_run=True).applied
    lost = [c for c in planned if c.reason in ("edited", "unmanaged") or c.action == "delete"]
    if not planned or not (lost or sys.stdin.isatty()):
        return
    for line in plan_lines(planned):
        common.console.note(line)
    losing = f", {len(lost)} of them by hand or no longer wanted" if lost else ""
    common.console.confirm(f"apply {len(planned)} changes{losing} to {session.database.label}?")
