"""The predefined jobs: their switches in the config, their commands, and what pg_cron holds of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from negmem.config.automation import effective_automation
from negmem.core.automation.stored import read_stored, set_stored
from negmem.core.models.change import Job, JobState, JobSwitch
from negmem.core.session import Session
from negmem.db import capabilities, cron_probes
from negmem.db.connect import Database
from negmem.db.cron_probes import CronFacts
from negmem.db.failures import DatabaseError
from negmem.db.look import look
from negmem.db.sqlfiles import blocks, fill, quote_identifier, quote_literal
from negmem.errors import UsageError

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class JobKind:
    """One predefined job; `switch` and `schedule` are paths in the automation document."""

    key: str
    label: str
    function: str
    section: str
    switch: str
    schedule: str

    @property
    def switch_key(self) -> str:
        """The dotted key that turns the job on."""
        return f"automation.{self.section}.{self.switch}"


JOBS = (
    JobKind(
        "cleanup_memories",
        "Ebbinghaus Cleanup",
        "cleanup_low_value_memories",
        "retention",
        "auto_cleanup_enabled",
        "cleanup_schedule",
    ),
    JobKind(
        "trigger_consolidation",
        "Maintenance Consolidation",
        "trigger_maintenance_consolidation",
        "consolidation",
        "enabled",
        "schedule",
    ),
    JobKind(
        "reweight_relevance",
        "Rocchio Reweight",
        "reweight_all_users_relevance",
        "reweight_relevance",
        "enabled",
        "schedule",
    ),
)


def job_named(key: str) -> JobKind:
    """The predefined job of this name. Raises: UsageError `job_unknown`."""
    for job in JOBS:
        if job.key == key:
            return job
    names = [job.key for job in JOBS]
    near = difflib.get_close_matches(key, names, n=1)
    raise UsageError(
        "job_unknown",
        f'there is no job "{key}"',
        why=f"the jobs are {', '.join(names)}",
        hint=f"negmem automation enable {near[0] if near else names[0]}",
    )


def command_of(job: JobKind, automation: Mapping[str, Any], schema: str, app: str | None) -> str:
    """The statement that the job runs. `app` None: the main app, which needs no argument."""
    retention = automation["retention"]
    arguments = {
        "cleanup_memories": [
            str(retention["low_retention_threshold"]),
            str(retention["min_age_days"]),
            str(retention["decay_lambda"]),
        ],
        "trigger_consolidation": [
            f"{quote_literal(automation['consolidation']['lookback_interval'])}::interval"
        ],
        "reweight_relevance": [],
    }[job.key]
    if app is not None:
        arguments.append(f"p_app_name => {quote_literal(app)}")
    named = schema if _PLAIN.fullmatch(schema) else quote_identifier(schema)
    values = {"schema": named, "arguments": ", ".join(arguments)}
    return str(fill(blocks("automation")[job.key], values))


def job_states(
    session: Session, document: Mapping[str, Any], *, always_look: bool = False
) -> list[Job]:
    """Every predefined job of the session's app: what its config asks for, and what pg_cron has.

    Asks about pg_cron only where a job is on, or when told to.
    """
    stored = read_stored(session)
    automation = effective_automation(document).model_dump(mode="json")
    is_any_on = any(automation[job.section][job.switch] for job in JOBS)
    cron = _Cron(session) if is_any_on or always_look else None
    try:
        return [
            _state(session, job, automation, None if stored.is_main else stored.app, cron)
            for job in JOBS
        ]
    finally:
        if cron is not None:
            cron.close()


class _Cron:
    """pg_cron as this role sees it: its state, and the jobs under negmem's names."""

    def __init__(self, session: Session) -> None:
        database = session.database
        timeout_ms = session.config.doctor.check_timeout_ms
        extension = capabilities.extensions(database, timeout_ms=timeout_ms).get("pg_cron")
        self._own = database
        self.facts: CronFacts
        self._home: Database | None
        self.facts, self._home = cron_probes.cron_facts(database, extension, timeout_ms=timeout_ms)
        self.rows: list[dict[str, Any]] = []
        if self._home is not None and self.facts.jobs_readable:
            names = [job.key for job in JOBS] + [f"{job.key}@{session.app}" for job in JOBS]
            self.rows = look(
                self._home, "diagnostics", "cron_jobs", {"names": names}, timeout_ms=timeout_ms
            )
        try:
            beat = look(database, "diagnostics", "scheduler_beat", timeout_ms=timeout_ms)
        except DatabaseError:
            beat = []
        self.has_scheduler = bool(beat and beat[0]["is_alive"])

    def close(self) -> None:
        """Close the database of pg_cron, where it is another one."""
        if self._home is not None and self._home is not self._own:
            self._home.close()


def _state(
    session: Session,
    job: JobKind,
    automation: Mapping[str, Any],
    app: str | None,
    cron: _Cron | None,
) -> Job:
    name = job.key if app is None else f"{job.key}@{app}"
    enabled = bool(automation[job.section][job.switch])
    schedule = automation[job.section][job.schedule]
    command = command_of(job, automation, session.database.schema, app)
    rows = [row for row in cron.rows if row["name"] == name] if cron is not None else []
    wish = {"schedule": schedule, "command": command, "database": session.database.facts.database}
    status, reason = _judge(enabled, cron, rows, wish)
    return Job(
        job_key=job.key,
        name=name,
        process_label=job.label,
        function_name=job.function,
        enabled=enabled,
        status=status,
        reason=reason,
        job_id=rows[0]["job_id"] if rows else None,
        schedule=schedule,
        command=command,
        active=rows[0]["active"] if rows else None,
    )


def _judge(
    enabled: bool,
    cron: _Cron | None,
    rows: Sequence[Mapping[str, Any]],
    wish: Mapping[str, Any],
) -> tuple[JobState, str]:
    if cron is None:
        return "disabled", ""
    if not enabled:
        return ("drifted", "scheduled, and switched off") if rows else ("disabled", "")
    if cron.facts.state is None:
        return "unknown", cron.facts.reason
    if cron.facts.state != "created":
        if cron.has_scheduler:
            return "scheduled", "by the built-in scheduler"
        return "degraded", "pg_cron_not_installed"
    if not cron.facts.jobs_readable:
        return "degraded", "pg_cron_unavailable"
    if not rows:
        return "missing", "job_missing"
    row = rows[0]
    wrong = [name for name in ("schedule", "command", "database") if row[name] != wish[name]]
    if len(rows) > 1:
        return "drifted", f"{len(rows)} jobs of this name"
    if not row["active"]:
        return "drifted", "not active"
    return ("drifted", f"{', '.join(wrong)} differ") if wrong else ("scheduled", "by pg_cron")


def degraded_reasons(jobs: Sequence[Job]) -> list[str]:
    """Why the jobs that should run don't, as codes, each once."""
    found = []
    for job in jobs:
        if job.status == "degraded":
            found.append(job.reason)
        elif job.status in ("missing", "drifted"):
            found.append(f"job_{job.status}")
    return list(dict.fromkeys(found))


def warn_of_unscheduled(session: Session, jobs: Sequence[Job]) -> None:
    """Say of each job that is on and not scheduled what would run it."""
    for job in jobs:
        if not job.enabled or job.status == "scheduled":
            continue
        remedy = f"it runs by hand: {job.command};"
        if job.status in ("missing", "drifted"):
            values = {
                "name": job.name,
                "schedule": job.schedule,
                "command": job.command,
                "database": session.database.facts.database,
            }
            remedy = f"schedule it: {fill(blocks('automation')['schedule_by_hand'], values)};"
        session.warn(
            "stored_not_scheduled",
            f"{job.name} is stored as enabled and not scheduled"
            f" ({job.reason or job.status}); {remedy}",
        )


def switch(session: Session, key: str, enabled: bool, *, dry_run: bool = False) -> JobSwitch:
    """Store the wish that a job run, or not, with actor and time. It schedules nothing by itself.

    Raises: UsageError `job_unknown`, NegmemError `app_unknown`.
    """
    job = job_named(key)
    verb = "enable" if enabled else "disable"
    change = set_stored(
        session,
        job.switch_key,
        "true" if enabled else "false",
        dry_run=dry_run,
        reason=f"automation {verb} {job.key}",
    )
    document = read_stored(session).automation
    state = next(j for j in job_states(session, document) if j.job_key == job.key)
    if enabled:
        warn_of_unscheduled(session, [state])
    return JobSwitch(
        job_key=job.key,
        app=session.app,
        enabled=enabled,
        changed=change.changed,
        dry_run=dry_run,
        actor=session.actor,
        key=job.switch_key,
        schedule=state.schedule,
        command=state.command,
        status=state.status,
        scheduled=state.status == "scheduled",
    )
