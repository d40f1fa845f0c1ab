"""What of a report needs a person, the worst first, each with what to type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from negmem.core.models.report import (
    BenchSection,
    CostSection,
    DriftSection,
    HealthSection,
    Notice,
    RetentionSection,
    RetrievalSection,
    UnreadSection,
    Weight,
)

_ORDER: Mapping[Weight, int] = {"fail": 0, "warn": 1, "info": 2}
# A leading figure that fell by so much of itself is told.
_FELL = 0.02
_ENDED = {"failed": "failed", "cancelled": "was cancelled"}


def notices_of(found: Mapping[Any, Any], unread: Sequence[UnreadSection]) -> list[Notice]:
    """The notices over all sections that were read, and one for each that was not."""
    notices: list[Notice] = []
    if found.get("health"):
        notices += _of_health(found["health"])
    if found.get("drift"):
        notices += _of_drift(found["drift"])
    if found.get("retrieval"):
        notices += _of_retrieval(found["retrieval"])
    if found.get("retention"):
        notices += _of_retention(found["retention"])
    if found.get("cost"):
        notices += _of_cost(found["cost"])
    if found.get("benchmarks"):
        notices += _of_benchmarks(found["benchmarks"])
    notices += [
        Notice(
            weight="warn",
            section=one.section,
            text=f"{one.section} could not be read: {one.message}",
            command=one.hint,
        )
        for one in unread
    ]
    return sorted(notices, key=lambda one: _ORDER[one.weight])


def _of_health(health: HealthSection) -> list[Notice]:
    notices = [
        Notice(
            weight="fail" if one.severity == "fail" else "warn",
            section="health",
            text=f"{one.code}: {one.title}",
            command=one.remedy,
        )
        for one in health.diagnosis.findings
        if one.counts
    ]
    told = {
        one.title.partition(":")[0] for one in health.diagnosis.findings if one.code == "job_failed"
    }
    for job in health.jobs:
        if job.last_status in ("failed", "cancelled") and job.job not in told:
            notices.append(
                Notice(
                    weight="warn",
                    section="health",
                    text=f"the last run of {job.job} {_ENDED[job.last_status]}",
                    command=f"negmem automation logs {job.job}",
                )
            )
    return notices


def _of_drift(drift: DriftSection) -> list[Notice]:
    if not drift.drift:
        return []
    semantic = sum(one.significance == "semantic" for one in drift.changes)
    things = "1 thing differs" if semantic == 1 else f"{semantic:,} things differ"
    return [
        Notice(
            weight="warn",
            section="drift",
            text=f"{things} from what is declared",
            command="negmem diff",
        )
    ]


def _of_retrieval(retrieval: RetrievalSection) -> list[Notice]:
    missed = [
        f"{one.name.replace('_', ' ')} {one.value:,.4g} (wanted {one.target})"
        for one in retrieval.metrics.layers
        if one.state == "missed" and one.value is not None
    ]
    notices = []
    if missed:
        figures = (
            "1 figure misses its target" if len(missed) == 1 else f"{len(missed)} figures miss"
        )
        notices.append(
            Notice(
                weight="warn",
                section="retrieval",
                text=f"{figures}{'' if len(missed) == 1 else ' their targets'}: {', '.join(missed)}",
                command="negmem metrics",
            )
        )
    notices += [
        Notice(weight="info", section="retrieval", text=one.finding, command=one.command)
        for one in retrieval.metrics.advice
    ]
    return notices


def _of_retention(retention: RetentionSection) -> list[Notice]:
    if not retention.in_30_days or not retention.live:
        return []
    part = retention.in_30_days / retention.live
    return [
        Notice(
            weight="info",
            section="retention",
            text=f"{retention.in_30_days:,} memories ({part:.0%}) may be forgotten within 30 days"
            " if nobody reads them",
            command="negmem retention preview --days 30",
        )
    ]


def _of_cost(cost: CostSection) -> list[Notice]:
    notices = []
    if cost.failed:
        notices.append(
            Notice(
                weight="warn",
                section="cost",
                text=f"{cost.failed:,} consolidation jobs failed",
                command="negmem consolidate --list",
            )
        )
    if cost.unpriced_calls:
        notices.append(
            Notice(
                weight="info",
                section="cost",
                text=f"no price is known for {cost.unpriced_calls:,} calls of the language model",
                command="negmem config show",
            )
        )
    return notices


def _of_benchmarks(benchmarks: BenchSection) -> list[Notice]:
    notices = []
    for one in benchmarks.series:
        values = [point.value for point in one.points]
        if len(values) > 1 and values[-1] < values[-2] * (1 - _FELL):
            notices.append(
                Notice(
                    weight="warn",
                    section="benchmarks",
                    text=f"{one.metric} of {one.name} on {one.dataset or one.kind} fell from"
                    f" {values[-2]:,.4g} to {values[-1]:,.4g}",
                    command="negmem bench history",
                )
            )
    return notices
