"""The jobs of an app: state, reason, next runs, what that degrades; switched on, off, put right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone, tzinfo
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from negmem.config.automation import set_in_document
from negmem.core.automation.job_catalog import JOBS as JOBS
from negmem.core.automation.job_catalog import command_of as command_of
from negmem.core.automation.job_catalog import job_named as job_named
from negmem.core.automation.job_changes import JobConsent, JobOutcome, JobScope
from negmem.core.automation.job_states import JobsView, JudgedJob
from negmem.core.automation.stored import read_stored, set_stored
from negmem.core.formulas.due_times import due_after
from negmem.core.models.change import Job, JobSwitch, NextRun, Reconciled
from negmem.core.models.schedule import parse_cron
from negmem.core.session import Session
from negmem.db.cron import schedule_statement

_NEXT_RUNS = 3
_WORDS = {
    "schedule": "another schedule",
    "command": "another command",
    "database": "runs in another database",
    "owner": "another owner",
    "active": "not active",
    "switched_off": "scheduled, and switched off",
    "duplicate": "scheduled twice",
    "not_recorded": "not scheduled by negmem",
}


_IN_THE_WAY = frozenset({"not_recorded", "duplicate"})


def job_states(
    session: Session, document: Mapping[str, Any], *, always_look: bool = False
) -> list[Job]:
    """Every predefined job of the session's app: what its config asks for, and what pg_cron has.

    Asks about pg_cron only where a job is on or recorded, or when told to.
    """
    with JobScope(session, always_look=always_look) as scope:
        return job_models(scope, scope.view(document))


def job_models(scope: JobScope, view: JobsView) -> list[Job]:
    """The jobs of the session's app in `view`, in their fixed order."""
    return [
        _model(scope, job)
        for job in view.jobs
        if job.wanted is not None and job.app == scope.session.app
    ]


def _model(scope: JobScope, job: JudgedJob) -> Job:
    want, row = job.wanted, job.standing
    assert want is not None
    zone_name = scope.cron.facts.time_zone if scope.cron is not None else None
    return Job(
        job_key=want.kind.key,
        name=want.name,
        process_label=want.kind.label,
        function_name=want.kind.function,
        enabled=want.enabled,
        status=job.status,
        reason=", ".join(_WORDS[code] for code in job.differences) or job.reason,
        job_id=None if row is None else row.job_id,
        schedule=want.schedule,
        command=want.command,
        active=None if row is None else row.active,
        app=want.app,
        differences=list(job.differences),
        next_runs=next_runs(want.schedule, zone_of(zone_name)) if want.enabled else [],
    )


def zone_of(name: str | None) -> tzinfo:
    """pg_cron's time zone by its name; GMT where it is not known, as pg_cron itself has it."""
    try:
        return ZoneInfo(name or "GMT")
    except (ZoneInfoNotFoundError, ValueError):
        return timezone.utc


def next_runs(schedule: str, zone: tzinfo, *, now: datetime | None = None) -> list[NextRun]:
    """The next three times at which a schedule is due in `zone`, in three zones."""
    moment = now or datetime.now(timezone.utc)
    return [
        NextRun(
            at=due.astimezone(timezone.utc),
            cron_zone=f"{due:%Y-%m-%d %H:%M} {_zone_name(due, zone)}",
            local=f"{due.astimezone():%Y-%m-%d %H:%M %Z}",
        )
        for due in islice(due_after(parse_cron(schedule), moment, zone), _NEXT_RUNS)
    ]


def _zone_name(due: datetime, zone: tzinfo) -> str:
    return getattr(zone, "key", None) or f"{due:%Z}"


def degraded_reasons(jobs: Sequence[Job]) -> list[str]:
    """Why the jobs that should run don't, as codes, each once."""
    found = []
    for job in jobs:
        if job.status == "degraded":
            found.append(job.reason)
        elif job.status in ("missing", "drifted"):
            found.append(f"job_{job.status}")
    return list(dict.fromkeys(found))


def warn_of_unscheduled(session: Session, jobs: Sequence[Job], *, planned: bool = False) -> None:
    """Say of each job that is on and not scheduled what would run it; `planned`: not yet stored."""
    for job in jobs:
        if not job.enabled or job.status == "scheduled":
            continue
        remedy = f"it runs by hand: {job.command};"
        if job.reason == "name_taken" or _IN_THE_WAY & set(job.differences):
            # Scheduling by hand would replace the other job, or be one more.
            remedy = f"another job is in the way: negmem automation reconcile {job.job_key}"
        elif job.status == "drifted":
            remedy = f"put it right: negmem automation reconcile {job.job_key}"
        elif job.status in ("missing", "unknown"):
            # Whoever runs it may be an administrator: the job is this role's all the same.
            facts = session.database.facts
            statement = schedule_statement(
                job.name, job.schedule, job.command, facts.database, facts.role
            )
            remedy = f"schedule it: {statement}"
        so = " so" if job.status == "drifted" else ""
        told = f"not scheduled{so} ({job.reason or job.status}); {remedy}"
        if job.status == "unknown":
            told = f"perhaps not scheduled: this role can't tell ({job.reason}); if not, {remedy}"
        verb = "would be" if planned else "is"
        session.warn("stored_not_scheduled", f"{job.name} {verb} stored as enabled and {told}")


def switch(session: Session, key: str, enabled: bool, *, dry_run: bool = False) -> JobSwitch:
    """Store the wish that a job run, or not, with actor and time; where pg_cron is, make it so.

    Raises: UsageError `job_unknown`, NegmemError `app_unknown`, `job_name_too_long`,
    `jobs_not_applied`, or the server's refusal: then the wish is stored all the same.
    """
    job = job_named(key, "enable" if enabled else "disable")
    verb = "enable" if enabled else "disable"
    change = set_stored(
        session,
        job.switch_key,
        "true" if enabled else "false",
        dry_run=dry_run,
        reason=f"automation {verb} {job.key}",
    )
    document = read_stored(session).automation
    if dry_run:
        # Nothing is stored: what would be done is judged by what would be stored.
        document = set_in_document(document, job.switch_key, str(enabled).lower()).document
    state, applied = _put_right(session, key, document, dry_run=dry_run)
    if enabled and not (dry_run and applied.applied):
        warn_of_unscheduled(session, [state], planned=dry_run)
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
        applied=applied.applied,
        skipped=applied.skipped,
    )


def reconcile(session: Session, key: str, *, dry_run: bool = False) -> Reconciled:
    """Make one job of the session's app agree with the stored config, in pg_cron.

    Unlike `sync` it also takes over a job of this name and role that negmem has no record of: a
    person named it. Raises: as `switch`.
    """
    job_named(key, "reconcile")
    document = read_stored(session).automation
    state, outcome = _put_right(session, key, document, dry_run=dry_run, adopt=True)
    if not (dry_run and outcome.applied):
        warn_of_unscheduled(session, [state])
    return Reconciled(
        job_key=key,
        app=session.app,
        dry_run=dry_run,
        applied=outcome.applied,
        skipped=outcome.skipped,
        job=state,
    )


def _put_right(
    session: Session,
    key: str,
    document: Mapping[str, Any],
    *,
    dry_run: bool,
    adopt: bool = False,
) -> tuple[Job, JobOutcome]:
    """Put one job right where pg_cron can be reached; its state afterwards."""

    def own(scope: JobScope) -> Job:
        return next(j for j in job_models(scope, scope.view(document)) if j.job_key == key)

    with JobScope(session, always_look=True) as scope:
        consent = JobConsent(names=frozenset({own(scope).name}), adopt=adopt)
        if dry_run:
            return own(scope), scope.planned(document, consent)
        outcome = scope.carry_out(document, consent)
        scope.refresh()
        return own(scope), outcome
