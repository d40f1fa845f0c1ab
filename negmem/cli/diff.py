"""`negmem diff`: what differs between YAML, stored config and the database."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

app = new_app("Compare what is declared with what the database holds.")

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME…]", help="Functions or config keys. Default: all."),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 where it would be 3.")]


@command(app, "diff")
def diff(common: Common, names: Names = None, exit_zero: ExitZero = False) -> int:
    """Show what differs: exit 0 when nothing does, 3 when something does. Changes nothing.

    Compared are the YAML with the stored config, and the managed functions with what this server
    makes of the ones that ship. What differs only in spacing or comments is shown with -v.
    """
    from negmem.cli.render.diff import draw_difference
    from negmem.core.automation import sync

    with common.session() as session:
        found = sync.diff(session, names or ())
        common.console.answer("diff/1", found, draw_difference)
    return ExitCode.ATTENTION if found.drift and not exit_zero else ExitCode.DONE
