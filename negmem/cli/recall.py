"""`negmem recall`: what a new session should know of a user."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, User, command, new_app

app = new_app("Recall what a new session should know of a user.")


@command(app, "recall")
def recall(
    common: Common,
    user: User = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", metavar="N", min=1, help="Default: retrieval.recall_tokens (2000)."
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Make it anew, whatever is cached.")
    ] = False,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Write no log; feedback can't name it then.")
    ] = False,
) -> None:
    """Core blocks, and the memories and facts that rank highest, before anything was asked.

    The answer is cached a user until something it rests on changes; no access is counted.
    """
    from negmem.cli.render.recall import draw_recall
    from negmem.core.retrieval.recall import recall as make

    owner = common.require_user(user)
    with common.installed() as session:
        found = make(session, owner, max_tokens=max_tokens, refresh=refresh, record=not no_record)
        common.answer(found, draw_recall)
