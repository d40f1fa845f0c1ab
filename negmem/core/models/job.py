"""Runs of jobs: one that was just made, those on record, and lines for schedulers outside."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from negmem.core.models.base import Model

RunStatus = Literal["running", "succeeded", "failed", "skipped", "cancelled"]


class JobRun(Model):
    """A job was run now. `calls` transactions; `rows_touched` of all of them together.

    `skipped`: another run of it was under way, and nothing was done.
    """

    job_key: str
    app: str
    command: str
    dry_run: bool
    status: Literal["succeeded", "skipped", "not_run"]
    rows_touched: int
    calls: int
    message: str | None
    took_ms: float


class LoggedRun(Model):
    """One run on record. `sources`: cron.job_run_details, automation_runs, or both for one run.

    `started_through`: pg_cron, scheduler, manual or external. `rows_touched` null: not recorded.
    """

    job_key: str
    app: str | None
    status: RunStatus
    started_through: str
    sources: list[str]
    rows_touched: int | None
    message: str | None
    started_at: datetime | None
    finished_at: datetime | None
    took_ms: float | None
    job_id: int | None
    run_id: str
    pid: int | None
    started_by: str


class RunLog(Model):
    """The latest runs, newest first. `looked_at` names what could be read."""

    runs: list[LoggedRun]
    looked_at: list[str]
    truncated: bool


class PurgedRuns(Model):
    """Old records of runs that were deleted, or would be: of negmem's jobs alone.

    `job_run_details` null: pg_cron's log could not be had. `schedule_statement`: what makes pg_cron
    trim its own log of these jobs each night, to be run where pg_cron lives.
    """

    dry_run: bool
    keep_days: int
    automation_runs: int
    job_run_details: int | None
    schedule_statement: str | None


class JobExport(Model):
    """The jobs for a scheduler outside the database; `text` is a file of its format."""

    format: Literal["crontab", "systemd", "kubernetes"]
    jobs: list[str]
    text: str


class SchedulerRun(Model):
    """A built-in scheduler that has ended. `failed` counts cancelled runs too."""

    host: str
    process_id: int
    instance: str
    stopped_by: str
    led: bool
    succeeded: int
    failed: int
    skipped: int


class SchedulerLeader(Model):
    """Which process leads, or led last. `age_s`: since its last sign of life."""

    instance: str
    host: str
    process_id: int
    since: datetime
    beat_at: datetime
    lease_until: datetime
    is_alive: bool
    age_s: float


class ScheduledJob(Model):
    """A job as the built-in scheduler sees it; times null where there are none."""

    job_key: str
    app: str
    enabled: bool
    schedule: str
    last_started_at: datetime | None
    next_run_at: datetime | None
    is_due: bool


class SchedulerStatus(Model):
    """Whether a built-in scheduler lives, and what it has to do."""

    is_alive: bool
    leader: SchedulerLeader | None
    jobs: list[ScheduledJob]
