"""An OpenAI-like embeddings endpoint on this machine that can be told to misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.embedder import hash_vector

DIMS = 8


@dataclass
class Reply:
    """What one request gets. `hang` holds the answer back until the server stops."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    document: Any = None
    hang: bool = False


def good(texts: list[str], dims: int = DIMS) -> Any:
    """The document of a proper answer."""
    return {
        "object": "list",
        "model": "test-embedder",
        "data": [
            {"object": "embedding", "index": index, "embedding": hash_vector(text, dims)}
            for index, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)},
    }


def failure(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    """An error in OpenAI's form; header names are written with underscores."""
    return Reply(
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
        document={"error": {"message": message, "type": "error", "param": None, "code": code}},
    )


Mood = Callable[[list[str]], Reply | None]


class EmbeddingServer:
    """Replies come from `script`, one a request, then from `mood`; None means a proper answer."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.script: list[Reply | None] = []
        self.mood: Mood = lambda texts: None
        self.requests: list[list[str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.closing = threading.Event()
        self.lock = threading.Lock()

    def reply(self, body: dict[str, Any]) -> Reply:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        with self.lock:
            self.requests.append(texts)
            self.bodies.append(body)
            chosen = self.script.pop(0) if self.script else self.mood(texts)
        if chosen is None:
            return Reply(document=good(texts))
        return chosen


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A server on a free port, stopped at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            reply = state.reply(json.loads(self.rfile.read(length)))
            if reply.hang:
                state.closing.wait(60)
                self.close_connection = True
                return
            body = reply.body if reply.body is not None else json.dumps(reply.document).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state = EmbeddingServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
