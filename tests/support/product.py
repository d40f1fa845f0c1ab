"""The one place where the tests set negmem up by calling it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from tests.servers.places import CHECKOUT

_MAKERS = (
    "negmem/core/installation.py",
    "negmem/db/ledger.py",
    "negmem/db/functions.py",
    "negmem/db/function_catalog.py",
    "negmem/db/function_changes.py",
    "negmem/db/function_access.py",
    "negmem/db/index_changes.py",
)


def install(dsn: str) -> None:
    """The product's own installation, without an embedder, into the database of `dsn`."""
    from negmem.core import installation
    from negmem.core.session import open_session
    from negmem.providers.embedding import EmbedderAbsent

    with open_session(dsn=dsn, env={}) as session:
        session.use_embedder(EmbedderAbsent("embedder_none", "tests name one where they need it"))
        installation.install(session)


@cache
def fingerprint() -> str:
    """Changes whenever what `install` makes may have changed: names the template database."""
    digest = hashlib.sha256()
    sources = sorted((CHECKOUT / "sql").rglob("*.sql")) + [CHECKOUT / name for name in _MAKERS]
    for path in (*sources, Path(__file__)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:10]
