"""Jobs in pg_cron: read and changed in the database that it lives in, through its functions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from negmem.db import capabilities, cron_probes
from negmem.db.connect import Database
from negmem.db.cron_probes import CronFacts
from negmem.db.cron_records import CronJob
from negmem.db.failures import DatabaseError
from negmem.db.look import look
from negmem.db.sqlfiles import blocks, fill, quote_identifier
from negmem.errors import NegmemError

# The log of pg_cron has no index by job: only its end is looked at.
LATEST_RUNS = 5_000


@dataclass(frozen=True)
class RunningJob:
    """A run of a job that is under way."""

    job_id: int
    pid: int


class Cron:
    """pg_cron as this role reaches it, from a database of negmem. Closes what it opened.

    Looks through a connection of its own, so that it may be opened while `database` is in a
    transaction: each probe has its own, and a refused one costs no other. Changes are made on
    `database` itself where pg_cron lives in it.
    """

    def __init__(self, database: Database, *, timeout_ms: int) -> None:
        self.database = database
        self.timeout_ms = timeout_ms
        self._own = Database(
            database.target,
            schema=database.schema,
            command=database.command,
            connect_timeout_s=database.connect_timeout_s,
        )
        self.facts: CronFacts
        self._home: Database | None = None
        try:
            known = capabilities.extensions(self._own, timeout_ms=timeout_ms)
            self.facts, self._home = cron_probes.cron_facts(
                self._own, known.get(cron_probes.LIBRARY), timeout_ms=timeout_ms
            )
        except NegmemError as error:
            # No second connection, or no answer in time: unknown, and no reason to do nothing at all.
            self.close()
            self.facts = CronFacts(None, reason=f"{error.message} ({error.why})")
        except BaseException:
            self.close()
            raise

    @property
    def is_here(self) -> bool:
        """Whether pg_cron lives in the database of negmem."""
        return self._home is self._own

    @property
    def is_reached(self) -> bool:
        """Whether jobs can be read."""
        return self._home is not None and bool(self.facts.jobs_readable)

    @property
    def home(self) -> Database:
        """The database that pg_cron lives in, for changes; `database` itself where that is it."""
        return self.database if self.is_here else self._looked_at

    @property
    def _looked_at(self) -> Database:
        assert self._home is not None
        return self._home

    @property
    def role(self) -> str:
        """The role that asks, the same in both databases."""
        return self.database.facts.role

    def look_jobs(self, names: Sequence[str], job_ids: Sequence[int]) -> list[CronJob]:
        """The jobs that concern negmem, in a transaction of its own."""
        if not self.is_reached:
            return []
        rows = look(
            self._looked_at, "cron", "jobs", self._scope(names, job_ids), timeout_ms=self.timeout_ms
        )
        return [CronJob(**row) for row in rows]

    def read_jobs(self, names: Sequence[str], job_ids: Sequence[int]) -> list[CronJob]:
        """As `look_jobs`, within the caller's transaction on `home`."""
        rows = self.home.rows("cron", "jobs", self._scope(names, job_ids))
        return [CronJob(**row) for row in rows]

    def _scope(self, names: Sequence[str], job_ids: Sequence[int]) -> dict[str, Any]:
        return {
            "names": list(names),
            "job_ids": list(job_ids),
            "database": self.database.facts.database,
        }

    def running(self, job_ids: Sequence[int]) -> list[RunningJob]:
        """Runs of these jobs that are under way, as far as this role may see."""
        if self._home is None or not self.facts.runs_readable or not job_ids:
            return []
        params = {"job_ids": list(job_ids), "most": LATEST_RUNS}
        try:
            rows = look(self._looked_at, "cron", "running", params, timeout_ms=self.timeout_ms)
        except DatabaseError:
            return []
        return [RunningJob(row["job_id"], row["pid"]) for row in rows]

    def runs(
        self, job_ids: Sequence[int], commands: Sequence[str], limit: int
    ) -> list[dict[str, Any]]:
        """The latest runs of these jobs, or with commands like these in this database.

        Raises: DatabaseError where the log can't be read.
        """
        params = {
            "job_ids": list(job_ids),
            "database": self.database.facts.database,
            "commands": list(commands),
            "most": LATEST_RUNS,
            "limit": limit,
        }
        return look(self._looked_at, "cron", "runs", params, timeout_ms=self.timeout_ms)

    def missing_grants(self) -> list[str]:
        """The grants without which this role can't schedule and unschedule here, as statements."""
        role = quote_identifier(self.role)
        needed = ["unschedule(bigint)"]
        needed.append(
            "schedule(text,text,text)"
            if self.is_here
            else "schedule_in_database(text,text,text,text,text,boolean)"
        )
        return [
            f"GRANT EXECUTE ON FUNCTION {signature} TO {role};"
            for signature in self.facts.refused_functions
            if signature.removeprefix("cron.") in needed
        ]

    @property
    def may_alter(self) -> bool:
        """Whether this role may change a job in place."""
        return not any("alter_job" in signature for signature in self.facts.refused_functions)

    def lock(self) -> None:
        """One plan at a time, until the transaction on `home` ends."""
        scope = {"schema": self.database.schema, "database": self.database.facts.database}
        self.home.row("cron", "lock", scope)

    def schedule(self, name: str, schedule: str, command: str, *, owner: str | None = None) -> int:
        """Schedule a job for negmem's database; returns its id. `owner`: another role's (superusers)."""
        values: dict[str, Any] = {"name": name, "schedule": schedule, "command": command}
        block = "schedule"
        if not self.is_here or owner is not None:
            values["database"] = self.database.facts.database
            block = "schedule_in_database"
        if owner is not None:
            values["owner"] = owner
            block = "schedule_for"
        row = self.home.row("cron", block, values)
        assert row is not None
        return int(row["job_id"])

    def unschedule(self, job_id: int) -> None:
        """Take a job away; a run that is under way goes on."""
        self.home.row("cron", "unschedule", {"job_id": job_id})

    def alter(self, job: CronJob, schedule: str, command: str) -> None:
        """Bring a standing job to what it should be, in place."""
        here = self.database.facts.database
        values = {
            "job_id": job.job_id,
            "schedule": schedule,
            "command": command,
            "database": None if job.database == here else here,
            "active": True,
        }
        self.home.row("cron", "alter_job", values)

    def give(self, job: CronJob, owner: str) -> None:
        """Give a job back to its owner; superusers only."""
        self.home.row("cron", "give_job", {"job_id": job.job_id, "owner": owner})

    def close(self) -> None:
        """Close what was opened."""
        if self._home is not None:
            self._home.close()
        self._own.close()

    def __enter__(self) -> Cron:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def schedule_statement(
    name: str, schedule: str, command: str, database: str, owner: str = ""
) -> str:
    """The statement with which an administrator schedules a job, for `owner` where one is named."""
    block = "schedule_for_by_hand" if owner else "schedule_by_hand"
    values = {
        "name": name,
        "schedule": schedule,
        "command": command,
        "database": database,
        "owner": owner,
    }
    return f"{fill(blocks('automation')[block], values)};"


def unschedule_statement(job_id: int) -> str:
    """The statement with which a job's owner takes it away."""
    return f"{fill(blocks('automation')['unschedule_by_hand'], {'job_id': str(job_id)})};"
