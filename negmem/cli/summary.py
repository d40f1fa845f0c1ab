"""`negmem summary …`: what is known of a user or was said in a thread, in short."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, Limit, Offset, User, command, new_app

app = new_app("Summaries of users and threads.")

Thread = Annotated[str | None, typer.Option("--thread", metavar="NAME", help="Of this thread.")]
Type = Annotated[
    str | None, typer.Option("--type", metavar="TYPE", help="Only user_profile, or only session.")
]


@command(app, "summary show")
def show(
    common: Common,
    user: User = None,
    thread: Thread = None,
    summary_type: Type = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """A user's summaries, each with how fresh it is and who wrote it."""
    from negmem.cli.render.summaries import draw_summaries
    from negmem.core import summaries

    owner = common.require_user(user)
    with common.installed() as session:
        found = summaries.show(
            session, owner, summary_type=summary_type, thread=thread, limit=limit, offset=offset
        )
        common.answer(found, draw_summaries)
        if found.truncated:
            common.console.note(f"{len(found.summaries):,} of {found.total:,}")


@command(app, "summary refresh", writes=True)
def refresh(
    common: Common,
    user: User = None,
    thread: Thread = None,
    summary_type: Type = None,
    force: Annotated[bool, typer.Option("--force", help="Also where nothing changed.")] = False,
    extractor: Annotated[
        str,
        typer.Option("--extractor", metavar="NAME", help="auto, llm or pattern (without a model)."),
    ] = "auto",
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", min=0, help="Calls of the model.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", min=0, help="US dollars for the model."),
    ] = None,
) -> int:
    """Make summaries anew whose sources changed. Ends with 3 where a model was asked and is not used."""
    from negmem.cli.render.summaries import draw_refresh
    from negmem.core import summaries

    owner = common.require_user(user)
    with common.installed() as session:
        done = summaries.refresh_by_hand(
            session,
            owner,
            summary_type=summary_type,
            thread=thread,
            extractor=extractor,
            force=force,
            max_calls=max_calls,
            max_cost_usd=max_cost,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_refresh)
    return ExitCode.ATTENTION if done.fell_back else ExitCode.DONE
