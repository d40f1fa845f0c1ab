"""`negmem audit head·verify`: the proof that nobody rewrote the trail."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

app = new_app("The trail.")


@command(app, "head", path="audit head")
def head(common: Common) -> int:
    """The end of the trail as one line. Keep it outside the database: it proves all entries up to it."""
    from negmem.cli.render.audit import draw_head
    from negmem.core.governance import trail

    with common.session() as session:
        session.require_installed()
        common.console.answer("audit.head/1", trail.head(session), draw_head)
    return ExitCode.DONE


@command(app, "verify", path="audit verify")
def verify(
    common: Common,
    heads: Annotated[
        list[str] | None,
        typer.Option(
            "--head", metavar="HEAD|FILE", help="What audit head printed. May be repeated."
        ),
    ] = None,
) -> int:
    """Check every hash and link of the trail, and heads kept elsewhere. Exit 1: it was tampered with.

    Says what it can't prove without a head.
    """
    from negmem.cli.render.audit import draw_verified
    from negmem.core.governance import trail

    with common.session() as session:
        session.require_installed()
        found = trail.verify(session, heads or ())
        common.console.answer("audit.verify/1", found, draw_verified)
    return ExitCode.DONE if found.whole else ExitCode.FAILED
