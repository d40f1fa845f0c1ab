"""Jobs in pg_cron for tests: one prefix a test, so that tests share one pg_cron, and a clean end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import TupleRow, dict_row
from psycopg.types.json import Jsonb

from tests.support.databases import TestDatabase

KEYS = {
    "cleanup_memories": ("retention", "auto_cleanup_enabled", "cleanup_schedule"),
    "trigger_consolidation": ("consolidation", "enabled", "schedule"),
    "reweight_relevance": ("reweight_relevance", "enabled", "schedule"),
}


@dataclass
class CronDesk:
    """The database of pg_cron, and the stored config of one test's database."""

    database: TestDatabase
    connection: psycopg.Connection[TupleRow]
    prefix: str

    def name(self, key: str) -> str:
        """The name of a job in this test."""
        return self.prefix + key

    def sql(self, statement: str, params: Any = None) -> list[dict[str, Any]]:
        """Run a statement where pg_cron lives."""
        with self.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else []

    def jobs(self) -> list[dict[str, Any]]:
        """The rows of cron.job that are this test's, by name."""
        return self.sql(
            "SELECT jobid, jobname, schedule, command, database, username, active FROM cron.job"
            " WHERE database = %s OR starts_with(jobname, %s) ORDER BY jobname, jobid",
            (self.database.name, self.prefix),
        )

    def job(self, key: str = "cleanup_memories") -> dict[str, Any]:
        """The one row of a job."""
        (row,) = [row for row in self.jobs() if row["jobname"] == self.name(key)]
        return row

    def alter(self, **change: Any) -> None:
        """Alter the row of the first job as a superuser, by pg_cron's function."""
        values = {"schedule": None, "command": None, "database": None, "username": None}
        values |= {"active": None, "job_id": self.job()["jobid"], **change}
        self.sql(
            "SELECT cron.alter_job(%(job_id)s, %(schedule)s, %(command)s, %(database)s,"
            " %(username)s, %(active)s)",
            values,
        )

    def turn(self, key: str, on: bool = True, *, schedule: str | None = None) -> None:
        """Write a job's switch (and schedule) into the stored config, by hand."""
        section, switch, when = KEYS[key]
        values: dict[str, Any] = {switch: on}
        if schedule is not None:
            values[when] = schedule
        self.configure({section: values})

    def configure(self, document: dict[str, Any], app: str = "negmem") -> None:
        """Lay a document over the stored config of an app, one level deep."""
        for section, values in document.items():
            self.database.rows(
                "UPDATE negentropy.memory_automation_configs SET config = jsonb_set(config,"
                " ARRAY[%s], COALESCE(config -> %s, '{}') || %s) WHERE app_name = %s",
                (section, section, Jsonb(values), app),
            )

    def clean(self) -> None:
        """Take away what this test scheduled, and its runs."""
        ids = [row["jobid"] for row in self.jobs()]
        self.sql("DELETE FROM cron.job_run_details WHERE jobid = ANY (%s)", (ids,))
        self.sql("SELECT cron.unschedule(j) FROM unnest(%s::bigint[]) AS j", (ids,))


@contextmanager
def cron_desk(database: TestDatabase, *, on: Sequence[str] = ()) -> Iterator[CronDesk]:
    """A desk for `database`, whose jobs have names of the test's own; `on` are switched on."""
    home = database.server.dsn(str(database.server.cron_database))
    with psycopg.connect(home, autocommit=True) as connection:
        desk = CronDesk(database, connection, f"{database.name}.")
        desk.prefix = desk.prefix[-32:]
        desk.configure({"jobs": {"prefix": desk.prefix}})
        for key in on:
            desk.turn(key)
        try:
            yield desk
        finally:
            desk.clean()
