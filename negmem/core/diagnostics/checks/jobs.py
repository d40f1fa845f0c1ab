"""Checks of the jobs: scheduled as the stored config says, run when they should, ending well."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import CannotLookError, Found, NotNeededError, check
from negmem.core.formulas.due_times import due_before
from negmem.core.models.diagnosis import Severity
from negmem.core.models.schedule import parse_cron
from negmem.db.sqlfiles import quote_identifier, quote_literal

if TYPE_CHECKING:
    from negmem.core.models.change import Job

_READY = ("schema_outdated", "table_missing", "config_missing", "stored_config_invalid")
_MISSED_RUNS = 3
_GRACE = timedelta(minutes=5)
_LARGE_HISTORY_BYTES = 100 * 1024 * 1024
_LARGE_HISTORY_ROWS = 500_000


def _counted(probe: Probe) -> Severity:
    return "warn" if probe.enabled_jobs else "info"


@check("job_missing", "jobs", needs=_READY)
def job_missing(probe: Probe) -> list[Found]:
    """Every job that is switched on stands in pg_cron, or the built-in scheduler runs it."""
    switched_on = [job for job in probe.jobs if job.enabled]
    if not switched_on:
        probe.note("jobs", "none switched on")
        return []
    scheduled = [job for job in switched_on if job.status == "scheduled"]
    beat = probe.scheduler_beat
    if beat is not None and beat["is_alive"]:
        probe.note("jobs", f"built-in scheduler on {beat['host']}")
    if any(job.status == "degraded" for job in switched_on):
        raise NotNeededError("needs pg_cron")
    if any(job.status == "unknown" for job in switched_on):
        raise CannotLookError(probe.cron.reason)
    missing = [job for job in switched_on if job.status == "missing"]
    if missing and not _is_sure(probe):
        raise CannotLookError(f"visible as {probe.server.role}: {len(probe.cron_jobs)} of unknown")
    probe.note("jobs", f"{len(scheduled)} of {len(switched_on)} scheduled")
    return [
        Found(
            f"{job.name}: switched on and not scheduled",
            evidence=f'cron.job in "{probe.cron.database}" has no job of this name'
            + (" for this database, and one for another" if job.reason == "name_taken" else ""),
            # Scheduling under a name that is taken would replace the other database's job.
            remedy="negmem config set automation.jobs.prefix NAME_    then: negmem sync"
            if job.reason == "name_taken"
            else _schedule(probe, job),
        )
        for job in missing
    ]


def _is_sure(probe: Probe) -> bool:
    """Whether what this role does not see is not there: it sees all, or scheduled them itself.

    Where nothing is on record, whose functions they call would have to schedule them.
    """
    if probe.cron.sees_all_jobs:
        return True
    owners = {job["owner_name"] for job in probe.managed_jobs}
    if not owners:
        return any(function["can_replace"] for function in probe.function_access)
    return owners == {probe.server.role}


def _schedule(probe: Probe, job: Job) -> str:
    """The statement that schedules a job, for the database that pg_cron lives in."""
    parts = [job.name, job.schedule, job.command, probe.server.database]
    return f"SELECT cron.schedule_in_database({', '.join(quote_literal(part) for part in parts)});"


@check("job_drifted", "jobs", needs=_READY)
def job_drifted(probe: Probe) -> list[Found]:
    """The scheduled jobs have the schedule, the command and the database that the config gives."""
    if any(job.status == "degraded" for job in probe.jobs):
        raise NotNeededError("needs pg_cron")
    return [
        Found(
            f"{job.name}: {job.reason}",
            evidence=f"wanted: {job.schedule}  {job.command}" if job.enabled else "the job is off",
            remedy=f"negmem automation reconcile {job.job_key}"
            if job.enabled
            else f"SELECT cron.unschedule({job.job_id or quote_literal(job.name)});    as its owner",
        )
        for job in probe.jobs
        if job.status == "drifted"
    ]


@check("pg_cron_not_permitted", "jobs", needs=(*_READY, "pg_cron_unavailable"))
def pg_cron_not_permitted(probe: Probe) -> Found | None:
    """This role may call the functions that schedule and unschedule."""
    cron = probe.cron
    if cron.state != "created":
        raise NotNeededError("pg_cron is not installed")
    refused = [
        signature
        for signature in cron.refused_functions
        if "alter_job" not in signature
        and (cron.is_elsewhere or "schedule_in_database" not in signature)
    ]
    if cron.can_schedule and not refused:
        return None
    role = quote_identifier(probe.server.role)
    grants = "; ".join(f"GRANT EXECUTE ON FUNCTION {s} TO {role}" for s in refused)
    is_needed = any(job.status in ("missing", "drifted") for job in probe.jobs) and _is_sure(probe)
    return Found(
        "this role may see jobs and not schedule them",
        evidence=f"no EXECUTE on {', '.join(refused)} as {probe.server.role}",
        remedy=f"{grants};   as {cron.owner}; then check again, some services grant nothing",
        severity="warn" if is_needed else "info",
    )


@check("jobs_hidden", "jobs", needs=(*_READY, "pg_cron_unavailable"))
def jobs_hidden(probe: Probe) -> Found | None:
    """This role sees all jobs, not only its own."""
    if probe.cron.state != "created":
        raise NotNeededError("pg_cron is not installed")
    if probe.cron.sees_all_jobs:
        return None
    seen = len(probe.cron_jobs)
    probe.note("jobs", f"visible as {probe.server.role}: {seen} of unknown")
    return Found(
        "this role sees its own jobs alone: what another role scheduled is unknown, not missing",
        evidence=f"row-level security of cron.job; visible as {probe.server.role}: {seen} of unknown",
        remedy=f"run negmem doctor as the role that scheduled them{_owners(probe)}",
        severity="info",
    )


def _owners(probe: Probe) -> str:
    owners = sorted({job["owner_name"] for job in probe.managed_jobs})
    return f": {', '.join(owners)}" if owners else ""


@check("job_duplicated", "jobs", needs=(*_READY, "pg_cron_unavailable"))
def job_duplicated(probe: Probe) -> Found | None:
    """No job stands twice for this database: two owners under one name are two jobs."""
    here = [j for j in probe.cron_jobs if j["database"] == probe.server.database]
    twice = sorted(
        {j["name"] for j in here if len([k for k in here if k["name"] == j["name"]]) > 1}
    )
    if not twice:
        return None
    name = twice[0]
    owners = ", ".join(f"{j['job_id']} of {j['owner']}" for j in here if j["name"] == name)
    return Found(
        f"{', '.join(twice)}: scheduled more than once, and run as often",
        evidence=f"cron.job has {name} as {owners}",
        remedy="SELECT cron.unschedule(JOBID);    as its owner, for all but one",
    )


@check("job_not_running", "jobs", needs=(*_READY, "pg_cron_logs_unavailable"))
def job_not_running(probe: Probe) -> list[Found]:
    """Scheduled jobs have run within their last three due times."""
    runs = probe.cron_last_runs
    findings = []
    for job in _own_jobs(probe):
        dues = list(islice(_dues(probe, job["schedule"]), _MISSED_RUNS))
        if not job["active"] or len(dues) < _MISSED_RUNS:
            continue
        installed = next(
            (m["installed_at"] for m in probe.managed_jobs if m["job_id"] == job["job_id"]), None
        )
        last = runs.get(job["job_id"])
        if last is not None:
            probe.note("jobs", f"last run {_ago(last['age_s'])} ago")
        since = last["start_time"] if last else installed
        if since is None or since >= dues[-1]:
            continue
        what = f"last started {last['start_time']:%Y-%m-%d %H:%M} UTC" if last else "never run"
        findings.append(
            Found(
                f"{job['name']}: scheduled, and no run in {_MISSED_RUNS} intervals",
                evidence=f"{what}; due {dues[-1]:%Y-%m-%d %H:%M %Z} and twice since."
                " A server that sleeps runs nothing",
                remedy=f"{_by_hand(job)}    from a scheduler outside the database",
                severity=_counted(probe),
            )
        )
    return findings


@check("job_off_schedule", "jobs", needs=("job_not_running",))
def job_off_schedule(probe: Probe) -> list[Found]:
    """Runs start when the schedule says, in the zone that pg_cron counts in."""
    runs = probe.cron_last_runs
    findings = []
    for job in _own_jobs(probe):
        last = runs.get(job["job_id"])
        managed = [m for m in probe.managed_jobs if m["job_id"] == job["job_id"]]
        if last is None or not managed or last["start_time"] < managed[0]["installed_at"]:
            continue
        start: datetime = last["start_time"]
        due = next(_dues(probe, job["schedule"], before=start + timedelta(seconds=59)), None)
        if due is None or start - due <= _GRACE:
            continue
        findings.append(
            Found(
                f"{job['name']}: runs at another time than its schedule says",
                evidence=f"started {start:%Y-%m-%d %H:%M} UTC; {job['schedule']} in"
                f" {probe.cron.time_zone} was due {due.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC",
                remedy="ALTER EXTENSION pg_cron UPDATE;    versions before 1.6.1 fire a day early",
                severity=_counted(probe),
            )
        )
    return findings


@check("job_failed", "jobs", needs=_READY)
def job_failed(probe: Probe) -> list[Found]:
    """The last run of each job ended well."""
    findings = []
    last_runs = probe.rows("diagnostics", "last_runs")
    if not last_runs and not (probe.cron.state == "created" and probe.cron_last_runs):
        raise NotNeededError("no run is on record")
    for row in (row for row in last_runs if row["status"] != "succeeded"):
        probe.note("jobs", f"{row['job']} failed")
        findings.append(
            Found(
                f"{row['job']}: its last run {row['status']}",
                evidence=f"{row['message'] or 'no message'} ({row['source']},"
                f" {row['finished_at']:%Y-%m-%d %H:%M} UTC)",
                remedy=f"negmem automation run {row['job']}"
                f"{'' if row['app'] is None else ' --app ' + shlex.quote(row['app'])}    to see it fail",
            )
        )
    seen = {row.title.split(":")[0] for row in findings}
    if probe.cron.state == "created" and probe.cron.runs_readable:
        for job in _own_jobs(probe):
            last = probe.cron_last_runs.get(job["job_id"])
            if last is None or last["status"] != "failed" or job["name"] in seen:
                continue
            probe.note("jobs", f"{job['name']} failed")
            findings.append(
                Found(
                    f"{job['name']}: its last run failed",
                    evidence=f"{last['message']} (pg_cron, {last['start_time']:%Y-%m-%d %H:%M} UTC)",
                    remedy=f"{_by_hand(job)}    to see it fail",
                )
            )
    return findings


@check("cron_history_large", "jobs", needs=(*_READY, "pg_cron_logs_unavailable"))
def cron_history_large(probe: Probe) -> Found | None:
    """pg_cron's run log, which nothing trims by itself, stays small."""
    if probe.cron.state != "created":
        raise NotNeededError("pg_cron is not installed")
    row = probe.cron_rows("diagnostics", "cron_history")[0]
    if row["bytes"] < _LARGE_HISTORY_BYTES and row["estimated_rows"] < _LARGE_HISTORY_ROWS:
        return None
    oldest = f", the oldest of {row['oldest']:%Y-%m-%d}" if row["oldest"] else ""
    return Found(
        "pg_cron's run log grows without bound: disk and every look at it",
        evidence=f"cron.job_run_details: {row['bytes'] / 1024 / 1024:,.0f} MB,"
        f" about {row['estimated_rows']:,} rows{oldest}",
        remedy="negmem automation purge    for negmem's runs; those of other jobs are their owners' to trim",
        severity=_counted(probe),
    )


def _by_hand(job: dict[str, Any]) -> str:
    """The shell command that does what the job does."""
    return f"psql -c {shlex.quote(job['command'].rstrip(';') + ';')}"


def _own_jobs(probe: Probe) -> list[dict[str, Any]]:
    """Our jobs that this role sees in pg_cron: by name, for this database."""
    if probe.cron.state != "created":
        raise NotNeededError("pg_cron is not installed")
    return [j for j in probe.cron_jobs if j["database"] == probe.server.database]


def _dues(probe: Probe, schedule: str, before: datetime | None = None) -> Iterator[datetime]:
    """When the schedule was due, the latest first."""
    try:
        parsed = parse_cron(schedule)
    except ValueError:
        raise CannotLookError(f"the schedule {schedule!r} can't be read") from None
    return due_before(parsed, before or probe.server.clock - _GRACE, _zone(probe))


def _zone(probe: Probe) -> tzinfo:
    name = probe.cron.time_zone or "GMT"
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return timezone.utc


def _ago(seconds: float) -> str:
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
