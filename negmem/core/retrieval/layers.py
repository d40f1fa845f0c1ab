"""The four layers of value, L0 to L3, each figure with its target; what can't be known says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.core.models.metrics import LayerMetric, MetricState

if TYPE_CHECKING:
    from negmem.core.retrieval.metrics import Figures


def layers_of(found: Figures) -> list[LayerMetric]:
    """All figures of the layers, over the last 30 days where they are of a span of time."""
    return [*_platform(found), *_content(found), *_effect(found), *_people(found)]


def _platform(found: Figures) -> list[LayerMetric]:
    month, stock, runs = found.now[30], found.stock, found.runs
    embedded = None
    basis = "no embedding model is set: search works by keyword"
    if found.has_model and stock["memories"]:
        embedded = stock["embedded"] / stock["memories"]
        basis = f"{stock['embedded']:,} of {stock['memories']:,} memories have their vector"
    elif found.has_model:
        basis = "there is no memory"
    ended = runs["succeeded"] + runs["failed"]
    return [
        _metric(
            "L0",
            "search_latency_p95_ms",
            month.latency_p95_ms,
            "< 100",
            f"{month.searches:,} searches in 30 days, in the database",
        ),
        _metric("L0", "embedding_success", embedded, "> 0.99", basis),
        _metric(
            "L0",
            "automation_health",
            runs["succeeded"] / ended if ended else None,
            "> 0.95",
            f"{runs['succeeded']:,} of {ended:,} runs of jobs succeeded in 30 days"
            if ended
            else "no job ran in 30 days",
        ),
    ]


def _content(found: Figures) -> list[LayerMetric]:
    stock, retention = found.stock, found.retention
    users, facts = stock["users"], stock["facts"]
    sampled = " of a sample" if retention["is_sampled"] else ""
    return [
        _metric(
            "L1",
            "mean_retention",
            retention["retention"],
            "> 0.15",
            f"{retention['memories']:,} memories{sampled}, scored now"
            if retention["memories"]
            else "there is no memory",
        ),
        _metric(
            "L1",
            "coverage",
            stock["users_with_memory"] / users if users else None,
            "> 0.80",
            f"{stock['users_with_memory']:,} of {users:,} users have a memory"
            if users
            else "there is no user",
        ),
        _metric(
            "L1",
            "fact_activity",
            stock["valid_facts"] / facts if facts else None,
            "> 0.70",
            f"{stock['valid_facts']:,} of {facts:,} facts are valid"
            if facts
            else "there is no fact",
        ),
    ]


def _effect(found: Figures) -> list[LayerMetric]:
    month = found.now[30]
    asked = f"{month.searches:,} searches in 30 days"
    return [
        _metric("L2", "hit_rate", month.hit_rate, "> 0.85", asked),
        _metric(
            "L2",
            "context_utilization",
            month.context_utilization,
            "0.40 to 0.70",
            f"{month.contexts:,} context{'s' if month.contexts != 1 else ''} in 30 days",
        ),
        _metric("L2", "fallback_rate", month.fallback_rate, "< 0.10", asked),
    ]


def _people(found: Figures) -> list[LayerMetric]:
    given = found.feedback
    with_memory, without = given["rating_with_memory"], given["rating_without"]
    gain, basis = None, "needs ratings of answers with and without a used memory: feedback --rating"
    if with_memory is not None and without is not None:
        gain = (with_memory - without) / without
        basis = f"mean rating {with_memory:.2f} with a used memory, {without:.2f} without"
    now, before = found.now[30], found.before[30]
    reduction, said = None, "needs repeated questions in the 30 days before the last 30"
    if now.repeat_rate is not None and before.repeat_rate:
        reduction = 1 - now.repeat_rate / before.repeat_rate
        said = f"{before.repeat_rate:.1%} of the questions were repeats, now {now.repeat_rate:.1%}"
    ratings = given["ratings"]
    return [
        _metric("L3", "satisfaction_gain", gain, "> 0.15", basis),
        _metric("L3", "repeat_question_reduction", reduction, "> 0.30", said),
        _metric(
            "L3",
            "personalised_accuracy",
            given["good_ratings"] / ratings if ratings else None,
            "> 0.80",
            f"{given['good_ratings']:,} of {ratings:,} ratings are 4 or 5"
            if ratings
            else "no rating was given in 30 days: feedback --rating",
        ),
    ]


def _metric(layer: str, name: str, value: float | None, target: str, basis: str) -> LayerMetric:
    rounded = None if value is None else round(float(value), 4)
    return LayerMetric.model_validate(
        {
            "layer": layer,
            "name": name,
            "value": rounded,
            "target": target,
            "state": state_of(rounded, target),
            "basis": basis,
        }
    )


def state_of(value: float | None, target: str) -> MetricState:
    """Whether a value meets a target such as `> 0.85`, `< 100` or `0.40 to 0.70`."""
    if value is None:
        return "unknown"
    if target.startswith(">"):
        is_met = value > float(target[1:])
    elif target.startswith("<"):
        is_met = value < float(target[1:])
    else:
        low, _, high = target.partition(" to ")
        is_met = float(low) <= value <= float(high)
    return "met" if is_met else "missed"
