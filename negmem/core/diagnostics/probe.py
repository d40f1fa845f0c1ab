"""What the checks look through: each fact asked once, each query in a bounded transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from negmem.core.diagnostics.embedder_call import HOSTED, EmbedderCall
from negmem.core.diagnostics.registry import Area, CannotLookError, NotNeededError
from negmem.core.models.diagnosis import Capabilities
from negmem.db import capabilities, cron_probes, functions
from negmem.db.failures import DatabaseError
from negmem.db.look import INSUFFICIENT_PRIVILEGE, look
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.config.model import Automation
    from negmem.core.automation.plan import Plan
    from negmem.core.models.change import Job
    from negmem.core.session import Session
    from negmem.db.connect import Connection, Database
    from negmem.db.functions import Comparisons

# pg_cron's log has no index by job: only its end is looked at.
_LATEST_RUNS = 5_000


class Probe:
    """One run of doctor on one session.

    `wall_clock` is this machine's clock in seconds since 1970; tests give another.
    """

    def __init__(self, session: Session, *, wall_clock: Callable[[], float] = time.time) -> None:
        self.session = session
        self.database = session.database
        self.wall_clock = wall_clock
        self.timeout_ms = session.config.doctor.check_timeout_ms
        self.notes: dict[Area, list[str]] = {}
        self.search_ms: float | None = None
        self._cron_database: Database | None = None
        self._call: EmbedderCall | None = None

    def ask_embedder(self) -> None:
        """Begin to ask the embedder, if there is one and it is not a hosted one."""
        embedder = self.session.embedder
        if embedder is not None and embedder.name != HOSTED:
            self._call = EmbedderCall(embedder)

    def embedder_answer(self) -> float:
        """How long the embedder takes for a query, in ms. Raises: what the embedder raises."""
        if self._call is None:
            self.ask_embedder()
        assert self._call is not None
        return self._call.answer()

    def note(self, area: Area, text: str) -> None:
        """Add to the one line that the area gets."""
        self.notes.setdefault(area, []).append(text)

    def rows(
        self, noun: str, name: str, params: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """The rows of a named query. Raises: CannotLookError where this role may not read."""
        return self._rows(self.database, noun, name, params)

    def row(self, noun: str, name: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The one row of a named query."""
        return self.rows(noun, name, params)[0]

    def cron_rows(
        self, noun: str, name: str, params: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """As `rows`, in the database that pg_cron lives in."""
        if self.cron.state is None:
            raise CannotLookError(self.cron.reason)
        if self.cron.state != "created" or self._cron_database is None:
            raise NotNeededError("pg_cron is not installed")
        return self._rows(self._cron_database, noun, name, params)

    def _rows(
        self, database: Database, noun: str, name: str, params: Mapping[str, Any] | None
    ) -> list[dict[str, Any]]:
        try:
            return look(database, noun, name, params, timeout_ms=self.timeout_ms)
        except DatabaseError as error:
            if error.sqlstate == INSUFFICIENT_PRIVILEGE:
                raise CannotLookError(f"{error.why} (as {self.server.role})") from None
            raise

    @cached_property
    def server(self) -> capabilities.ServerFacts:
        """The server, as any role may see it."""
        return capabilities.server_facts(
            self.database, timeout_ms=self.timeout_ms, wall_clock=self.wall_clock
        )

    @cached_property
    def extensions(self) -> dict[str, cron_probes.Extension]:
        """vector, pg_cron and age, as far as the server knows them."""
        return capabilities.extensions(self.database, timeout_ms=self.timeout_ms)

    @cached_property
    def has_vector(self) -> bool:
        """Whether pgvector is created in this database."""
        found = self.extensions.get("vector")
        return found is not None and found.installed_version is not None

    @cached_property
    def vector(self) -> capabilities.VectorFacts:
        """pgvector, feature by feature."""
        if not self.has_vector:
            return capabilities.VectorFacts()
        return capabilities.vector_facts(self.database, timeout_ms=self.timeout_ms)

    @cached_property
    def cron(self) -> cron_probes.CronFacts:
        """Where pg_cron stands."""
        facts, self._cron_database = cron_probes.cron_facts(
            self.database, self.extensions.get("pg_cron"), timeout_ms=self.timeout_ms
        )
        return facts

    @cached_property
    def libraries(self) -> list[str] | None:
        """What the server loads at start, where it matters and this role may see it."""
        return cron_probes.preloaded_libraries(self.database, timeout_ms=self.timeout_ms)

    @cached_property
    def capabilities(self) -> Capabilities:
        """All of the above as one answer."""
        return capabilities.capabilities(
            self.server, self.extensions, self.vector, self.cron, self.libraries
        )

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables that stand in the schema, with columns, privileges and statistics."""
        rows = self.rows("diagnostics", "tables", {"schema": self.database.schema})
        return {row["name"]: row for row in rows}

    @cached_property
    def function_access(self) -> list[dict[str, Any]]:
        """The functions that stand in the schema, one row a signature."""
        return self.rows("diagnostics", "functions", {"schema": self.database.schema})

    @cached_property
    def indexes(self) -> dict[str, dict[str, Any]]:
        """The indexes that stand in the schema, by name."""
        rows = self.rows("diagnostics", "indexes", {"schema": self.database.schema})
        return {row["name"]: row for row in rows}

    @cached_property
    def stored_config(self) -> dict[str, Any] | None:
        """The config row that rules this app: its own, else the main app's."""
        rows = self.rows("diagnostics", "stored_config", {"app_name": self.session.app})
        return rows[0] if rows else None

    @cached_property
    def automation(self) -> Automation:
        """The stored config that rules this app, laid over the defaults.

        Raises: NegmemError `stored_config_invalid`.
        """
        from negmem.config.automation import effective_automation

        return effective_automation(self.stored_config["config"] if self.stored_config else {})

    @cached_property
    def main_automation(self) -> dict[str, Any]:
        """The main app's stored config, whose values are the functions' defaults."""
        from negmem.config.automation import effective_automation

        rows = self.rows("installation", "main_config")
        return effective_automation(rows[0]["config"] if rows else {}).model_dump(mode="json")

    @cached_property
    def plan(self) -> Plan | None:
        """What `sync` would do; None for an app without a config of its own."""
        from negmem.core.automation.plan import make_plan

        if self.stored_config is None or self.stored_config["app_name"] != self.session.app:
            return None
        with self._writing() as connection:
            return make_plan(self.session, connection)

    @cached_property
    def comparisons(self) -> Comparisons:
        """The managed functions, compared with what this server makes of them; nothing stays."""
        values = functions.variables(
            self.main_automation,
            self.database.schema,
            self.database.facts.vector_schema or "public",
        )
        with self._writing() as connection:
            return functions.compare(self.database, connection, functions.wanted_functions(values))

    @cached_property
    def cosmetic(self) -> frozenset[str]:
        """The signatures of functions whose difference changes nothing that they do."""
        if all(item.state == "present" for item in self.comparisons.items):
            return frozenset()
        planned = self.plan.functions if self.plan is not None else []
        return frozenset(f.change.name for f in planned if f.change.significance == "cosmetic")

    def _writing(self) -> AbstractContextManager[Connection]:
        """A transaction in which functions may be tried in pg_temp, where the server takes writes."""
        facts = self.database.facts
        return self.database.transaction(
            read_only=facts.in_recovery or facts.read_only,
            lock_timeout_ms=min(1_000, self.timeout_ms),
            statement_timeout_ms=self.timeout_ms,
        )

    @cached_property
    def jobs(self) -> list[Job]:
        """The predefined jobs: what the app's config asks for, and what pg_cron has."""
        if not self.enabled_jobs and not self.capabilities.pg_cron_installed:
            return []
        from negmem.core.automation.jobs import job_states

        if self.stored_config is None or self.stored_config["app_name"] != self.session.app:
            return []
        return job_states(
            self.session,
            self.stored_config["config"],
            always_look=bool(self.capabilities.pg_cron_installed),
        )

    @cached_property
    def enabled_jobs(self) -> tuple[str, ...]:
        """The jobs that the stored config switches on; none where it can't be read."""
        try:
            document = self.automation.model_dump()
        except (NegmemError, CannotLookError):
            return ()
        # The only truth values in the document are the switches: while none is on, no job is.
        if not any(value is True for section in document.values() for value in section.values()):
            return ()
        from negmem.core.automation.jobs import JOBS

        return tuple(job.key for job in JOBS if document[job.section][job.switch])

    @cached_property
    def scheduler_beat(self) -> dict[str, Any] | None:
        """The heartbeat of the built-in scheduler: is_alive, age_s, host; None where there is none."""
        try:
            rows = self.rows("diagnostics", "scheduler_beat")
        except (NegmemError, CannotLookError):
            return None
        return rows[0] if rows else None

    @property
    def job_names(self) -> tuple[str, ...]:
        """The keys of the predefined jobs."""
        from negmem.core.automation.jobs import JOBS

        return tuple(job.key for job in JOBS)

    @cached_property
    def managed_jobs(self) -> list[dict[str, Any]]:
        """The jobs that negmem recorded as its own; none where the record can't be read."""
        try:
            return self.rows("diagnostics", "managed_jobs")
        except (NegmemError, CannotLookError):
            return []

    @cached_property
    def cron_jobs(self) -> list[dict[str, Any]]:
        """Jobs under negmem's names that this role sees, of whatever owner and database."""
        names = {*self.job_names, *(job["name"] for job in self.managed_jobs)}
        names |= {f"{job}@{self.session.app}" for job in self.job_names}
        return self.cron_rows("diagnostics", "cron_jobs", {"names": sorted(names)})

    @cached_property
    def cron_last_runs(self) -> dict[int, dict[str, Any]]:
        """The last run of each of those jobs, by job id, if it is among the latest runs of all."""
        ids = [job["job_id"] for job in self.cron_jobs]
        params = {"job_ids": ids, "most": _LATEST_RUNS}
        rows = self.cron_rows("diagnostics", "cron_last_runs", params) if ids else []
        return {row["job_id"]: row for row in rows}

    @property
    def needs_cron(self) -> bool:
        """Whether something waits for pg_cron: a job is on and no built-in scheduler is alive."""
        beat = self.scheduler_beat
        return bool(self.enabled_jobs) and not (beat and beat["is_alive"])

    def close(self) -> None:
        """Close what was opened beside the session."""
        if self._cron_database is not None and self._cron_database is not self.database:
            self._cron_database.close()
        self._cron_database = None
