"""Calls of the jobs' functions, and the record of those that failed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from negmem.db.connect import Database


@dataclass(frozen=True)
class Called:
    """One call of a job's function, as it recorded itself."""

    status: str
    rows_touched: int
    message: str | None


def call(database: Database, job_key: str, command: str, *, timeout_ms: int) -> Called:
    """Run a job's command once, in a transaction of its own.

    Args: timeout_ms, for the statement. Raises: DatabaseError; nothing of the call is left then.
    """
    with database.transaction(statement_timeout_ms=timeout_ms) as connection:
        # The command is a block of automation.sql, filled with numbers and quoted literals.
        row = connection.execute(command).fetchone()
        noted = database.row("cron", "outcome", {"job": job_key})
    if noted is None:
        return Called("succeeded", int(row[0]) if row and row[0] is not None else 0, None)
    return Called(noted["status"], int(noted["rows_touched"] or 0), noted["message"])


def record_failure(
    database: Database,
    job_key: str,
    app: str | None,
    *,
    source: str,
    status: str,
    message: str,
    started_at: datetime,
) -> None:
    """Write down a run that failed or was cancelled: its own row went with its transaction."""
    values = {
        "job": job_key,
        "app_name": app,
        "source": source,
        "status": status,
        "message": message,
        "started_at": started_at,
    }
    with database.transaction():
        database.execute("cron", "record_failure", values)
