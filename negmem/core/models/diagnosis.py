"""What `doctor` finds: capabilities, findings, areas, and the verdict."""

from __future__ import annotations

from typing import Literal

from negmem.core.models.base import Model

Severity = Literal["fail", "warn", "info"]
Status = Literal["healthy", "degraded", "unusable"]
CheckStatus = Literal["ok", "found", "unknown", "skipped", "crashed"]
AreaStatus = Literal["ok", "warn", "fail", "skip"]
CronState = Literal["not_available", "not_preloaded", "not_created", "created"]


class Finding(Model):
    """One thing that is not as it should be, with its evidence and a remedy to paste.

    `severity` info is reported and never counted; `accepted` ones are known by `doctor.accept`.
    `blocks` says that negmem can't work until it is mended; such a one can't be accepted.
    """

    code: str
    severity: Severity
    title: str
    evidence: str
    remedy: str
    area: str
    blocks: bool = False
    accepted: bool = False
    fixable: bool = False

    @property
    def counts(self) -> bool:
        """Whether it makes the system degraded."""
        return self.severity != "info" and not self.accepted


class Capabilities(Model):
    """What the database can carry. None means unknown: not reached, or this role may not look."""

    vector_installed: bool | None = None
    vector_version: str | None = None
    vector_available_version: str | None = None
    vector_schema: str | None = None
    vector_halfvec: bool | None = None
    vector_bit_distance: bool | None = None
    vector_iterative_scan: bool | None = None
    pg_cron_installed: bool | None = None
    pg_cron_available: bool | None = None
    pg_cron_logs_accessible: bool | None = None
    pg_cron_state: CronState | None = None
    pg_cron_version: str | None = None
    pg_cron_database: str | None = None
    pg_cron_time_zone: str | None = None
    pg_cron_can_schedule: bool | None = None
    pg_cron_sees_all_jobs: bool | None = None
    age_preloaded: bool | None = None
    age_installed: bool | None = None
    server_version: str | None = None
    database: str | None = None
    role: str | None = None
    role_is_superuser: bool | None = None
    encoding: str | None = None
    time_zone: str | None = None
    is_standby: bool | None = None
    can_write: bool | None = None
    pooled: bool | None = None
    clock_ahead_ms: float | None = None


class CheckOutcome(Model):
    """How one check ended; `reason` says why it was skipped or could not look."""

    code: str
    area: str
    status: CheckStatus
    reason: str = ""
    took_ms: float = 0.0


class AreaReport(Model):
    """One line of the screen: an area, its worst status and what was seen there."""

    name: str
    status: AreaStatus
    summary: str
    checks: int


class Repair(Model):
    """What `--fix` did about a finding, or would do (`done` false)."""

    code: str
    action: str
    done: bool


class Diagnosis(Model):
    """The state of one negmem database. A capability that is missing never makes it fail."""

    status: Status
    capabilities: Capabilities
    degraded_reasons: list[str]
    findings: list[Finding]
    areas: list[AreaReport]
    checks: list[CheckOutcome]
    repairs: list[Repair]
    target: str
    schema_name: str
    app: str
    negmem_version: str
    took_ms: float


class CheckDescription(Model):
    """One line of `doctor --list`."""

    code: str
    area: str
    looks_at: str
    needs: list[str]
    slow: bool
    page: str


class CheckList(Model):
    """All checks, in the order in which they run."""

    checks: list[CheckDescription]
