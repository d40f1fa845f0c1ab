"""The state of a deployment, as the API returns it, `report --json` prints it and the page shows it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from negmem.core.models.base import Model
from negmem.core.models.bench import RecordedRun
from negmem.core.models.diagnosis import Diagnosis
from negmem.core.models.memory import Instant
from negmem.core.models.metrics import Metrics
from negmem.core.models.retention import RetentionSettings

SectionName = Literal[
    "health", "drift", "growth", "retention", "retrieval", "cost", "topics", "benchmarks"
]
SECTIONS: tuple[SectionName, ...] = (
    "health",
    "drift",
    "growth",
    "retention",
    "retrieval",
    "cost",
    "topics",
    "benchmarks",
)
Weight = Literal["fail", "warn", "info"]


class UnreadSection(Model):
    """A section that could not be read, with the error's own words; all others stand."""

    section: SectionName
    code: str
    message: str
    why: str
    hint: str


class Notice(Model):
    """Something a person should look at, the worst first; `command` says what to type."""

    weight: Weight
    section: SectionName
    text: str
    command: str


class JobRecord(Model):
    """The runs on record of one job. `last_*` are null where none is."""

    job: str
    runs: int
    failed: int
    last_status: str | None
    last_started_at: Instant | None
    last_message: str | None


class HealthSection(Model):
    """What doctor says, and how the jobs ran lately."""

    diagnosis: Diagnosis
    jobs: list[JobRecord]
    runs_read_from: list[str]


class DriftItem(Model):
    """One difference, without its texts: `negmem diff NAME` shows them."""

    kind: str
    name: str
    reason: str
    action: str
    significance: str
    differences: list[str]
    left_by_sync: bool


class DriftSection(Model):
    """What differs between YAML, stored config and database."""

    drift: bool
    declared_in: str | None
    unchanged: int
    changes: list[DriftItem]
    unmanaged: int


class TableSize(Model):
    """A table with its indexes; `rows` by the planner's statistics, null where there are none yet."""

    name: str
    rows: int | None
    table_bytes: int
    index_bytes: int
    total_bytes: int


class DayGrowth(Model):
    """What was stored, and what was removed, on one day (UTC)."""

    day: date
    turns: int
    memories: int
    facts: int
    removed: int


class TypeStock(Model):
    """Memories of one type."""

    type: str
    live: int
    pinned: int
    removed: int


class OwnerSpread(Model):
    """How many memories users have: the middle user, one in twenty above `p95`, the largest."""

    users: int
    median: int
    p95: int
    most: int


class OwnerSize(Model):
    """One of the largest users. Only where personal content was asked for."""

    user: str
    memories: int


class GrowthSection(Model):
    """How much there is and how it grew; `is_sampled` says that rows were estimated from some pages."""

    is_sampled: bool
    total_bytes: int
    tables: list[TableSize]
    types: list[TypeStock]
    live: int
    removed: int
    days: list[DayGrowth]
    owners: OwnerSpread | None
    largest_owners: list[OwnerSize]


class ScoreBin(Model):
    """Live memories whose score now lies in [low, high)."""

    low: float
    high: float
    memories: int


class DayForecast(Model):
    """What may be forgotten `day` days from now if nobody reads it; 0: it may go now."""

    day: int
    memories: int
    tokens: int


class TypeForecast(Model):
    """What may go of one type, with the mean score of what lives."""

    type: str
    live: int
    mean_score: float | None
    in_30_days: int
    in_90_days: int


class RetentionSection(Model):
    """The spread of scores now, and what goes next by the stored settings."""

    is_sampled: bool
    settings: RetentionSettings
    live: int
    mean_score: float | None
    under_threshold: int
    bins: list[ScoreBin]
    days: list[DayForecast]
    types: list[TypeForecast]
    in_30_days: int
    tokens_in_30_days: int
    in_90_days: int
    tokens_in_90_days: int


class DaySearches(Model):
    """Searches of one day (UTC); rates are shares of them."""

    day: date
    searches: int
    empty_rate: float | None
    fallback_rate: float | None
    p50_ms: float | None
    p95_ms: float | None


class RetrievalSection(Model):
    """What the memory is worth: the figures of `metrics`, and the searches day by day."""

    is_sampled: bool
    metrics: Metrics
    days: list[DaySearches]


class DayCost(Model):
    """What one day (UTC) took. `cost_usd` is null where no price is known."""

    day: date
    jobs: int
    failed: int
    calls: int
    tokens: int
    cost_usd: float | None
    contexts: int
    context_tokens: int


class CostSection(Model):
    """What language models took: in consolidation, and as contexts that were handed out.

    `unpriced_calls` were made by models whose price is not known. Contexts are paid by whoever puts
    them before a model.
    """

    is_sampled: bool
    model: str | None
    embedder: str | None
    days: list[DayCost]
    jobs: int
    failed: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    fallbacks: int
    cost_usd: float | None
    unpriced_calls: int
    contexts: int
    context_tokens: int


class TopicWord(Model):
    """A word of topic labels that several users share."""

    word: str
    users: int
    memories: int


class TopicSize(Model):
    """One of the largest topics. Only where personal content was asked for."""

    user: str
    label: str
    memories: int
    created_at: Instant
    updated_at: Instant


class TopicsSection(Model):
    """What is spoken of. Words are told where the topics of `min_users` users or more share them."""

    is_sampled: bool
    topics: int
    users: int
    memories: int
    largest: int
    min_users: int
    words: list[TopicWord]
    named: list[TopicSize]


class BenchPoint(Model):
    """The leading figure of one run."""

    at: Instant
    value: float


class BenchSeries(Model):
    """Runs of one benchmark over time, the oldest first; `metric` names the figure that leads."""

    kind: str
    dataset: str | None
    name: str
    metric: str | None
    points: list[BenchPoint]
    latest: RecordedRun


class BenchSection(Model):
    """Benchmark runs on record."""

    series: list[BenchSeries]
    truncated: bool


class Report(Model):
    """The state of one app's memory at `made_at`. A section is null where it could not be read.

    `personal` says whether users and topics are named; what the database role may not see is left
    out all the same. `days` is how far back the daily figures go.
    """

    app: str
    other_apps: list[str]
    target: str
    schema_name: str
    server_version: str
    vector_version: str | None
    negmem_version: str
    installed_at: Instant | None
    made_at: Instant
    days: int
    personal: bool
    notices: list[Notice]
    health: HealthSection | None
    drift: DriftSection | None
    growth: GrowthSection | None
    retention: RetentionSection | None
    retrieval: RetrievalSection | None
    cost: CostSection | None
    topics: TopicsSection | None
    benchmarks: BenchSection | None
    unread: list[UnreadSection]
    page: str | None
    took_ms: float
