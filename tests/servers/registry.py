"""The servers by name: brought up when they are needed, once, whoever asks first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tests.servers import bare, embedded, full, pooled, sixteen
from tests.servers.model import Server
from tests.servers.places import checkout_folder, locked
from tests.servers.probe import answers, describe

OWN = "NEGMEM_TEST_DSN"


@dataclass(frozen=True)
class _Recipe:
    up: Callable[[], Server]
    down: Callable[[], None]


_RECIPES = {
    "embedded": _Recipe(embedded.up, embedded.down),
    "full": _Recipe(full.up, full.down),
    "sixteen": _Recipe(sixteen.up, sixteen.down),
    "bare": _Recipe(bare.up, bare.down),
    "pooled": _Recipe(lambda: pooled.up(ensure("full")), pooled.down),
}
NAMES = tuple(_RECIPES)

_ready: dict[str, Server] = {}


def ensure(name: str) -> Server:
    """The running server `name`; with NEGMEM_TEST_DSN, always the one server that it names.

    Raises: ServerUnavailable with the reason.
    """
    server = own() or _ready.get(name)
    if server is None:
        with locked(name):
            server = _recorded(name) or _RECIPES[name].up()
            _record_of(name).write_text(json.dumps(asdict(server)), encoding="utf-8")
        _ready[name] = server
    return server


@cache
def own() -> Server | None:
    """The server that NEGMEM_TEST_DSN names, which then stands for all."""
    dsn = os.environ.get(OWN)
    return describe(Server("own", dsn, "", ())) if dsn else None


def status(name: str) -> Server | None:
    """The server `name` if it runs; starts nothing."""
    return _recorded(name)


def down(name: str) -> None:
    """Stop the server `name` and forget it."""
    with locked(name):
        _record_of(name).unlink(missing_ok=True)
        _ready.pop(name, None)
        _RECIPES[name].down()


def _record_of(name: str) -> Path:
    return checkout_folder() / f"{name}.json"


def _recorded(name: str) -> Server | None:
    try:
        found = json.loads(_record_of(name).read_text(encoding="utf-8"))
        server = Server(**{**found, "extensions": tuple(found["extensions"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return server if answers(server) else None
