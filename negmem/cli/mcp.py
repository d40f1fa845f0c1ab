"""`negmem mcp …`: the tools of agents over MCP."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from negmem.cli.options import Common, User, command, new_app
from negmem.cli.tools import Agent, Namespace, Thread

app = new_app("The tools of agents over MCP, the Model Context Protocol.")

Http = Annotated[
    int | None,
    typer.Option(
        "--http",
        metavar="PORT",
        min=0,
        max=65_535,
        help="Over HTTP on 127.0.0.1 instead, with the token of NEGMEM_MCP_TOKEN; 0: a free port.",
    ),
]


@app.callback()
def _group() -> None:
    """With one command alone the parser would leave out its name."""


@command(app, "mcp serve")
def serve(
    common: Common,
    user: User = None,
    namespace: Namespace = None,
    thread: Thread = None,
    agent: Agent = None,
    http: Http = None,
) -> None:
    """Offer the tools of one user over stdin and stdout, until the client closes them."""
    from negmem.cli.render.text import safe_text
    from negmem.mcp import http_server, server

    def say(line: str) -> None:
        server.to_stderr(safe_text(line))

    served = server.Served(common.require_user(user), namespace, thread, agent)
    if http is None:
        server.serve(common.session, served, say)
    else:
        token = os.environ.get("NEGMEM_MCP_TOKEN", "")
        http_server.serve(common.session, served, say, port=http, token=token)
