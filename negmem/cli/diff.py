"""`negmem diff`: what differs between YAML, stored config and the database."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

app = new_app("Compare what is declared with what the database holds.")

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME…]", help="Functions, config keys, indexes, jobs. Default: all."),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 where it would be 3.")]
Format = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="text, json, github or junit.")
]
_FORMATS = ("text", "json", "github", "junit")


@command(app, "diff")
def diff(
    common: Common,
    names: Names = None,
    exit_zero: ExitZero = False,
    format_name: Format = "text",
) -> int:
    """Show what differs: exit 0 when nothing does, 3 when something does. Changes nothing.

    Compared are the YAML with the stored config, and functions, their owners and grants, jobs,
    indexes, pgvector and the embedding model with what is declared. What differs only in spacing
    or comments is shown with -v.
    """
    from negmem.cli.render.diff import draw_difference
    from negmem.core.automation import sync
    from negmem.core.evolution.effect import tell_effect_of

    if format_name not in _FORMATS:
        raise UsageError(
            "usage",
            f"--format is one of {', '.join(_FORMATS)}",
            why=f"got {format_name!r}",
            hint="negmem diff --help",
        )
    if common.json and format_name in ("github", "junit"):
        raise UsageError(
            "usage",
            f"--json and --format {format_name} exclude each other",
            why="stdout holds one document",
            hint=f"negmem diff --format {format_name}",
        )
    common.json = common.json or format_name == "json"
    with common.session() as session:
        found = sync.diff(session, names or ())
        tell_effect_of(session, found.changes)
        if format_name in ("github", "junit"):
            from negmem.cli.render.diff_reports import write_diff_report

            write_diff_report(common.console, found, format_name)
        else:
            common.answer(found, draw_difference)
    return ExitCode.ATTENTION if found.drift and not exit_zero else ExitCode.DONE
