"""A schema that stands only for a benchmark: set up like any other, removed whatever happens."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from negmem.core import installation
from negmem.core.session import Session
from negmem.db import ledger
from negmem.db.connect import Database
from negmem.errors import NegmemError
from negmem.providers.embedding import Embedder, EmbedderAbsent

_PREFIX = "negmem_bench_"
_LOCK_WAIT_MS = 60_000


@contextmanager
def scratch_session(
    session: Session, embedder: Embedder | EmbedderAbsent, on_step: Callable[[str], None]
) -> Iterator[Session]:
    """A session on a new schema of the same database; the schema is dropped at the end.

    Where it can't be dropped (the server is gone, for instance) `on_step` hears how to do it.
    """
    target = session.database
    schema = f"{_PREFIX}{os.getpid()}_{secrets.token_hex(3)}"
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


def _drop(session: Session, target: Database, schema: str, on_step: Callable[[str], None]) -> None:
    """Drop the schema on a connection of its own: the one that worked may be in any state.

    Its commit, even, may be under way: whether there is a schema is asked under the schema's lock.
    """
    database = _database(target, schema)
    try:
        with database.transaction(lock_timeout_ms=_LOCK_WAIT_MS) as connection:
            ledger.lock_schema(database, connection)
        database.forget_facts()
        if database.facts.schema_exists:
            installation.uninstall(Session(session.loaded, database, warnings=[]))
    except NegmemError as error:
        on_step(
            f"the schema {schema} could not be removed ({error.message});"
            f" to do it: negmem uninstall --schema {schema} --yes"
        )
    finally:
        database.close()
