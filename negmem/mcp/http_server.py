"""The MCP server over streamable HTTP, on this machine alone and for who has the token."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from typing import Any

from negmem.core.session import Session
from negmem.errors import UsageError
from negmem.mcp.server import Served, opened, require_sdk

HOST = "127.0.0.1"
LEAST = 16
"""Characters of a token: a shorter one can be guessed."""


def serve(
    opening: Callable[[], Session],
    served: Served,
    say: Callable[[str], None],
    *,
    port: int,
    token: str,
) -> None:
    """Serve on 127.0.0.1 until SIGINT or SIGTERM; the address is said first.

    Every request needs the token as `Authorization: Bearer …`, since any program on the machine can reach
    the port. Args: port, 0 for a free one.
    Raises: UsageError `mcp_token_missing`; NegmemError as `server.serve`; OSError where the port is taken.
    """
    if len(token) < LEAST:
        raise UsageError(
            "mcp_token_missing",
            "a server over HTTP needs a token",
            why=f"NEGMEM_MCP_TOKEN has {len(token)} characters, at least {LEAST} are needed",
            hint="export NEGMEM_MCP_TOKEN=$(openssl rand -hex 32)",
        )
    require_sdk()
    import uvicorn

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        server, sessions = opened(opening, served, say)
        # Who reads the address may connect at once: it waits in the queue until the loop runs.
        listening.listen(128)
        say(f"http://{HOST}:{listening.getsockname()[1]}/mcp")
        app = guarded(server.streamable_http_app(stateless_http=True, host=HOST), token)
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on")
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            sessions.close()


def guarded(app: Any, token: str) -> Any:
    """The ASGI application, closed to requests without the token."""
    wanted = f"Bearer {token}".encode()

    async def through(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, wanted):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    return through
