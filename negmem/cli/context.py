"""`negmem context`: what an agent should read before it answers, within a budget."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

app = new_app("Assemble a context within a token budget.")


@command(app, "context")
def context(
    common: Common,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in any language.")],
    user: User = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", metavar="N", min=1, help="Of the whole. Default: the stored config's."
        ),
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread", metavar="NAME", help="Whose last turns to show. Default: the latest."
        ),
    ] = None,
    blocks: Annotated[
        str,
        typer.Option("--blocks", metavar="NAMES", help="Sections to fill, with commas between."),
    ] = "summary,core,instructions,profile,reflections,memories,facts,knowledge,history",
    level: Annotated[
        str,
        typer.Option("--level", metavar="LEVEL", help="auto, hybrid, vector, keyword or ilike."),
    ] = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 3 when the search fell to a lower level.")
    ] = False,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Count no access, write no log.")
    ] = False,
) -> int:
    """Summary, core blocks, profile, what is found, the last turns: on stdout, ready to be read.

    Of the budget 20 % stay free for the system prompt, unless the stored config says otherwise.
    """
    from negmem.cli.render.context import draw_context
    from negmem.core.retrieval.context import assemble

    owner = common.require_user(user)
    with common.installed() as session:
        assembled = assemble(
            session,
            owner,
            query,
            max_tokens=max_tokens,
            thread=thread,
            blocks=list(dict.fromkeys(name.strip() for name in blocks.split(",") if name.strip())),
            level=level,
            record=not no_record,
        )
        common.answer(assembled, draw_context)
    fell = [step for step in assembled.fallbacks if strict or step.code != "no_match"]
    return ExitCode.ATTENTION if fell and (strict or level != "auto") else ExitCode.DONE
