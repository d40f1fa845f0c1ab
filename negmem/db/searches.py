"""Runs a search: one transaction in one round trip."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row

from negmem.db.connect import Database, log
from negmem.db.failures import DatabaseError, translate

_READ_ONLY = "25006"
_NO_PRIVILEGE = "42501"


@dataclass(frozen=True)
class Beside:
    """A named query that travels with a search, before it; `take` gets its rows while the server searches."""

    noun: str
    name: str
    params: dict[str, Any]
    take: Callable[[list[dict[str, Any]]], None]


def run_search(
    database: Database, params: dict[str, Any], beside: Beside | None = None
) -> tuple[list[dict[str, Any]], float]:
    """The rows of the block `search.search`, and the milliseconds of the round trip.

    Timeouts and statement travel together in a pipeline, which is one transaction by itself (the connection
    is in autocommit), so that a search over a slow line waits once; it leaves no prepared statement and no
    setting behind (PgBouncer).
    Raises: DatabaseError.
    """
    queries = database.queries
    timeouts = {
        "lock_timeout_ms": database.lock_timeout_ms,
        "statement_timeout_ms": database.statement_timeout_ms,
        "read_only": not params["record"],
        "user_id": params["user_id"],
    }
    statement = queries("search", "search")
    connection = database.connection
    started = time.perf_counter()
    try:
        with connection.cursor(row_factory=dict_row) as cursor:
            # Fetched after the end of the pipeline: within it, its end would be a second round trip.
            with connection.pipeline():
                connection.execute(queries("search", "settings"), timeouts)
                if beside is not None:
                    first = connection.cursor(row_factory=dict_row)
                    first.execute(queries(beside.noun, beside.name), beside.params)
                cursor.execute(statement, params)
                if beside is not None:
                    beside.take(first.fetchall())
            rows = cursor.fetchall()
    except psycopg.Error as error:
        with contextlib.suppress(psycopg.Error):
            connection.rollback()
        raise database.explained(translate(error)) from error
    except BaseException:
        # What was sent can't be called back: its answers would be taken for those of the next query.
        connection.close()
        raise
    took_ms = (time.perf_counter() - started) * 1000
    log.debug("%.1f ms  %s", took_ms, " ".join(str(statement).split()))
    return rows, took_ms


def run_recording(database: Database, noun: str, name: str, params: dict[str, Any]) -> Any:
    """The first column of the first row of a named query, run as `run_search` runs a search that records.

    Raises: DatabaseError.
    """
    queries = database.queries
    timeouts = {
        "lock_timeout_ms": database.lock_timeout_ms,
        "statement_timeout_ms": database.statement_timeout_ms,
        "read_only": False,
        "user_id": params["user_id"],
    }
    connection = database.connection
    try:
        with connection.cursor() as cursor:
            with connection.pipeline():
                connection.execute(queries("search", "settings"), timeouts)
                cursor.execute(queries(noun, name), params)
            row = cursor.fetchone()
    except psycopg.Error as error:
        with contextlib.suppress(psycopg.Error):
            connection.rollback()
        raise database.explained(translate(error)) from error
    except BaseException:
        connection.close()
        raise
    return None if row is None else row[0]


def recording_is_refused(error: DatabaseError) -> bool:
    """Whether the server or the role's privileges forbid to record a search, which may still be run."""
    return error.sqlstate in (_READ_ONLY, _NO_PRIVILEGE)
