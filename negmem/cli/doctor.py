"""`negmem doctor`: probes what the database can carry and says what is wrong and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.core.models.diagnosis import Diagnosis

app = new_app("Probe what the database can carry; say what is wrong and what to do.")

_FORMATS = ("text", "json", "github", "junit", "nagios")

Fix = Annotated[bool, typer.Option("--fix", help="Mend what is safe to mend, and say what.")]
ListChecks = Annotated[bool, typer.Option("--list", help="List the checks, run none.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="CODE", help="One check or area; may be repeated."),
]
Format = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="text, json, github, junit or nagios.")
]
FailOn = Annotated[
    str,
    typer.Option("--fail-on", metavar="warn|fail", help="From which severity on exit 3."),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 where it would be 3.")]


@command(app, "doctor", writes=True)
def doctor(
    common: Common,
    fix: Fix = False,
    list_checks: ListChecks = False,
    only: Only = None,
    format_name: Format = "text",
    fail_on: FailOn = "warn",
    exit_zero: ExitZero = False,
) -> int:
    """Say healthy (exit 0), degraded (3) or unusable (1), each finding with evidence and remedy.

    Reads only, but for --fix. With -q nothing is printed when all is well. The format nagios also
    speaks that program's exit codes: 0, 1 degraded, 2 unusable.
    """
    from negmem.cli.render.doctor import draw_checks, draw_diagnosis
    from negmem.core.diagnostics import runner

    _one_of("--format", format_name, _FORMATS)
    _one_of("--fail-on", fail_on, ("warn", "fail"))
    common.json = common.json or format_name == "json"
    console = common.console
    if list_checks:
        console.answer("doctor.list/1", runner.describe(), draw_checks)
        return ExitCode.DONE
    diagnosis = runner.diagnose_target(
        common.session,
        only=only or (),
        fix=fix,
        dry_run=common.dry_run,
        on_repair=console.note,
        schema_name=common.schema or "",
        app=common.app or "",
    )
    if format_name in ("github", "junit", "nagios"):
        from negmem.cli.render.reports import write_report

        write_report(console, diagnosis, format_name)
    else:
        common.answer(diagnosis, draw_diagnosis)
    if format_name == "nagios":
        return {"healthy": 0, "degraded": 1, "unusable": 2}[diagnosis.status]
    return _exit_code(diagnosis, fail_on, exit_zero)


def _exit_code(diagnosis: Diagnosis, fail_on: str, exit_zero: bool) -> int:
    if diagnosis.status == "unusable":
        return ExitCode.FAILED
    counted = [f.severity for f in diagnosis.findings if f.counts]
    needs_attention = bool(counted) if fail_on == "warn" else "fail" in counted
    return ExitCode.ATTENTION if needs_attention and not exit_zero else ExitCode.DONE


def _one_of(flag: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            "usage",
            f"{flag} is one of {', '.join(allowed)}",
            why=f"got {value!r}",
            hint="negmem doctor --help",
        )
