"""What the report's sections are read off: doctor, diff and metrics, and bounded queries of its own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from negmem.core.automation import job_runs
from negmem.core.automation.sync import diff
from negmem.core.bench.history import history
from negmem.core.diagnostics.runner import diagnose
from negmem.core.evolution.retention import read_policy
from negmem.core.models.report import (
    BenchPoint,
    BenchSection,
    BenchSeries,
    CostSection,
    DayCost,
    DayForecast,
    DayGrowth,
    DaySearches,
    DriftItem,
    DriftSection,
    GrowthSection,
    HealthSection,
    JobRecord,
    OwnerSize,
    OwnerSpread,
    RetentionSection,
    RetrievalSection,
    ScoreBin,
    TableSize,
    TopicSize,
    TopicsSection,
    TopicWord,
    TypeForecast,
    TypeStock,
)
from negmem.core.retrieval.metrics import measure, share
from negmem.core.session import Session

FORECAST_DAYS = 90
BINS = 20
MIN_USERS = 5
"""A word that the topics of so many users share is told of none of them."""
# Pages of a table that one statement reads at most: 16 MB, some 30,000 memories.
SAMPLE_PAGES = 2_000
_MOST_RUNS = 300
_MOST_BENCHMARKS = 500
_TOP = 12
_LEADING = (
    *("recall@5", "any@5", "recall@10", "accuracy", "operations_per_s", "ratio", "ndcg@10"),
    "mrr@10",
)


@dataclass(frozen=True)
class Scope:
    """What every section knows: the app, how far back, the tables' sizes, and whether to name persons."""

    session: Session
    now: datetime
    days: int
    personal: bool
    tables: list[dict[str, Any]]

    @property
    def since(self) -> datetime:
        """The first moment of the days that are shown, which begin at midnight UTC."""
        first = self.now - timedelta(days=self.days - 1)
        return first.replace(hour=0, minute=0, second=0, microsecond=0)

    @property
    def params(self) -> dict[str, Any]:
        """The app and the first moment."""
        return {"app_name": self.session.app, "since": self.since}

    def percent(self, table: str) -> float:
        """The share of a table's pages to read, so that at most SAMPLE_PAGES are read."""
        pages = next((row["pages"] for row in self.tables if row["name"] == table), 0)
        return 100.0 if pages <= SAMPLE_PAGES else 100.0 * SAMPLE_PAGES / pages

    def dates(self) -> list[Any]:
        """The days that are shown, the oldest first."""
        return [(self.since + timedelta(days=n)).date() for n in range(self.days)]

    def rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """The rows of one block of report.sql, in a read-only transaction of its own."""
        database = self.session.database
        with database.transaction(read_only=True):
            return database.rows("report", name, {**self.params, **params})


def read_health(scope: Scope) -> HealthSection:
    """Doctor's findings, and the runs of the jobs."""
    log = job_runs.logs(scope.session, limit=_MOST_RUNS)
    jobs: dict[str, list[Any]] = defaultdict(list)
    for run in log.runs:
        if run.app in (None, scope.session.app):
            jobs[run.job_key].append(run)
    return HealthSection(
        diagnosis=diagnose(scope.session),
        jobs=[
            JobRecord(
                job=key,
                runs=len(runs),
                failed=sum(run.status == "failed" for run in runs),
                last_status=runs[0].status,
                last_started_at=runs[0].started_at,
                last_message=runs[0].message,
            )
            for key, runs in sorted(jobs.items())
        ],
        runs_read_from=log.looked_at,
    )


def read_drift(scope: Scope) -> DriftSection:
    """What `diff` finds, without the texts."""
    found = diff(scope.session)
    left = {(one.kind, one.name) for one in found.left_by_sync}
    return DriftSection(
        drift=found.drift,
        declared_in=found.declared_in,
        unchanged=found.unchanged,
        changes=[
            DriftItem(
                kind=one.kind,
                name=one.name,
                reason=one.reason,
                action=one.action,
                significance=one.significance,
                differences=one.differences,
                left_by_sync=(one.kind, one.name) in left,
            )
            for one in found.changes
        ],
        unmanaged=len(found.unmanaged),
    )


def read_growth(scope: Scope) -> GrowthSection:
    """Sizes, types, and what came and went day by day."""
    memories, events = scope.percent("memories"), scope.percent("events")
    facts, owners = scope.percent("facts"), scope.percent("memory_term_stats")
    by_day = {
        row["day"]: row
        for row in scope.rows(
            "growth", memories_percent=memories, events_percent=events, facts_percent=facts
        )
    }
    types = [
        TypeStock(
            type=row["type"],
            **{key: _scaled(row[key], memories) for key in ("live", "pinned", "removed")},
        )
        for row in scope.rows("stock", percent=memories)
    ]
    spread = scope.rows("owners", percent=owners)[0]
    largest = scope.rows("largest_owners", percent=owners, row_limit=_TOP) if scope.personal else []
    days = []
    for day in scope.dates():
        row = by_day.get(day, {})
        days.append(
            DayGrowth(
                day=day,
                turns=_scaled(row.get("turns", 0), events),
                memories=_scaled(row.get("memories", 0), memories),
                facts=_scaled(row.get("facts", 0), facts),
                removed=_scaled(row.get("removed", 0), memories),
            )
        )
    return GrowthSection(
        is_sampled=min(memories, events, facts, owners) < 100,
        total_bytes=sum(row["total_bytes"] for row in scope.tables),
        tables=[
            TableSize(
                name=row["name"],
                rows=row["estimated_rows"],
                table_bytes=row["table_bytes"],
                index_bytes=row["index_bytes"],
                total_bytes=row["total_bytes"],
            )
            for row in scope.tables[:_TOP]
        ],
        types=types,
        live=sum(one.live for one in types),
        removed=sum(one.removed for one in types),
        days=days,
        owners=OwnerSpread(**{**spread, "users": _scaled(spread["users"], owners)})
        if spread["users"]
        else None,
        largest_owners=[OwnerSize(**row) for row in largest],
    )


def read_retention(scope: Scope) -> RetentionSection:
    """The spread of scores now, and what goes within 90 days by the stored settings."""
    policy = read_policy(scope.session)
    percent = scope.percent("memories")
    settings = {key: policy.params[key] for key in ("threshold", "min_age_days", "decay_lambda")}
    rows = scope.rows(
        "retention",
        percent=percent,
        days=FORECAST_DAYS,
        bins=BINS,
        keep_importance=policy.settings.keep_importance,
        **settings,
    )
    scores = [row for row in rows if row["is_score"]]
    going = [row for row in rows if not row["is_score"] and row["day"] is not None]

    def due(days: int, of: list[dict[str, Any]], what: str = "memories") -> int:
        return _scaled(sum(row[what] for row in of if row["day"] <= days), percent)

    by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in scores:
        by_type[row["type"]].append(row)
    types = []
    for name, own in by_type.items():
        live = sum(row["memories"] for row in own)
        mine = [row for row in going if row["type"] == name]
        types.append(
            TypeForecast(
                type=name,
                live=_scaled(live, percent),
                mean_score=round(sum(row["score_sum"] for row in own) / live, 4),
                in_30_days=due(30, mine),
                in_90_days=due(FORECAST_DAYS, mine),
            )
        )
    seen = sum(row["memories"] for row in scores)
    return RetentionSection(
        is_sampled=percent < 100,
        settings=policy.settings,
        live=_scaled(seen, percent),
        mean_score=round(sum(row["score_sum"] for row in scores) / seen, 4) if seen else None,
        under_threshold=_scaled(sum(row["under"] for row in scores), percent),
        bins=[
            ScoreBin(
                low=(n - 1) / BINS,
                high=n / BINS,
                memories=_scaled(
                    sum(row["memories"] for row in scores if row["bin"] == n), percent
                ),
            )
            for n in range(1, BINS + 1)
        ],
        days=[
            DayForecast(
                day=day,
                memories=_scaled(
                    sum(row["memories"] for row in going if row["day"] == day), percent
                ),
                tokens=_scaled(sum(row["tokens"] for row in going if row["day"] == day), percent),
            )
            for day in range(FORECAST_DAYS + 1)
        ],
        types=sorted(types, key=lambda one: (-one.live, one.type)),
        in_30_days=due(30, going),
        tokens_in_30_days=due(30, going, "tokens"),
        in_90_days=due(FORECAST_DAYS, going),
        tokens_in_90_days=due(FORECAST_DAYS, going, "tokens"),
    )


def read_retrieval(scope: Scope) -> RetrievalSection:
    """The figures of `metrics`, and the searches day by day."""
    percent = scope.percent("memory_retrieval_logs")
    by_day = {row["day"]: row for row in scope.rows("searches", percent=percent)}
    days = []
    for day in scope.dates():
        row = by_day.get(day, {})
        asked = row.get("searches", 0)
        days.append(
            DaySearches(
                day=day,
                searches=_scaled(asked, percent),
                empty_rate=share(row.get("empty", 0), asked),
                fallback_rate=share(row.get("fell", 0), asked),
                p50_ms=_rounded(row.get("p50_ms")),
                p95_ms=_rounded(row.get("p95_ms")),
            )
        )
    return RetrievalSection(is_sampled=percent < 100, metrics=measure(scope.session), days=days)


def read_cost(scope: Scope) -> CostSection:
    """What jobs took of the language model, and the tokens of contexts that were handed out."""
    jobs_percent = scope.percent("consolidation_jobs")
    logs_percent = scope.percent("memory_retrieval_logs")
    jobs = {row["day"]: row for row in scope.rows("jobs", percent=jobs_percent)}
    asked = {row["day"]: row for row in scope.rows("searches", percent=logs_percent)}
    days = []
    for day in scope.dates():
        job, log = jobs.get(day, {}), asked.get(day, {})
        tokens = job.get("prompt_tokens", 0) + job.get("completion_tokens", 0)
        cost = job.get("cost_usd")
        days.append(
            DayCost(
                day=day,
                jobs=_scaled(job.get("done", 0) + job.get("failed", 0), jobs_percent),
                failed=_scaled(job.get("failed", 0), jobs_percent),
                calls=_scaled(job.get("calls", 0), jobs_percent),
                tokens=_scaled(tokens, jobs_percent),
                cost_usd=None if cost is None else round(cost * 100 / jobs_percent, 6),
                contexts=_scaled(log.get("contexts", 0), logs_percent),
                context_tokens=_scaled(log.get("context_tokens", 0), logs_percent),
            )
        )
    priced = [one.cost_usd for one in days if one.cost_usd is not None]
    stored = scope.session.database.row(
        "diagnostics", "active_model", {"app_name": scope.session.app}
    )

    def total(name: str) -> int:
        return _scaled(sum(row[name] for row in jobs.values()), jobs_percent)

    return CostSection(
        is_sampled=min(jobs_percent, logs_percent) < 100,
        model=scope.session.config.llm.model,
        embedder=None if stored is None else f"{stored['provider']} ({stored['model']})",
        days=days,
        jobs=sum(one.jobs for one in days),
        failed=sum(one.failed for one in days),
        calls=total("calls"),
        prompt_tokens=total("prompt_tokens"),
        completion_tokens=total("completion_tokens"),
        fallbacks=total("fallbacks"),
        cost_usd=round(sum(priced), 6) if priced else None,
        unpriced_calls=total("unpriced_calls"),
        contexts=sum(one.contexts for one in days),
        context_tokens=sum(one.context_tokens for one in days),
    )


def read_topics(scope: Scope) -> TopicsSection:
    """How many topics, the words that many users share, and on request the largest by name."""
    percent = scope.percent("memory_topics")
    totals = scope.rows("topic_totals", percent=percent)[0]
    words = scope.rows("topic_words", percent=percent, min_users=MIN_USERS, row_limit=2 * _TOP)
    named = scope.rows("topics", percent=percent, row_limit=_TOP) if scope.personal else []
    return TopicsSection(
        is_sampled=percent < 100,
        topics=_scaled(totals["topics"], percent),
        users=totals["users"],
        memories=_scaled(totals["memories"], percent),
        largest=totals["largest"],
        min_users=MIN_USERS,
        words=[TopicWord(**row) for row in words],
        named=[TopicSize(**row) for row in named],
    )


def read_benchmarks(scope: Scope) -> BenchSection:
    """The runs on record, each benchmark a series."""
    found = history(scope.session, limit=_MOST_BENCHMARKS)
    grouped: dict[tuple[str, str, str], list[Any]] = defaultdict(list)
    for run in reversed(found.runs):
        grouped[run.kind, run.dataset or "", run.name].append(run)
    series = []
    for (kind, dataset, name), runs in sorted(grouped.items()):
        metric = next((one for one in _LEADING if one in runs[-1].metrics), None)
        points = [
            BenchPoint(at=run.started_at, value=run.metrics[metric])
            for run in runs
            if metric is not None and metric in run.metrics
        ]
        series.append(
            BenchSeries(
                kind=kind,
                dataset=dataset or None,
                name=name,
                metric=metric,
                points=points,
                latest=runs[-1],
            )
        )
    return BenchSection(series=series, truncated=found.truncated)


def _scaled(count: int, percent: float) -> int:
    """A count over a sample as one over all."""
    return round(count * 100 / percent) if percent < 100 else int(count)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
