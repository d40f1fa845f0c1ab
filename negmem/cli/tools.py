"""`negmem tools …`: the tools of agents."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

app = new_app("The tools of agents: what they get, as function schemas, and called by hand.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A tool: negmem tools list.")]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", metavar="NAME", help="Of entities and lessons: global, user or a team."
    ),
]
Thread = Annotated[
    str | None, typer.Option("--thread", metavar="NAME", help="The conversation it is called in.")
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Who calls; noted with what it writes."),
]


@command(app, "tools list")
def list_(common: Common) -> None:
    """All tools, and whether an agent gets them as configured."""
    from negmem.cli.render.tools import draw_list
    from negmem.core.tools import listing

    with common.session() as session:
        common.answer(listing.list_tools(session), draw_list)


@command(app, "tools schema")
def schema(
    common: Common,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="One tool; default: all that are offered."),
    ] = None,
) -> None:
    """OpenAI function schemas, as they go into the tools of a request."""
    from negmem.cli.render.tools import draw_schemas
    from negmem.core.tools import listing

    with common.session() as session:
        common.answer(listing.schemas(session, name), draw_schemas)


@command(app, "tools call", writes=True)
def call(
    common: Common,
    name: Name,
    user: User = None,
    arguments: Annotated[
        str,
        typer.Option(
            "--arguments", metavar="JSON", help="What a model would give; - reads it from stdin."
        ),
    ] = "{}",
    namespace: Namespace = None,
    thread: Thread = None,
    agent: Agent = None,
) -> int:
    """Call a tool as an agent would, and show what it would read. A refusal ends with 3."""
    from negmem.cli.render.tools import draw_answer
    from negmem.core.learning.protocol import Bound
    from negmem.core.tools import calling, listing

    asking = common.require_user(user)
    given = sys.stdin.read() if arguments == "-" else arguments
    with common.session() as session:
        listing.named(session, name)
        session.require_installed()
        bound = Bound(session, user=asking, namespace=namespace, thread=thread, agent=agent)
        answer = calling.call(session, bound, name, given, dry_run=common.dry_run)
        common.answer(answer, draw_answer)
    return ExitCode.ATTENTION if answer.is_error else ExitCode.DONE
