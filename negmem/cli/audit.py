"""`negmem audit …`: what is held about a person, and what was decided about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from negmem.cli import audit_decisions, audit_erasure, audit_trail
from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app
from negmem.cli.pii import progress

app = new_app("What is held about a person, what was decided about it, and the trail of it.")


app.registered_commands += audit_decisions.app.registered_commands
app.registered_commands += audit_trail.app.registered_commands
app.registered_commands += audit_erasure.app.registered_commands


@command(app, "audit export")
def export(
    common: Common,
    user: User = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE|-", help="Where to; - is stdout, the default."
        ),
    ] = "-",
) -> int:
    """Everything held about one person, as JSON Lines with a manifest and hashes.

    `negmem import` brings it back elsewhere. A file is readable by its owner alone.
    """
    from negmem.cli.render.export import draw_exported
    from negmem.core.governance import export as exporting
    from negmem.errors import UsageError

    owner = common.require_user(user)
    if output == "-" and common.json:
        raise UsageError(
            "output_needed",
            "rows and the document of --json can't both stand on stdout",
            why="no --output was given",
            hint=f"negmem audit export --user {owner} --output FILE --json",
        )
    with common.installed() as session:
        if output != "-":
            done = exporting.export_to_file(
                session, owner, Path(output), on_progress=progress(common)
            )
            common.answer(done, draw_exported)
            return ExitCode.DONE
        done = exporting.export(session, owner, sys.stdout.write)
        sys.stdout.flush()
        common.console.note(
            f"{done.rows:,} rows of {len(done.tables)} tables, sha256 {done.sha256}"
        )
        for warning in common.warnings:
            common.console.note(f"warning[{warning['code']}]: {warning['message']}")
    return ExitCode.DONE


@command(app, "audit disclose")
def disclose(
    common: Common,
    user: User = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page. Default: disclosure-USER.html here."
        ),
    ] = None,
) -> None:
    """A page for one person: what is held, who may read it, what was read, what was decided.

    One HTML file without script, readable by its owner alone. `audit export` is the copy for machines.
    """
    from negmem.cli.render.export import draw_disclosed
    from negmem.core.governance import disclosure

    owner = common.require_user(user)
    name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in owner)
    with common.installed() as session:
        done = disclosure.disclose(
            session,
            owner,
            output or Path(f"disclosure-{name[:60]}.html"),
            on_progress=progress(common),
        )
        common.answer(done, draw_disclosed)
