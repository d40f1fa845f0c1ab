"""`negmem instruction …`: how an app's agents should behave, version by version."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.moments import parse_pairs
from negmem.cli.options import Common, command, new_app

app = new_app("Instructions of an app, version by version.")

Key = Annotated[str, typer.Argument(metavar="KEY", help="Its name, such as tone.")]


@command(app, "instruction set", writes=True)
def set_(
    common: Common,
    key: Key,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What it says from now on.")],
    metadata: Annotated[
        list[str] | None,
        typer.Option("--metadata", metavar="KEY=VALUE", help="May be given several times."),
    ] = None,
    expected_version: Annotated[
        int | None,
        typer.Option(
            "--expected-version", metavar="N", min=0, help="Refuse if it changed; 0: must be new."
        ),
    ] = None,
) -> None:
    """Write a new version; the earlier ones stay."""
    from negmem.cli.render.instructions import draw_change
    from negmem.core import instructions

    pairs = parse_pairs(metadata, "--metadata") if metadata else None
    with common.installed() as session:
        done = instructions.set_instruction(
            session,
            key,
            content,
            metadata=pairs,
            expected_version=expected_version,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "instruction list")
def list_(common: Common) -> None:
    """The current version of each instruction of the app."""
    from negmem.cli.render.instructions import draw_list
    from negmem.core import instructions

    with common.installed() as session:
        found = instructions.list_instructions(session)
        common.answer(found, draw_list)


@command(app, "instruction show")
def show(
    common: Common,
    key: Key,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", min=1, help="Default: the current one.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="All versions, oldest first.")] = False,
) -> None:
    """One instruction."""
    from negmem.cli.render.instructions import draw_shown
    from negmem.core import instructions

    with common.installed() as session:
        found = instructions.show(session, key, version=version, history=history)
        common.answer(found, draw_shown)
