"""Benchmark runs, as the API returns them and `--json` prints them."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

DATASETS = ("locomo", "longmemeval", "memdaily", "memorybank", "own")


Interval = tuple[float, float]


class Figures(Model):
    """Means over `questions` questions: recall@k, any@k, all@k, ndcg@k, mrr@10, each in [0, 1].

    `intervals` are those in which 95 % of the means of resampled questions lie.
    """

    questions: int
    metrics: dict[str, float]
    intervals: dict[str, Interval]


class Latency(Model):
    """Milliseconds of a search for ten results, without what embeds the question."""

    p50: float
    p95: float


class BenchConfig(Model):
    """What was measured: the level, the weights, the embedding model, and how much was stored."""

    name: str
    level: str
    semantic_weight: float
    keyword_weight: float
    retrieval: dict[str, float | int | bool]
    embedding: str | None
    conversations: int
    memories: int
    variant: str | None
    results_ranked: int
    ingest_s: float


class BenchRun(Model):
    """One configuration on one data set.

    `metrics` is turn level over the headline questions, `session_metrics` session level, each with its
    95 % intervals by resampling of questions (bootstrap, fixed seed);
    `mean_characters_in_10` is the text that the first ten results hold.
    """

    questions: int
    metrics: dict[str, float]
    intervals: dict[str, Interval]
    session_metrics: dict[str, float]
    session_intervals: dict[str, Interval]
    by_category: dict[str, Figures]
    latency_ms: Latency
    mean_characters_in_10: float
    fallbacks: dict[str, int]
    config: BenchConfig


class MetricDifference(Model):
    """How a run differs from the first one, question by question; clear where the interval leaves out 0."""

    name: str
    metric: str
    difference: float
    interval: Interval
    is_clear: bool


class Bar(Model):
    """A figure that must be reached, and what was reached by the worst of the runs."""

    metric: str
    wanted: float
    reached: float
    passed: bool


class RetrievalBench(Model):
    """A benchmark of retrieval: the first run, with the others of a comparison beside it."""

    dataset: str
    questions: int
    metrics: dict[str, float]
    intervals: dict[str, Interval]
    session_metrics: dict[str, float]
    session_intervals: dict[str, Interval]
    by_category: dict[str, Figures]
    latency_ms: Latency
    mean_characters_in_10: float
    fallbacks: dict[str, int]
    config: BenchConfig
    versions: dict[str, str]
    compared: list[BenchRun]
    differences: list[MetricDifference]
    bars: list[Bar]
    took_s: float
    data_hash: str
    seed: int
    recorded: list[UUID]


class LoadConfig(Model):
    """What was put on the server; `reads` is the share of searches, the rest adds memories."""

    name: str
    rows: int
    users: int
    clients: int
    reads: float
    seconds: float


class LoadRun(Model):
    """What so many clients at once did; latencies are the clients' own, embedding excluded."""

    clients: int
    searches: int
    writes: int
    errors: int
    operations_per_s: float
    search_ms: Latency
    write_ms: Latency


class LoadBench(Model):
    """One client alone, then many. `ratio` is their operations a second over its.

    `lost_accesses` are results of recorded searches that no memory counts, `lost_logs` searches without
    a log: both should be 0.
    """

    config: LoadConfig
    single: LoadRun
    many: LoadRun
    ratio: float
    expected_accesses: int
    lost_accesses: int
    lost_logs: int
    error_texts: list[str]
    versions: dict[str, str]
    bars: list[Bar]
    took_s: float
    seed: int
    recorded: list[UUID]


class JudgeConfig(Model):
    """Which model answered and graded, from how large a context, found at which level."""

    name: str
    model: str
    level: str
    context_tokens: int


class JudgeCategory(Model):
    """The share of right answers in one category."""

    graded: int
    accuracy: float


class JudgeBench(Model):
    """Answers graded by a model. `accuracy` is over `graded` of `questions`; `refusals` says why not all.

    `stopped` is why the rest was not asked: a ceiling, or a model that refuses every call.
    """

    dataset: str
    questions: int
    graded: int
    accuracy: float
    interval: Interval
    by_category: dict[str, JudgeCategory]
    refusals: dict[str, int]
    stopped: str | None
    calls: int
    tokens: int
    cost_usd: float | None
    config: JudgeConfig
    versions: dict[str, str]
    took_s: float
    data_hash: str
    seed: int
    recorded: list[UUID]


class RecordedRun(Model):
    """A run that was recorded. `changes` are against the run before it of the same kind, set, data and name."""

    id: UUID
    kind: str
    dataset: str | None
    name: str
    data_hash: str | None
    seed: int | None
    config: dict[str, object]
    versions: dict[str, str]
    metrics: dict[str, float]
    changes: dict[str, float]
    started_at: Instant
    finished_at: Instant | None


class BenchHistory(Model):
    """Recorded runs, the newest first."""

    runs: list[RecordedRun]
    truncated: bool
