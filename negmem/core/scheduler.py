"""The built-in scheduler, where pg_cron can't be had: one leader among many processes.

The leader holds a row with a lease by the database's clock and renews it from a thread of its own; when
it dies, the lease runs out and another process leads. No session lock and no session setting is held.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from negmem.core.automation.job_catalog import WantedJob, wanted_jobs
from negmem.core.automation.job_runs import run_to_end
from negmem.core.automation.run_history import purge
from negmem.core.evolution import retention_purge
from negmem.core.formation.standby import Standby
from negmem.core.formulas.due_times import due_after, due_before
from negmem.core.learning import proposals
from negmem.core.models.job import ScheduledJob, SchedulerLeader, SchedulerRun, SchedulerStatus
from negmem.core.models.schedule import EverySeconds, parse_cron
from negmem.core.session import Session
from negmem.db.connect import Database
from negmem.db.cron_records import read_basis
from negmem.db.dsn import Target
from negmem.errors import NegmemError

# A dead leader is followed after at most LEASE_S + FOLLOW_S.
LEASE_S = 9.0
BEAT_S = 3.0
FOLLOW_S = 2.0
AGENDA_S = 5.0
GRACE_S = 10.0
# Between attempts where the database fails: twice as long each time, this at most.
PATIENCE_S = 30.0
_DAY_S = 86_400.0

Emit = Callable[..., None]


@dataclass(frozen=True)
class AgendaItem:
    """A job with the moment from which its schedule counts: its last start, else the config's change."""

    job: WantedJob
    last_start: datetime | None
    base: datetime

    def is_due(self, now: datetime) -> bool:
        """Whether a time of its schedule passed since; several missed ones are one."""
        if not self.job.enabled:
            return False
        schedule = parse_cron(self.job.schedule)
        if isinstance(schedule, EverySeconds):
            return now - self.base >= timedelta(seconds=schedule.seconds)
        latest = next(due_before(schedule, now, timezone.utc), None)
        return latest is not None and latest > self.base

    def next_run(self, now: datetime) -> datetime | None:
        """When it runs next, in UTC; None where it is off."""
        if not self.job.enabled:
            return None
        if self.is_due(now):
            return now
        schedule = parse_cron(self.job.schedule)
        if isinstance(schedule, EverySeconds):
            return self.base + timedelta(seconds=schedule.seconds)
        return next(due_after(schedule, now, timezone.utc), None)


def agenda(
    rows: Sequence[Mapping[str, Any]],
    schema: str,
    on_invalid: Callable[[str], None] = lambda app: None,
) -> list[AgendaItem]:
    """The jobs of every app from the rows of the query `agenda`.

    An app whose stored config is not usable is left out, and told to `on_invalid`.
    """
    items = []
    for row in rows:
        try:
            wanted = wanted_jobs(
                row["config"], app=row["app"], is_main=row["is_main"], schema=schema
            )
        except NegmemError:
            on_invalid(row["app"])
            continue
        for job in wanted:
            said = row["last_starts"].get(job.kind.key)
            last = datetime.fromisoformat(said) if said else None
            items.append(AgendaItem(job, last, last or row["updated_at"]))
    return items


class Scheduler:
    """Runs due jobs while it leads, waits while another one does.

    Args: emit, called with an event's name and fields; clock, from the database's time to the time
    that counts (tests give another); grace_s, how long a run may go on after `stop`.
    """

    def __init__(
        self,
        session: Session,
        *,
        emit: Emit = lambda event, **fields: None,
        clock: Callable[[datetime], datetime] = lambda now: now,
        grace_s: float = GRACE_S,
    ) -> None:
        self.session = session
        self.emit = emit
        self.clock = clock
        self.grace_s = grace_s
        self.instance = str(uuid.uuid4())
        self.host = socket.gethostname()
        self.process_id = os.getpid()
        self.database = _named(session.database)
        self._beating = _named(session.database)
        self._wake, self._waker = os.pipe()
        self._leads = False
        self._led = False
        self._runs_job = False
        self._stopped_by = ""
        self._stopped_at = 0.0
        self._ended = threading.Event()
        self._tried: dict[tuple[str, str], datetime] = {}
        self._counts = {"succeeded": 0, "failed": 0, "skipped": 0}
        self._failure: NegmemError | None = None
        self._failures = 0
        self._tidy_at = time.monotonic()
        self._standby = Standby(session, emit)

    def stop(self, why: str) -> None:
        """Ask it to end: a run under way is finished, or cancelled after the grace. Signal-safe."""
        if not self._stopped_by:
            self._stopped_at = time.monotonic()
            self._stopped_by = why
        self._standby.stop()
        with contextlib.suppress(OSError):  # the pipe is closed at the very end
            os.write(self._waker, b".")

    def run(self, *, once: bool = False) -> SchedulerRun:
        """Lead or wait until stopped; with `once`, until what is due is done or another one leads.

        Raises: NegmemError where the database can't be reached at the start, or where the role lacks a
        privilege, which no retry mends; with `once` also where it failed before all was done.
        """
        _ = self.database.facts
        self.emit("started", host=self.host, pid=self.process_id, instance=self.instance)
        beat = threading.Thread(target=self._beat, name="negmem-lease", daemon=True)
        beat.start()
        try:
            while not self._stopped_by:
                pause = self._turn()
                if once:
                    self._standby.wait()
                    self._stopped_by = self._stopped_by or "once"
                    break
                self._wait(pause)
        finally:
            self._standby.stop()
            self._standby.wait()
            self._ended.set()
            beat.join()
            self._leave()
            self.database.close()
            os.close(self._wake)
            os.close(self._waker)
        self.emit("stopped", by=self._stopped_by, **self._counts)
        if self._failure is not None and (once or self._stopped_by == "refused"):
            raise self._failure
        return SchedulerRun(
            host=self.host,
            process_id=self.process_id,
            instance=self.instance,
            stopped_by=self._stopped_by,
            led=self._led,
            **self._counts,
        )

    def _turn(self) -> float:
        """Lead if possible and do what is due; returns how many seconds there is nothing to do."""
        try:
            pause = self._work() if self._lead() else FOLLOW_S
        except NegmemError as error:
            self._failure = error
            self.emit(
                "database_failed", code=error.code, why=error.why or error.message, fix=error.hint
            )
            self.database.close()
            if error.code == "privilege_missing":
                self._stopped_by = self._stopped_by or "refused"
            pause = min(PATIENCE_S, FOLLOW_S * float(2**self._failures)) * random.uniform(0.75, 1)
            self._failures = min(self._failures + 1, 8)
            return pause
        self._failures = 0
        return pause

    def _lead(self) -> bool:
        if self._leads:
            return True
        self._leads = _renew(self.database, self)
        if self._leads:
            self._led = True
            self.emit("leads", host=self.host, pid=self.process_id)
            self._warn_of_pg_cron()
        return self._leads

    def _warn_of_pg_cron(self) -> None:
        """Jobs that pg_cron holds too run twice: harmless, since the second finds nothing, and told."""
        here = self.database.facts.database
        names = [job.name for job in read_basis(self.database).recorded if job.database == here]
        if names:
            self.emit("pg_cron_has_jobs_too", jobs=",".join(names))

    def _work(self) -> float:
        """Run what is due, each app's jobs in their order."""
        while True:
            rows = self.database.rows("scheduler", "agenda")
            now = self.clock(rows[0]["now"]) if rows else datetime.now(timezone.utc)
            items = [
                self._with_trials(item) for item in agenda(rows, self.database.schema, self._told)
            ]
            due = next((item for item in items if item.is_due(now)), None)
            if due is None:
                self._tidy()
                self._consolidate(rows, items)
                waits = [(n - now).total_seconds() for i in items if (n := i.next_run(now))]
                return max(0.05, min([AGENDA_S, *waits]))
            if self._stopped_by or not self._leads:
                return 0.0
            self._tried[due.job.app, due.job.kind.key] = now
            self._run(due)

    def _consolidate(self, rows: Sequence[Mapping[str, Any]], items: Sequence[AgendaItem]) -> None:
        """The queue of consolidation, for the apps whose `automation.consolidation` is enabled."""
        enabled = {
            item.job.app
            for item in items
            if item.job.kind.key == "trigger_consolidation" and item.job.enabled
        }
        main = any(row["is_main"] and row["app"] in enabled for row in rows)
        self._standby.look(self.database, enabled, main_enabled=main)

    def _tidy(self) -> None:
        """Once a day: the records of runs whose lifetime is over."""
        if time.monotonic() < self._tidy_at or self._stopped_by:
            return
        self._tidy_at = time.monotonic() + _DAY_S
        known = len(self.session.warnings)
        try:
            done = purge(self.session, database=self.database)
        except NegmemError as error:
            self.emit("purge_failed", code=error.code, why=error.why or error.message)
            return
        # Told as events: what this process writes is a line of JSON each.
        for said in self.session.warnings[known:]:
            self.emit("purge_incomplete", code=said["code"], why=said["message"])
        del self.session.warnings[known:]
        if done.automation_runs or done.job_run_details:
            self.emit("runs_purged", own=done.automation_runs, of_pg_cron=done.job_run_details or 0)
        self._expire()
        if self.session.config.retention.purge_daily:
            self._purge()

    def _expire(self) -> None:
        """Proposals that waited beyond their time, of the session's app."""
        try:
            late = proposals.expire(self.session, self.database)
        except NegmemError as error:
            self.emit("expiry_failed", code=error.code, why=error.why or error.message)
            return
        if late:
            self.emit("proposals_expired", proposals=late)

    def _purge(self) -> None:
        """What is over its lifetime, of the session's app."""
        known = len(self.session.warnings)
        try:
            planned = retention_purge.plan(self.session, database=self.database)
            done = retention_purge.apply(self.session, planned, database=self.database)
        except NegmemError as error:
            self.emit("purge_failed", code=error.code, why=error.why or error.message)
            return
        del self.session.warnings[known:]
        others = {one.table: one.rows for one in done.others}
        if done.memories or done.retrieval_logs or others:
            self.emit("rows_purged", memories=done.memories, searches=done.retrieval_logs, **others)

    def _with_trials(self, item: AgendaItem) -> AgendaItem:
        """What was tried here counts as started even where it could not be put on record."""
        tried = self._tried.get((item.job.app, item.job.kind.key))
        if tried is None or tried <= item.base:
            return item
        return AgendaItem(item.job, item.last_start, tried)

    def _told(self, app: str) -> None:
        self.emit("config_invalid", app=app)

    def _run(self, item: AgendaItem) -> None:
        job = item.job
        names = {"job": job.kind.key, "app": job.app}
        self.emit("run_started", **names)
        started = time.perf_counter()
        self._runs_job = True
        try:
            ended = run_to_end(
                self.database,
                job,
                source="scheduler",
                may_go_on=lambda: self._leads and not self._stopped_by,
            )
        except NegmemError as error:
            self._counts["failed"] += 1
            self.emit("run_failed", **names, code=error.code, why=error.why or error.message)
            return
        finally:
            self._runs_job = False
        self._counts["skipped" if ended.status == "skipped" else "succeeded"] += 1
        took_ms = round((time.perf_counter() - started) * 1000)
        self.emit(
            "run_ended", **names, status=ended.status, rows=ended.rows_touched, took_ms=took_ms
        )

    def _beat(self) -> None:
        """Renew the lease; cancel a run whose grace is over or whose lease is lost."""
        last = time.monotonic()
        while not self._ended.wait(min(BEAT_S, 0.5)):
            is_late = time.monotonic() - self._stopped_at > self.grace_s
            if self._runs_job and self._stopped_by and is_late:
                self._cancel("stopped")
            if not self._leads:
                last = time.monotonic()
                continue
            if time.monotonic() - last < BEAT_S:
                continue
            try:
                keeps = _renew(self._beating, self)
                last = time.monotonic() if keeps else last
            except NegmemError:
                self._beating.close()
                keeps = time.monotonic() - last < LEASE_S
            if not keeps:
                self._leads = False
                self.emit("lease_lost", host=self.host, pid=self.process_id)
                self._cancel("lease_lost")
        self._beating.close()

    def _cancel(self, why: str) -> None:
        if self._runs_job:
            self.emit("run_cancelled", why=why)
            with contextlib.suppress(Exception):
                self.database.connection.cancel_safe(timeout=5)

    def _leave(self) -> None:
        if self._led:
            with contextlib.suppress(NegmemError):
                self.database.execute("scheduler", "leave", {"instance": self.instance})

    def _wait(self, seconds: float) -> None:
        select.select([self._wake], [], [], seconds)


def _renew(database: Database, scheduler: Scheduler) -> bool:
    values = {
        "instance": scheduler.instance,
        "host": scheduler.host,
        "process_id": scheduler.process_id,
        "lease_s": LEASE_S,
    }
    return database.row("scheduler", "lead", values) is not None


def _named(database: Database) -> Database:
    """The same database under the name by which runs of the scheduler are told from others."""
    params = {**database.target.params, "application_name": "negmem scheduler"}
    return Database(
        Target(params, database.target.origin),
        schema=database.schema,
        command="negmem scheduler",
        wait_s=database.wait_s,
        connect_timeout_s=database.connect_timeout_s,
        lock_timeout_ms=database.lock_timeout_ms,
        statement_timeout_ms=database.statement_timeout_ms,
    )


def status(session: Session) -> SchedulerStatus:
    """Whether a built-in scheduler lives, and what is due. Reads only."""
    database = session.database
    row = database.row("scheduler", "leader")
    leader = None if row is None else SchedulerLeader(**row)
    rows = database.rows("scheduler", "agenda")
    jobs = [
        ScheduledJob(
            job_key=item.job.kind.key,
            app=item.job.app,
            enabled=item.job.enabled,
            schedule=item.job.schedule,
            last_started_at=item.last_start,
            next_run_at=item.next_run(rows[0]["now"]),
            is_due=item.is_due(rows[0]["now"]),
        )
        for item in agenda(rows, database.schema)
    ]
    return SchedulerStatus(
        is_alive=leader is not None and leader.is_alive, leader=leader, jobs=jobs
    )
