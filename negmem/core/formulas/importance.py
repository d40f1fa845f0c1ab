"""How much a memory matters, and in which order a new session hears of it unasked.

    importance = clamp01(0.30 base_activation + 0.25 access_frequency + 0.20 fact_support
                         + 0.15 type_weight + 0.10 recency)
    rank       = 0.40 importance + 0.30 recency + 0.20 frequency + 0.10

Source: base_activation is a short form of the base-level activation of ACT-R.
SQL twins: sql/functions/calculate_importance_score.sql and proactive_rank.sql
(tests/parity/test_importance.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from negmem.core.formulas.bounds import clamp01, clamp_count, clamp_days, require_finite

TYPE_WEIGHT: Mapping[str, float] = {
    "core": 1.0,
    "semantic": 0.95,
    "preference": 0.9,
    "procedural": 0.75,
    "fact": 0.6,
    "episodic": 0.4,
}
"""What a type alone says; unknown types, and the fact types profile, rule, custom, weigh 0.4."""

RECALL_STEP = 0.02
"""What one recall adds to the importance."""

_LN_101 = math.log(101.0)


class ImportanceFactors(NamedTuple):
    """The five factors of one score, each in [0, 1]."""

    base_activation: float
    access_frequency: float
    fact_support: float
    type_weight: float
    recency: float

    @property
    def score(self) -> float:
        """The importance in [0, 1]."""
        return clamp01(
            0.30 * self.base_activation
            + 0.25 * self.access_frequency
            + 0.20 * self.fact_support
            + 0.15 * self.type_weight
            + 0.10 * self.recency
        )


def importance_factors(
    access_count: float | None,
    days_since_access: float | None,
    days_since_creation: float | None,
    memory_type: str | None = "episodic",
    related_fact_count: float | None = 0,
) -> ImportanceFactors:
    """The five factors; counts below 0 and ages in the future are 0."""
    count = clamp_count(access_count)
    base = 0.1
    if count > 0:
        spread = math.log1p(math.sqrt(clamp_days(days_since_access) + 1.0))
        base = min(1.0, math.log1p(count) / spread)
    return ImportanceFactors(
        base_activation=base,
        access_frequency=min(1.0, math.log1p(count) / _LN_101),
        fact_support=min(1.0, clamp_count(related_fact_count) / 10.0),
        type_weight=TYPE_WEIGHT.get(memory_type or "", 0.4),
        recency=max(0.0, 1.0 - clamp_days(days_since_creation) / 90.0),
    )


def importance_score(
    access_count: float | None,
    days_since_access: float | None,
    days_since_creation: float | None,
    memory_type: str | None = "episodic",
    related_fact_count: float | None = 0,
) -> float:
    """The importance in [0, 1]; arguments as for `importance_factors`."""
    return importance_factors(
        access_count, days_since_access, days_since_creation, memory_type, related_fact_count
    ).score


def reinforced_importance(importance: float, recalls: int = 1) -> float:
    """The importance after so many recalls: 0.02 each, up to 1.

    Raises: ValueError if `recalls` is negative.
    """
    require_finite("recalls", recalls, at_least=0)
    return clamp01(clamp01(importance) + RECALL_STEP * recalls)


def proactive_rank(
    importance: float | None, days_since_access: float | None, access_count: float | None
) -> float:
    """The rank in [0.1, 1] among the memories offered to a session that asked for nothing yet."""
    recency = max(0.0, 1.0 - clamp_days(days_since_access) / 30.0)
    frequency = min(1.0, math.log1p(clamp_count(access_count)) / _LN_101)
    weight = clamp01(importance) if importance is not None else 0.0
    return 0.40 * weight + 0.30 * recency + 0.20 * frequency + 0.10
