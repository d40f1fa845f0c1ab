"""What the memory is worth, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Literal

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

MetricState = Literal["met", "missed", "unknown"]


class RetrievalWindow(Model):
    """Searches and feedback of the last `days`; a rate is None where there was nothing to count.

    Searches are questions: repeats and further pages within the repeat window are left out, recalls too.
    `precision_at_k` is items named as used over items returned, on the retrievals with feedback;
    `utilization_rate`, `noise_rate` and `harmful_rate` are shares of all feedback; `repeat_rate` is the
    share of questions that the same user had asked before within the window.
    """

    days: int
    since: Instant
    until: Instant
    searches: int
    contexts: int
    hit_rate: float | None
    zero_hit_rate: float | None
    fallback_rate: float | None
    fallbacks: dict[str, int]
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    context_utilization: float | None
    repeat_rate: float | None
    feedback: int
    precision_at_k: float | None
    utilization_rate: float | None
    noise_rate: float | None
    harmful_rate: float | None
    mean_rating: float | None


class LayerMetric(Model):
    """One figure of the four layers with its target; `basis` says what it was read off, or why not."""

    layer: Literal["L0", "L1", "L2", "L3"]
    name: str
    value: float | None
    target: str
    state: MetricState
    basis: str


class Trend(Model):
    """A figure of the last `days` beside the same figure of the `days` before."""

    name: str
    days: int
    now: float | None
    before: float | None
    change: float | None


class Advice(Model):
    """What the figures suggest. `key` is the setting that `metrics --apply` would set to `proposed`."""

    code: str
    finding: str
    key: str | None
    current: float | None
    proposed: float | None
    command: str
    applied: bool


class Metrics(Model):
    """The worth of an app's memory, or of one user's."""

    app: str
    user: str | None
    windows: list[RetrievalWindow]
    layers: list[LayerMetric]
    trends: list[Trend]
    advice: list[Advice]
    dry_run: bool
