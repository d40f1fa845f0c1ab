"""`negmem mcp …`: the tools of agents over MCP."""

from __future__ import annotations

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app
from negmem.cli.tools import Agent, Namespace, Thread

app = new_app("The tools of agents over MCP, the Model Context Protocol.")


@app.callback()
def _group() -> None:
    """With one command alone the parser would leave out its name."""


@command(app, "serve", path="mcp serve")
def serve(
    common: Common,
    user: User = None,
    namespace: Namespace = None,
    thread: Thread = None,
    agent: Agent = None,
) -> int:
    """Offer the tools of one user over stdin and stdout, until the client closes them."""
    from negmem.cli.render.text import safe_text
    from negmem.mcp.server import Served, to_stderr
    from negmem.mcp.server import serve as run

    served = Served(common.require_user(user), namespace, thread, agent)
    run(common.session, served, lambda line: to_stderr(safe_text(line)))
    return ExitCode.DONE
