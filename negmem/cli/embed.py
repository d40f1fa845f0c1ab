"""`negmem embed …`: the embedding model, and the online change to another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

app = new_app("The embedding model: what is stored with which, and the online change.")


@command(app, "embed status")
def status(common: Common) -> int:
    """What is stored with which model, what is configured, and what would be next."""
    from negmem.cli.render.embed import draw_status
    from negmem.core.embedding_change import status as look

    with common.installed() as session:
        found = look(session)
        common.answer(found, draw_status)
    needs = found.state in ("incomplete", "pending", "changing")
    return ExitCode.ATTENTION if needs else ExitCode.DONE


@command(app, "embed migrate", writes=True)
def migrate(
    common: Common,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Search with the model before the last change again.")
    ] = False,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Remove the vectors of models that were replaced.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Give a change up that was begun, with its vectors.")
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", min=0, help="Stop when so much is spent."),
    ] = None,
) -> int:
    """Embed everything with the configured model, then search with it.

    Memories, facts, learnings and entities; topics follow. The old vectors are searched until the last text
    is done, and stand until --confirm. Cut off, the same command goes on. Nothing is embedded before its price was shown; what may cost money is asked for.
    """
    from negmem.cli.render.embed import draw_change, price_line
    from negmem.core import embedding_change

    chosen = [
        n for n, on in {"rollback": rollback, "confirm": confirm, "cancel": cancel}.items() if on
    ]
    if len(chosen) > 1:
        raise UsageError(
            "usage",
            f"--{chosen[0]} and --{chosen[1]} exclude each other",
            why="each is a change of its own",
            hint="negmem embed migrate --help",
        )
    console = common.console
    with common.installed() as session:
        planned = embedding_change.plan(session, chosen[0] if chosen else "migrate")
        if common.dry_run:
            done = embedding_change.preview(planned)
        else:
            console.note(price_line(planned.action, planned.price))
            if chosen and chosen[0] != "rollback" and planned.target is not None:
                console.confirm(f"remove the vectors of {planned.target.space.model}?")
            elif planned.price.texts and planned.price.cost_usd != 0:
                console.confirm(f"embed {planned.price.texts:,} texts?", deed="may cost money")
            done = embedding_change.apply(
                session, planned, max_cost_usd=max_cost, on_progress=_progress(common)
            )
        common.answer(done, draw_change)
    return ExitCode.ATTENTION if done.stopped or done.parked else ExitCode.DONE


def _progress(common: Common) -> Callable[[int, int], None] | None:
    if common.json or common.quiet or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{done:,} of {total:,}{end}")
        sys.stderr.flush()

    return show
