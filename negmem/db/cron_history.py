"""The log of runs, trimmed: negmem's own table, and what pg_cron keeps of negmem's jobs."""

from __future__ import annotations

from collections.abc import Sequence

from negmem.db.connect import Database
from negmem.db.sqlfiles import blocks, fill, quote_literal

# Rows of one transaction: looked at in pg_cron's log, deleted in negmem's own table.
STRETCH = 50_000
_BATCH = 10_000
_TIMEOUT_MS = 60_000
_NIGHTLY = "17 3 * * *"


def purge_own(database: Database, jobs: Sequence[str], *, days: int, dry_run: bool) -> int:
    """Delete runs of these jobs that began more than `days` ago; returns how many, or would be."""
    params = {"jobs": list(jobs), "days": days}
    if dry_run:
        row = database.row("cron", "old_own_runs", params)
        return int(row["runs"]) if row else 0
    deleted = 0
    while True:
        with database.transaction(statement_timeout_ms=_TIMEOUT_MS):
            batch = database.execute("cron", "purge_own_runs", {**params, "most": _BATCH})
        deleted += batch
        if batch < _BATCH:
            return deleted


def purge(
    home: Database,
    job_ids: Sequence[int],
    commands: Sequence[str],
    target: str,
    *,
    days: int,
    dry_run: bool,
) -> int:
    """Delete old runs of these jobs from pg_cron's log, in the database that it lives in.

    Args: commands, how the commands of a job that is gone begin; target, the database they ran in.
    """
    params = {
        "job_ids": list(job_ids),
        "commands": list(commands),
        "database": target,
        "days": days,
        "most": STRETCH,
    }
    deleted, after, goes_on = 0, 0, True
    while goes_on:
        with home.transaction(read_only=dry_run, statement_timeout_ms=_TIMEOUT_MS):
            row = home.row("cron", "old_runs", {**params, "after": after})
            assert row is not None
            if row["run_ids"] and not dry_run:
                deleted += home.execute("cron", "purge_runs", {"run_ids": row["run_ids"]})
            elif row["run_ids"]:
                deleted += len(row["run_ids"])
        after, goes_on = row["last"], row["goes_on"] and row["seen"] == STRETCH
    return deleted


def purge_statement(name: str, jobs: Sequence[str], target: str, days: int) -> str:
    """The statement that makes pg_cron itself trim its log of these jobs each night."""
    names = ", ".join(quote_literal(job) for job in jobs)
    values = {"database": target, "names": names, "age": f"{days} days"}
    command = str(fill(blocks("automation")["purge_command"], values))
    made = {"name": name, "schedule": _NIGHTLY, "command": command}
    return f"{fill(blocks('automation')['purge_by_hand'], made)};"
