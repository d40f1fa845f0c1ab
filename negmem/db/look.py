"""One look: a named query in a read-only transaction of its own, so that a refusal costs no other.

It is sent as one string (one round trip, poolers included) and bounded by a statement timeout.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import pq
from psycopg.rows import dict_row

from negmem.db.connect import Database
from negmem.db.failures import DatabaseError, translate

if TYPE_CHECKING:
    from typing_extensions import LiteralString

log = logging.getLogger("negmem.sql")

INSUFFICIENT_PRIVILEGE = "42501"
CANCELLED = "57014"
LOCK_NOT_HAD = "55P03"
_LOCK_TIMEOUT_MS = 1_000


def look(
    database: Database,
    noun: str,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    timeout_ms: int,
) -> list[dict[str, Any]]:
    """The rows of one named query, in a read-only transaction of its own.

    Raises: DatabaseError with the server's `sqlstate`; the connection stays usable.
    """
    connection = database.connection
    begin = database.begin_statement(True, min(_LOCK_TIMEOUT_MS, timeout_ms), timeout_ms)
    query: LiteralString = database.queries(noun, name).rstrip().rstrip(";")
    started = time.perf_counter()
    cursor = psycopg.ClientCursor(connection, row_factory=dict_row)
    try:
        cursor.execute(f"{begin}\n{query};\nCOMMIT;", params)
        rows: list[dict[str, Any]] = []
        while True:
            if cursor.description is not None:
                rows = cursor.fetchall()
            if not cursor.nextset():
                return rows
    except psycopg.Error as error:
        if connection.info.transaction_status == pq.TransactionStatus.INERROR:
            connection.execute("ROLLBACK")
        raise translate(error) from error
    finally:
        took_ms = (time.perf_counter() - started) * 1000
        log.debug("%.1f ms  %s", took_ms, " ".join(query.split()))


def look_if_allowed(
    database: Database,
    noun: str,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    timeout_ms: int,
) -> list[dict[str, Any]] | None:
    """As `look`, but None where this role may not look."""
    try:
        return look(database, noun, name, params, timeout_ms=timeout_ms)
    except DatabaseError as error:
        if error.sqlstate != INSUFFICIENT_PRIVILEGE:
            raise
        return None
