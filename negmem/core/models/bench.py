"""Benchmark runs, as the API returns them and `--json` prints them."""

from __future__ import annotations

from negmem.core.models.base import Model

DATASETS = ("locomo", "longmemeval", "memdaily", "memorybank", "own")


class Figures(Model):
    """Means over `questions` questions: recall@k, any@k, all@k, ndcg@k, mrr@10, each in [0, 1]."""

    questions: int
    metrics: dict[str, float]


class Latency(Model):
    """Milliseconds of a search for ten results, its embedding included."""

    p50: float
    p95: float


class BenchConfig(Model):
    """What was measured: the level, the weights, the embedding model, and how much was stored."""

    name: str
    level: str
    semantic_weight: float
    keyword_weight: float
    embedding: str | None
    conversations: int
    memories: int
    variant: str | None
    results_ranked: int
    ingest_s: float


class BenchRun(Model):
    """One configuration on one data set.

    `metrics` is turn level over the headline questions, `session_metrics` session level;
    `mean_characters_in_10` is the text that the first ten results hold.
    """

    questions: int
    metrics: dict[str, float]
    session_metrics: dict[str, float]
    by_category: dict[str, Figures]
    latency_ms: Latency
    mean_characters_in_10: float
    fallbacks: dict[str, int]
    config: BenchConfig


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
    session_metrics: dict[str, float]
    by_category: dict[str, Figures]
    latency_ms: Latency
    mean_characters_in_10: float
    fallbacks: dict[str, int]
    config: BenchConfig
    versions: dict[str, str]
    compared: list[BenchRun]
    bars: list[Bar]
    took_s: float
