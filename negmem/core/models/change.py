"""What `diff` finds and `sync` does: one change a thing, and the jobs' switches."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from negmem.core.models.base import Model
from negmem.core.models.diagnosis import Capabilities

Kind = Literal[
    "config", "function", "job", "index", "extension", "embedding", "role", "grant", "policy"
]
Action = Literal["create", "update", "replace", "delete"]
Significance = Literal["semantic", "cosmetic"]
JobState = Literal["scheduled", "disabled", "missing", "drifted", "degraded", "unknown"]


class Change(Model):
    """One difference between what is declared and what the database holds.

    `reason`: missing; outdated (as an older negmem wrote it), edited (changed since), unmanaged (no
    trace of negmem), leftover (negmem's, no longer wanted); yaml_changed, stored_changed,
    both_changed for config. `differences` names what differs; `before` and `after` are whole texts.
    """

    kind: Kind
    name: str
    state: Literal["missing", "drifted"]
    reason: str
    action: Action
    significance: Significance
    before: str | None
    after: str | None
    differences: list[str]
    detail: str


class SkippedChange(Change):
    """A change that `sync` left alone, why, and what would make it."""

    why: str
    hint: str


class UnmanagedObject(Model):
    """Something in the schema that is not negmem's: shown, never touched."""

    kind: Kind
    name: str


class Difference(Model):
    """The answer of `diff`. Cosmetic changes alone are no drift.

    `left_by_sync`: those of the changes that a plain `sync` would leave, why, and what would make them.
    """

    drift: bool
    changes: list[Change]
    unmanaged: list[UnmanagedObject]
    left_by_sync: list[SkippedChange]
    unchanged: int
    declared_in: str | None
    target: str
    schema_name: str
    app: str


class SyncReport(Model):
    """The answer of `sync`. With `dry_run`, `applied` is what would be."""

    dry_run: bool
    applied: list[Change]
    skipped: list[SkippedChange]
    unchanged: int
    degraded_reasons: list[str]
    unmanaged: list[UnmanagedObject]
    target: str
    schema_name: str
    app: str


class ManagedFunction(Model):
    """One managed function; `definition` is what stands, or what should."""

    name: str
    signature: str
    schema_name: str
    status: Literal["present", "missing", "drifted"]
    reason: str | None
    definition: str
    managed: bool = True


class NextRun(Model):
    """A time at which a schedule is due: in UTC, as pg_cron's zone and as the reader's clock show it."""

    at: datetime
    cron_zone: str
    local: str


class Job(Model):
    """One predefined job: what the config asks for and what pg_cron holds.

    `differences` of a drifted one: schedule, command, database, owner, active, switched_off,
    duplicate, not_recorded.
    """

    job_key: str
    name: str
    process_label: str
    function_name: str
    enabled: bool
    status: JobState
    reason: str
    job_id: int | None
    schedule: str
    command: str
    active: bool | None
    app: str
    differences: list[str]
    next_runs: list[NextRun]


class Health(Model):
    """Healthy when nothing degrades the automation."""

    status: Literal["healthy", "degraded"]


class AutomationSnapshot(Model):
    """Config, functions, jobs and capabilities of one app at one moment."""

    app: str
    is_main: bool
    revision: int
    updated_by: str | None
    config: dict[str, Any]
    capabilities: Capabilities
    functions: list[ManagedFunction]
    jobs: list[Job]
    health: Health
    degraded_reasons: list[str]
    target: str
    schema_name: str


class JobSwitch(Model):
    """A job's wish was stored; `scheduled` says whether something runs it by that wish."""

    job_key: str
    app: str
    enabled: bool
    changed: bool
    dry_run: bool
    actor: str
    key: str
    schedule: str
    command: str
    status: JobState
    scheduled: bool
    applied: list[Change]
    skipped: list[SkippedChange]


class Reconciled(Model):
    """One job was put right in pg_cron; `job` is how it stands afterwards."""

    job_key: str
    app: str
    dry_run: bool
    applied: list[Change]
    skipped: list[SkippedChange]
    job: Job
