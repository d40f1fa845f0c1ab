"""Jobs as rows: what pg_cron holds, what negmem recorded of its own, and how the two are matched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from negmem import __version__
from negmem.db.connect import Database


@dataclass(frozen=True)
class CronJob:
    """One row of cron.job."""

    job_id: int
    name: str
    schedule: str
    command: str
    database: str
    owner: str
    active: bool
    database_exists: bool

    def text(self) -> str:
        """What it is, one property a line."""
        return definition_text(self.schedule, self.command, self.database, self.owner, self.active)


@dataclass(frozen=True)
class RecordedJob:
    """A job that negmem scheduled: its id and owner in pg_cron, and the database it runs in."""

    name: str
    app: str | None
    job_id: int | None
    database: str
    owner: str
    owner_exists: bool


@dataclass(frozen=True)
class Basis:
    """What negmem's own database says of jobs."""

    configs: list[dict[str, Any]]
    recorded: list[RecordedJob]
    has_scheduler: bool


def definition_text(schedule: str, command: str, database: str, owner: str, active: bool) -> str:
    """A job as text that a person compares."""
    lines = {
        "schedule": schedule,
        "command": command,
        "database": database,
        "owner": owner,
        "active": "true" if active else "false",
    }
    return "\n".join(f"{name:<8}  {value}" for name, value in lines.items())


def read_basis(database: Database) -> Basis:
    """Stored configs, recorded jobs and the built-in scheduler, in one round trip."""
    row = database.row("cron", "basis")
    assert row is not None
    return Basis(
        configs=row["configs"],
        recorded=[RecordedJob(**each) for each in row["recorded"]],
        has_scheduler=row["has_scheduler"],
    )


def own_row(recorded: RecordedJob, rows: Iterable[CronJob], here: str) -> CronJob | None:
    """The row that negmem recorded; ids start anew with the extension, so more must agree than the id.

    A record of another database came with a copy of it: its job is the original's, unless the
    database was renamed.
    """
    for row in rows:
        if row.job_id != recorded.job_id or row.name != recorded.name:
            continue
        if recorded.database == here:
            return row if here == row.database or recorded.owner == row.owner else None
        return row if not row.database_exists else None
    return None


def record(
    database: Database,
    name: str,
    app: str,
    *,
    job_id: int,
    owner: str,
    schedule: str,
    command: str,
) -> None:
    """Remember a job as negmem's own, within the caller's transaction."""
    target = database.facts.database
    definition = json.dumps(
        {"schedule": schedule, "command": command, "database": target, "owner": owner},
        ensure_ascii=False,
    )
    database.execute(
        "cron",
        "record",
        {
            "name": name,
            "app_name": app,
            "database": target,
            "owner": owner,
            "job_id": job_id,
            "fingerprint": hashlib.sha256(definition.encode()).hexdigest(),
            "definition": definition,
            "negmem_version": __version__,
        },
    )


def forget(database: Database, name: str, app: str | None) -> None:
    """No longer remember a job as negmem's own, within the caller's transaction."""
    database.execute("cron", "forget", {"name": name, "app_name": app})
