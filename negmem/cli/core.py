"""`negmem core …`: short texts that stand in every context."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.moments import parse_pairs
from negmem.cli.options import Common, User, command, new_app

app = new_app("Core blocks: short texts that stand in every context.")

Label = Annotated[str, typer.Argument(metavar="LABEL", help="Its name, such as persona.")]
Scope = Annotated[
    str, typer.Option("--scope", metavar="SCOPE", help="user, app (every user's) or thread.")
]
Thread = Annotated[
    str | None, typer.Option("--thread", metavar="NAME", help="Of scope thread: which one.")
]


@command(app, "core show")
def show(
    common: Common,
    label: Annotated[
        str | None, typer.Argument(metavar="LABEL", help="Only blocks of this name.")
    ] = None,
    user: User = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="SCOPE", help="user, app or thread.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="Leave other threads out.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="What the block said before, oldest first.")
    ] = False,
) -> None:
    """The blocks that a user's contexts have; without --user the app's own."""
    from negmem.cli.render.core_blocks import draw_blocks
    from negmem.core import core_blocks

    owner = common.checked_user(user)
    with common.installed() as session:
        found = core_blocks.show(
            session, owner, label=label, scope=scope, thread=thread, history=history
        )
        common.answer(found, draw_blocks)


@command(app, "core set", writes=True)
def set_(
    common: Common,
    label: Label,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What it says from now on.")],
    user: User = None,
    scope: Scope = "user",
    thread: Thread = None,
    append: Annotated[
        bool, typer.Option("--append", help="Add the text as a line to what stands.")
    ] = False,
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
) -> int:
    """Write a block; what it said before is kept. More than 2,048 tokens are cut: exit 3."""
    from negmem.cli.render.core_blocks import draw_change
    from negmem.core import core_blocks

    owner = common.checked_user(user)
    pairs = parse_pairs(metadata, "--metadata")
    with common.installed() as session:
        done = core_blocks.set_block(
            session,
            owner,
            content,
            label=label,
            scope=scope,
            thread=thread,
            metadata=pairs,
            append=append,
            expected_version=expected_version,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)
    return ExitCode.ATTENTION if done.cut else ExitCode.DONE


@command(app, "core rm", writes=True)
def remove(
    common: Common, label: Label, user: User = None, scope: Scope = "user", thread: Thread = None
) -> None:
    """Take a block out of all contexts; what it said stays in its history."""
    from negmem.cli.render.core_blocks import draw_change
    from negmem.core import core_blocks

    owner = common.checked_user(user)
    with common.installed() as session:
        done = core_blocks.remove(
            session, owner, label=label, scope=scope, thread=thread, dry_run=common.dry_run
        )
        common.answer(done, draw_change)
