"""Calls of the jobs' functions, and their record: a run is on record before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from negmem.db.connect import Database


@dataclass(frozen=True)
class Called:
    """One call of a job's function, as it recorded itself."""

    status: str
    rows_touched: int
    message: str | None


def begin(database: Database, job_key: str, app: str | None, *, source: str) -> UUID:
    """Write down, and commit, that a run begins; returns its id.

    Args: app, as the job's command names it, None for the main app. Raises: DatabaseError.
    """
    with database.transaction():
        row = database.row("cron", "begin_run", {"job": job_key, "app_name": app, "source": source})
    assert row is not None
    run_id: UUID = row["id"]
    return run_id


def call(
    database: Database, job_key: str, command: str, run_id: UUID, *, timeout_ms: int
) -> Called:
    """Run a job's command once, in a transaction of its own, which ends the run on record too.

    Args: timeout_ms, for the statement. Raises: DatabaseError; nothing of the call is left then.
    """
    with database.transaction(statement_timeout_ms=timeout_ms) as connection:
        database.row("cron", "hold_run", {"run_id": run_id})
        # The command is a block of automation.sql, filled with numbers and quoted literals.
        row = connection.execute(command).fetchone()
        noted = database.row("cron", "outcome", {"job": job_key})
        if noted is not None:
            database.execute("cron", "forget_run", {"run_id": run_id})
            return Called(noted["status"], int(noted["rows_touched"] or 0), noted["message"])
        done = Called("succeeded", int(row[0]) if row and row[0] is not None else 0, None)
        _end(database, run_id, done)
        return done


def record_failure(database: Database, run_id: UUID, *, status: str, message: str) -> None:
    """Write down that a run failed or was cancelled."""
    with database.transaction():
        _end(database, run_id, Called(status, 0, message))


def _end(database: Database, run_id: UUID, how: Called) -> None:
    database.execute(
        "cron",
        "end_run",
        {
            "run_id": run_id,
            "status": how.status,
            "rows_touched": how.rows_touched,
            "message": how.message,
        },
    )
