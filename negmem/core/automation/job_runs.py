"""Jobs run now, and the runs on record, of pg_cron and of negmem's own table."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from negmem.core.automation.job_catalog import (
    JOBS,
    WantedJob,
    command_starts,
    job_named,
    wanted_jobs,
)
from negmem.core.automation.stored import read_stored
from negmem.core.models.job import JobRun, LoggedRun, RunLog
from negmem.core.session import Session
from negmem.db import job_calls
from negmem.db.connect import Database
from negmem.db.cron import Cron
from negmem.db.cron_records import read_basis
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError

# A job's call is bounded by rows, not by time: this only ends one that hangs.
CALL_TIMEOUT_MS = 600_000
_MOST_CALLS = 100_000
_CRON_LOG, _OWN_LOG = "cron.job_run_details", "automation_runs"
# pg_cron notes a start before it connects; the function notes its own when it begins.
_SAME_RUN = timedelta(seconds=2)
_CUT_OFF = "cut off: its process is gone, and the database took back what it had begun"


@dataclass(frozen=True)
class Ended:
    """A job that was called until nothing was left to do."""

    status: str
    rows_touched: int
    calls: int
    message: str | None


def run_to_end(
    database: Database, job: WantedJob, *, source: str, may_go_on: Callable[[], bool] = lambda: True
) -> Ended:
    """Call a job's function, one transaction a call: the sweep until it returns 0, others once.

    Args: source, how a failure is recorded; may_go_on, asked between calls.
    Raises: DatabaseError; the failure is on record then, and what earlier calls did stays.
    """
    rows, calls = 0, 0
    while True:
        run_id = job_calls.begin(database, job.kind.key, job.app_argument, source=source)
        try:
            called = job_calls.call(
                database, job.kind.key, job.command, run_id, timeout_ms=CALL_TIMEOUT_MS
            )
        except DatabaseError as error:
            status = "cancelled" if error.sqlstate == "57014" else "failed"
            # Where the server is away too, the row says that it runs and nobody holds its lock.
            with contextlib.suppress(NegmemError):
                job_calls.record_failure(
                    database, run_id, status=status, message=f"{error.message}: {error.why}"
                )
            raise
        rows, calls = rows + called.rows_touched, calls + 1
        is_last = called.rows_touched == 0 or job.kind.key != "cleanup_memories"
        if called.status == "skipped" or is_last or calls >= _MOST_CALLS or not may_go_on():
            status = called.status if calls == 1 else "succeeded"
            return Ended(status, rows, calls, called.message)


def run(session: Session, key: str, *, dry_run: bool = False) -> JobRun:
    """Run a job's command now, as the stored config has it; pg_cron is not needed.

    Raises: UsageError `job_unknown`, NegmemError `app_unknown`, or the server's refusal.
    """
    job_named(key, "run")
    stored = read_stored(session)
    wanted = wanted_jobs(
        stored.automation, app=stored.app, is_main=stored.is_main, schema=session.database.schema
    )
    job = next(w for w in wanted if w.kind.key == key)
    started = time.perf_counter()
    ended = Ended("not_run", 0, 0, None)
    if not dry_run:
        ended = run_to_end(session.database, job, source="manual")
    return JobRun.model_validate(
        {
            "job_key": key,
            "app": stored.app,
            "command": job.command,
            "dry_run": dry_run,
            "status": ended.status,
            "rows_touched": ended.rows_touched,
            "calls": ended.calls,
            "message": ended.message,
            "took_ms": round((time.perf_counter() - started) * 1000, 1),
        }
    )


def logs(session: Session, key: str | None = None, *, limit: int = 20) -> RunLog:
    """The latest runs of one job or of all, newest first, from both records.

    A run that stands in both is told once. Where pg_cron's log can't be read a warning says so.
    Raises: UsageError `job_unknown`.
    """
    keys = [job.key for job in JOBS] if key is None else [job_named(key, "logs").key]
    database = session.database
    own = database.rows("cron", "own_runs", {"jobs": keys, "limit": limit + 1})
    looked_at = [_OWN_LOG]
    theirs: list[dict[str, Any]] = []
    timeout_ms = session.config.doctor.check_timeout_ms
    with Cron(database, timeout_ms=timeout_ms) as home:
        if home.facts.state is None:
            session.warn("pg_cron_logs_unavailable", f"pg_cron: {home.facts.reason}")
        elif home.facts.state == "created" and not home.facts.runs_readable:
            session.warn(
                "pg_cron_logs_unavailable",
                f"{home.role} may not read {_CRON_LOG}: runs of pg_cron that failed may be missing",
            )
        elif home.facts.state == "created":
            looked_at.insert(0, _CRON_LOG)
            recorded = read_basis(database).recorded
            here = database.facts.database
            ids = {
                r.job_id: key
                for r in recorded
                for key in keys
                if r.job_id is not None and r.database == here and key in r.name
            }
            starts = _starts(database.schema, keys)
            for row in home.runs(list(ids), list(starts.values()), limit + 1):
                row["key"] = ids.get(row["job_id"]) or _key_of(row["command"], starts)
                theirs.append(row)
    return _merged(own, theirs, looked_at, limit)


def _starts(schema: str, keys: Sequence[str]) -> dict[str, str]:
    return {
        job.key: start
        for job, start in zip(JOBS, command_starts(schema), strict=True)
        if job.key in keys
    }


def _key_of(command: str, starts: dict[str, str]) -> str:
    return next(key for key, start in starts.items() if command.startswith(start))


def _merged(
    own: list[dict[str, Any]],
    theirs: list[dict[str, Any]],
    looked_at: list[str],
    limit: int,
) -> RunLog:
    runs: list[LoggedRun] = []
    told: set[str] = set()
    for row in theirs:
        twin = next((o for o in own if o["run_id"] not in told and _is_same(o, row)), None)
        if twin is not None:
            told.add(twin["run_id"])
        runs.append(_of_cron(row, twin))
    runs += [_of_own(row) for row in own if row["run_id"] not in told]
    oldest = datetime.min.replace(tzinfo=timezone.utc)
    runs.sort(key=lambda run: run.started_at or oldest, reverse=True)
    return RunLog(runs=runs[:limit], looked_at=looked_at, truncated=len(runs) > limit)


def _is_same(own: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether both rows tell of one run: the process is the same, and the time falls into it."""
    started, ended = theirs["started_at"], theirs["finished_at"]
    if own["source"] != "pg_cron" or own["pid"] != theirs["pid"] or started is None:
        return False
    after = started - _SAME_RUN <= own["started_at"]
    return after and (ended is None or own["started_at"] <= ended + _SAME_RUN)


def _of_cron(row: dict[str, Any], twin: dict[str, Any] | None) -> LoggedRun:
    status = row["status"] if row["status"] in ("succeeded", "failed") else "running"
    if twin is not None and twin["status"] == "skipped":
        status = "skipped"
    return LoggedRun.model_validate(
        {
            "job_key": row["key"],
            "app": twin["app"] if twin else None,
            "status": status,
            "started_through": "pg_cron",
            "sources": [_CRON_LOG, _OWN_LOG] if twin else [_CRON_LOG],
            "rows_touched": twin["rows_touched"] if twin else None,
            "message": (twin and twin["message"]) or row["message"],
            "started_at": row["started_at"],
            "finished_at": row["finished_at"],
            "took_ms": _took_ms(row),
            "job_id": row["job_id"],
            "run_id": str(row["run_id"]),
            "pid": row["pid"],
            "started_by": row["owner"],
        }
    )


def _of_own(row: dict[str, Any]) -> LoggedRun:
    return LoggedRun.model_validate(
        {
            "job_key": row["job"],
            "app": row["app"],
            "status": "cancelled" if row["is_lost"] else row["status"],
            "started_through": row["source"],
            "sources": [_OWN_LOG],
            "rows_touched": row["rows_touched"],
            "message": _CUT_OFF if row["is_lost"] else row["message"],
            "started_at": row["started_at"],
            "finished_at": row["finished_at"],
            "took_ms": _took_ms(row),
            "job_id": None,
            "run_id": row["run_id"],
            "pid": row["pid"],
            "started_by": row["started_by"],
        }
    )


def _took_ms(row: dict[str, Any]) -> float | None:
    if row["started_at"] is None or row["finished_at"] is None:
        return None
    took: timedelta = row["finished_at"] - row["started_at"]
    return round(took.total_seconds() * 1000, 1)
