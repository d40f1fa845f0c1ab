"""An OpenAI-like chat endpoint on this machine, in whatever mood a test puts it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.embedding_server import failure

__all__ = ["ChatReply", "ChatServer", "chat_server", "failed", "said"]


@dataclass
class ChatReply:
    """What one request gets.

    `hang` holds the answer back until the server stops, `drop` closes the connection without one,
    `promised` is a Content-Length other than the body's.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    document: Any = None
    hang: bool = False
    drop: bool = False
    promised: int | None = None
    content_type: str = "application/json"


def said(content: Any, *, finish: str = "stop", usage: Any = None, **message: Any) -> ChatReply:
    """A proper answer with this content."""
    if usage is None:
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return ChatReply(
        document={
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "test-model",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": content, **message},
                }
            ],
            "usage": usage,
        }
    )


def failed(status: int, message: str, code: str | None = None, **headers: str) -> ChatReply:
    """An error in OpenAI's form; header names are written with underscores."""
    reply = failure(status, message, code, **headers)
    return ChatReply(reply.status, reply.headers, document=reply.document)


Mood = Callable[[dict[str, Any]], ChatReply]


class ChatServer:
    """Replies come from `script`, one a request, then from `mood`, which is given the request."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.script: list[ChatReply] = []
        self.mood: Mood = lambda body: said('{"facts": []}')
        self.bodies: list[dict[str, Any]] = []
        self.closing = threading.Event()
        self.lock = threading.Lock()

    def reply(self, body: dict[str, Any]) -> ChatReply:
        with self.lock:
            self.bodies.append(body)
            return self.script.pop(0) if self.script else self.mood(body)


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server on a free port, stopped at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            reply = state.reply(json.loads(self.rfile.read(length)))
            if reply.hang or reply.drop:
                if reply.hang:
                    state.closing.wait(60)
                self.close_connection = True
                return
            body = reply.body if reply.body is not None else json.dumps(reply.document).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(reply.promised or len(body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            if reply.promised:
                self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state = ChatServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
