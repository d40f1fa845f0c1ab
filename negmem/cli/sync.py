"""`negmem sync`: makes the database agree with what is declared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.core.automation.part import Consent
    from negmem.core.automation.plan_file import PlanFile
    from negmem.core.session import Session

app = new_app("Make the database agree with what is declared.")

OverwriteEdited = Annotated[
    bool,
    typer.Option("--overwrite-edited", help="Also functions changed by hand; their text is kept."),
]
Prune = Annotated[
    bool, typer.Option("--prune", help="Also delete what is negmem's and no longer wanted.")
]
Adopt = Annotated[
    bool,
    typer.Option("--adopt", help="Also take over jobs of ours that negmem has no record of."),
]
Take = Annotated[
    str | None,
    typer.Option("--take", metavar="yaml|stored", help="Who wins where both config sides changed."),
]
PlanOut = Annotated[
    Path | None,
    typer.Option("--plan-out", metavar="FILE", help="Write the plan to a file, apply nothing."),
]
PlanIn = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="Carry out a plan that was written; refused if all moved on."
    ),
]


@command(app, "sync", writes=True)
def sync(
    common: Common,
    overwrite_edited: OverwriteEdited = False,
    prune: Prune = False,
    adopt: Adopt = False,
    take: Take = None,
    plan_out: PlanOut = None,
    plan: PlanIn = None,
) -> int:
    """Apply one plan, all of it or nothing; a second run changes nothing and says so.

    Exit 3 where something was left: functions changed by hand, config that the database changed,
    jobs that are on and that nothing schedules.
    """
    from negmem.cli.render.diff import draw_sync
    from negmem.core.automation.declared import plan_config
    from negmem.core.automation.part import Consent
    from negmem.core.automation.sync import plan_for
    from negmem.core.automation.sync import sync as run
    from negmem.core.evolution.effect import tell_effect

    if take not in (None, "yaml", "stored"):
        raise _usage("--take is yaml or stored", f"got {take!r}", "negmem sync --take yaml")
    taken = cast("Literal['yaml', 'stored'] | None", take)
    consent = Consent(overwrite_edited, prune, taken, adopt)
    made: PlanFile | None = None
    if plan is not None:
        if consent != Consent() or plan_out is not None:
            raise _usage(
                "--plan stands alone",
                "the file says what was allowed when the plan was made",
                f"negmem sync --plan {plan}",
            )
        from negmem.core.automation.plan_file import read_plan

        made = read_plan(plan)
        consent = made.consent
    with common.installed() as session:
        config = plan_config(session, take=consent.take)
        if config.decision == "apply":
            tell_effect(session, {one.name: one.after or "" for one in config.changes})
        if plan_out is not None:
            from negmem.core.automation.plan_file import write_plan

            file, report = plan_for(session, consent)
            write_plan(plan_out, file)
            common.console.note(f"plan written; carry it out with: negmem sync --plan {plan_out}")
            common.answer(report, draw_sync)
            return ExitCode.DONE
        if not common.dry_run:
            _ask(common, session, consent)
        report = run(session, consent, dry_run=common.dry_run, plan_file=made)
        common.answer(report, draw_sync)
    needs_attention = bool(report.skipped or report.degraded_reasons)
    return ExitCode.ATTENTION if needs_attention and not common.dry_run else ExitCode.DONE


def _usage(message: str, why: str, hint: str) -> UsageError:
    return UsageError("usage", message, why=why, hint=hint)


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
    for warning in session.warnings:
        common.console.note(str(warning["message"]))
    losing = f", {len(lost)} of them by hand or no longer wanted" if lost else ""
    count = f"{len(planned)} change{'' if len(planned) == 1 else 's'}"
    common.console.confirm(f"apply {count}{losing} to {session.database.label}?")
