"""How often a connection asks and waits, counted by libpq itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from negmem.core.session import Session


def round_trips(session: Session, path: Path, act: Any) -> int:
    """How often the connection asked and waited, by libpq's own trace of the protocol in `path`."""
    session.database.facts  # noqa: B018  (opens the connection)
    session.database.forget_facts()
    with path.open("w+b") as file:
        session.database.connection.pgconn.trace(file.fileno())
        act(session)
        session.database.connection.pgconn.untrace()
        file.seek(0)
        lines = file.read().decode().splitlines()
    return sum("\tReadyForQuery" in line for line in lines)
