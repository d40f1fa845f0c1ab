"""From outcomes and findings to the verdict: status, reasons, and a line an area."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import AREAS, Check
from negmem.core.models.diagnosis import AreaReport, AreaStatus, CheckOutcome, Finding, Status

# The order in which the first design lists its reasons; all others follow as they were found.
_REASON_ORDER = (
    "pg_cron_not_installed",
    "pg_cron_unavailable",
    "pg_cron_logs_unavailable",
    "function_missing",
    "function_drifted",
    "job_missing",
    "job_drifted",
)


def status_of(findings: Sequence[Finding]) -> Status:
    """Unusable when anything blocks, degraded when anything counts, else healthy."""
    if any(f.blocks for f in findings):
        return "unusable"
    return "degraded" if any(f.counts for f in findings) else "healthy"


def reasons(findings: Sequence[Finding]) -> list[str]:
    """The codes that count, each once: the first design's order, then as found."""
    codes = list(dict.fromkeys(f.code for f in findings if f.counts))
    known = [c for c in _REASON_ORDER if c in codes]
    blocking = list(dict.fromkeys(f.code for f in findings if f.blocks))
    return list(dict.fromkeys([*blocking, *known, *codes]))


def area_reports(
    probe: Probe,
    chosen: Sequence[Check],
    outcomes: Mapping[str, CheckOutcome],
    findings: Sequence[Finding],
) -> list[AreaReport]:
    """One line for each area that was looked at: its worst finding, or what it says when well."""
    reports = []
    for area in AREAS:
        own = [outcomes[c.code] for c in chosen if c.area == area and c.code in outcomes]
        if not own:
            continue
        status = _area_status([f for f in findings if f.area == area], own)
        summary = list(dict.fromkeys(probe.notes.get(area, [])))
        if status == "skip":
            summary = list(dict.fromkeys(o.reason for o in own if o.reason))[:1]
        unknown = [o for o in own if o.status == "unknown"]
        if unknown and status != "skip":
            summary.append(f"{len(unknown)} unknown to this role")
        reports.append(
            AreaReport(name=area, status=status, summary=" · ".join(summary), checks=len(own))
        )
    return reports


def _area_status(findings: Sequence[Finding], outcomes: Sequence[CheckOutcome]) -> AreaStatus:
    counted = [f.severity for f in findings if f.counts]
    if "fail" in counted:
        return "fail"
    if "warn" in counted:
        return "warn"
    ran = [o for o in outcomes if o.status in ("ok", "found", "crashed")]
    return "ok" if ran else "skip"
