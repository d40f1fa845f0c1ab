"""`negmem feedback`: what a search was good for."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, User, command, new_app

app = new_app("Say what a search was good for.")


@command(app, "feedback", writes=True)
def feedback(
    common: Common,
    retrieval_id: Annotated[
        str, typer.Argument(metavar="RETRIEVAL_ID", help="As search, context or recall gave it.")
    ],
    outcome: Annotated[
        str, typer.Argument(metavar="OUTCOME", help="helpful, irrelevant or harmful.")
    ],
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", metavar="ID", help="What the outcome is about; repeatable."),
    ] = None,
    used: Annotated[
        list[str] | None,
        typer.Option("--used", metavar="ID", help="What went into the answer; repeatable."),
    ] = None,
    rating: Annotated[
        int | None,
        typer.Option("--rating", metavar="1..5", min=1, max=5, help="Of the answer; 5 is best."),
    ] = None,
    user: User = None,
) -> None:
    """Only memories that are named move; the job reweight_relevance turns votes into weights.

    The same feedback again counts nothing twice. With --user it finds the retrieval faster.
    """
    from negmem.cli.render.feedback import draw_feedback
    from negmem.core.memories import parse_id
    from negmem.core.retrieval.feedback import give, parse_retrieval_id

    owner = common.checked_user(user)
    retrieval = parse_retrieval_id(retrieval_id)
    memories = [parse_id(text) for text in memory or ()]
    items = [parse_id(text) for text in used or ()]
    with common.installed() as session:
        said = give(
            session,
            retrieval,
            outcome,
            user=owner,
            memories=memories,
            used=items,
            rating=rating,
            dry_run=common.dry_run,
        )
        common.answer(said, draw_feedback)
