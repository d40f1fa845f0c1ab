"""A schema that stands only for a benchmark: set up like any other, removed whatever happens."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from negmem.core import installation
from negmem.core.session import Session
from negmem.db import ledger
from negmem.db.connect import Database
from negmem.errors import NegmemError
from negmem.providers.embedding import Embedder, EmbedderAbsent

_PREFIX = "negmem_bench_"
_NAME = re.compile(rf"{_PREFIX}(\d+)_([0-9a-f]{{6}})_[0-9a-f]{{6}}")
_LOCK_WAIT_MS = 60_000


@contextmanager
def scratch_session(
    session: Session, embedder: Embedder | EmbedderAbsent, on_step: Callable[[str], None]
) -> Iterator[Session]:
    """A session on a new schema of the same database; the schema is dropped at the end.

    Schemas of earlier runs of this machine whose process is gone, killed for instance, are dropped first.
    Where it can't be dropped (the server is gone, for instance) `on_step` hears how to do it.
    """
    target = session.database
    _drop_left_over(session, target, on_step)
    schema = f"{_PREFIX}{os.getpid()}_{_machine()}_{secrets.token_hex(3)}"
    opened = Session(session.loaded, _database(target, schema), warnings=[])
    opened.use_embedder(embedder)
    try:
        installation.install(opened)
        yield opened
        for warning in opened.warnings:
            if not isinstance(embedder, EmbedderAbsent) or warning["code"] != embedder.code:
                session.warn(warning["code"], warning["message"])
    finally:
        opened.close()
        _drop(session, target, schema, on_step)


def _database(like: Database, schema: str) -> Database:
    return Database(
        like.target,
        schema=schema,
        command=like.command,
        wait_s=like.wait_s,
        lock_timeout_ms=like.lock_timeout_ms,
        statement_timeout_ms=like.statement_timeout_ms,
    )


def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]


def _drop_left_over(session: Session, target: Database, on_step: Callable[[str], None]) -> None:
    for row in target.rows("bench", "left_over", {"prefix": _PREFIX}):
        found = _NAME.fullmatch(row["schema_name"])
        if found is None or found[2] != _machine() or _runs(int(found[1])):
            continue
        if _drop(session, target, row["schema_name"], on_step):
            on_step(f"removed {row['schema_name']}, which a run that was cut off had left")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _drop(session: Session, target: Database, schema: str, on_step: Callable[[str], None]) -> bool:
    """Drop the schema on a connection of its own: the one that worked may be in any state.

    Returns whether it is gone. Its commit, even, may be under way: whether there is a schema is asked under the schema's lock.
    """
    database = _database(target, schema)
    try:
        with database.transaction(lock_timeout_ms=_LOCK_WAIT_MS) as connection:
            ledger.lock_schema(database, connection)
        database.forget_facts()
        if database.facts.schema_exists:
            installation.uninstall(Session(session.loaded, database, warnings=[]))
        return True
    except NegmemError as error:
        on_step(
            f"the schema {schema} could not be removed ({error.message});"
            f" to do it: negmem uninstall --schema {schema} --yes"
        )
        return False
    finally:
        database.close()
