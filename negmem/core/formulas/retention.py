"""How much of a memory is left, and when it falls under a threshold.

    score = clamp01(time_decay * frequency_boost * type_multiplier * semantic_importance / 5
                    + recency_bonus)

Source: the forgetting curve of Ebbinghaus (1885), with access, type, neighbours and youth added.
SQL twins: sql/functions/calculate_retention_score.sql, retention_crossing_time.sql and
retention_decay_override.sql (tests/parity/test_retention.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from negmem.core.formulas.bounds import (
    MIN_EXPONENT,
    SECONDS_PER_DAY,
    clamp01,
    clamp_count,
    clamp_days,
    epoch_seconds,
    require_finite,
)

BASE_DECAY = 0.10
"""Loss per day of episodic and unknown memories, and the rate that `decay_lambda` replaces."""

DECAY_PER_DAY: Mapping[str, float] = {
    "core": 0.0,
    "semantic": 0.005,
    "preference": 0.05,
    "procedural": 0.06,
    "fact": 0.08,
    "episodic": BASE_DECAY,
}

TYPE_MULTIPLIER: Mapping[str, float] = {
    "core": 1.5,
    "semantic": 1.4,
    "preference": 1.3,
    "procedural": 1.2,
    "fact": 1.15,
    "episodic": 1.0,
}

RELATED_CAP = 5
"""Neighbours beyond this number no longer change the score (nor the crossing time)."""

MAX_DECAY = 1e6
"""A rate beyond which everything is forgotten within a second; larger ones are cut to it."""

_BONUS = 0.1
_BONUS_DAYS = 365.0
_SCALE = 5.0
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST_SECOND = -62_135_424_000
"""0001-01-03 00:00 UTC; two days inside what a date can say, so that any zone can show it."""
_LAST_SECOND = 253_402_041_600
"""9999-12-29 00:00 UTC."""


class RetentionFactors(NamedTuple):
    """The five factors of one score, each as it enters the formula."""

    time_decay: float
    frequency_boost: float
    type_multiplier: float
    semantic_importance: float
    recency_bonus: float

    @property
    def score(self) -> float:
        """The retention score in [0, 1], 1 = kept in full."""
        strength = self.time_decay * self.frequency_boost * self.type_multiplier
        return clamp01(strength * self.semantic_importance / _SCALE + self.recency_bonus)


def decay_override_of(metadata: Mapping[str, object] | None) -> float | None:
    """The rate that a memory's metadata asks for, or None.

    What is not a number in [0, 1e6] is ignored: one odd row must not stop a sweep.
    """
    value = (metadata or {}).get("decay_override")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= MAX_DECAY else None


def decay_rate(
    memory_type: str | None,
    *,
    decay_lambda: float = BASE_DECAY,
    decay_override: float | None = None,
) -> float:
    """Loss per day of a memory of this type.

    `decay_lambda` (1/day, above 0) replaces the base rate, and the other types keep their
    proportion to it; `decay_override`, from the memory's metadata, wins over both.

    Raises: ValueError if a rate is not finite, decay_lambda not above 0 or the override below 0.
    """
    if decay_override is not None:
        return require_finite("decay_override", decay_override, at_least=0.0)
    require_finite("decay_lambda", decay_lambda, above=0.0)
    return DECAY_PER_DAY.get(memory_type or "", BASE_DECAY) * (decay_lambda / BASE_DECAY)


def retention_factors(
    access_count: float | None,
    days_since_access: float | None,
    days_since_creation: float | None,
    memory_type: str | None = "episodic",
    related_count: float | None = 0,
    *,
    rate: float | None = None,
    decay_lambda: float = BASE_DECAY,
) -> RetentionFactors:
    """The five factors for a memory of the given ages (days) and counts.

    `rate` (1/day) is the explicit rate and wins over the type's own, also for `core`. Ages in the
    future are 0, negative counts are 0, a missing or NaN age is 0: never a reason to forget.

    Raises: ValueError if `rate` is negative or not finite, or `decay_lambda` not above 0.
    """
    if rate is None:
        rate = decay_rate(memory_type, decay_lambda=decay_lambda)
    else:
        require_finite("rate", rate, at_least=0.0)
    exponent = -min(MAX_DECAY, rate) * clamp_days(days_since_access)
    return RetentionFactors(
        time_decay=math.exp(max(MIN_EXPONENT, exponent)),
        frequency_boost=1.0 + math.log1p(clamp_count(access_count)),
        type_multiplier=TYPE_MULTIPLIER.get(memory_type or "", 1.0),
        semantic_importance=1.0 + 0.1 * min(RELATED_CAP, clamp_count(related_count)),
        recency_bonus=_BONUS * max(0.0, 1.0 - clamp_days(days_since_creation) / _BONUS_DAYS),
    )


def retention_score(
    access_count: float | None,
    days_since_access: float | None,
    days_since_creation: float | None,
    memory_type: str | None = "episodic",
    related_count: float | None = 0,
    *,
    rate: float | None = None,
    decay_lambda: float = BASE_DECAY,
) -> float:
    """The retention score in [0, 1]; arguments and errors as for `retention_factors`."""
    return retention_factors(
        access_count,
        days_since_access,
        days_since_creation,
        memory_type,
        related_count,
        rate=rate,
        decay_lambda=decay_lambda,
    ).score


def three_factor_score(access_count: float, days_since_access: float, rate: float) -> float:
    """The score that older deployments stored; negmem only recognises and explains it.

    It has neither type nor neighbours nor youth, and lets a date in the future raise the score.
    """
    boost = 1.0 + math.log1p(clamp_count(access_count))
    exponent = max(MIN_EXPONENT, min(-MIN_EXPONENT, -rate * days_since_access))
    return min(1.0, math.exp(exponent) * boost / _SCALE)


def crossing_time(
    access_count: float | None,
    last_accessed_at: datetime | None,
    created_at: datetime | None,
    memory_type: str | None = "episodic",
    related_count: float | None = 0,
    *,
    threshold: float,
    rate: float | None = None,
    decay_lambda: float = BASE_DECAY,
) -> datetime | None:
    """The first whole second at which the score is under the threshold; None when there is none.

    Neither the decay nor the youth bonus ever rises with time, so the score doesn't either, and
    bisection finds the one crossing. None also for `core`, which is never forgotten, for a memory
    without any date, and for what would cross after the year 9999. A memory that is under the
    threshold from its first moment crosses at the earlier of its two dates.

    Raises: ValueError if a date lacks its zone, the threshold is not finite, or a rate is refused.
    """
    require_finite("threshold", threshold)
    accessed = last_accessed_at or created_at
    created = created_at or last_accessed_at
    if accessed is None or created is None or memory_type == "core":
        return None
    access_second = epoch_seconds(accessed)
    creation_second = epoch_seconds(created)
    if rate is None:
        rate = decay_rate(memory_type, decay_lambda=decay_lambda)

    def is_below(second: float) -> bool:
        """Whether the score at this second of the epoch is under the threshold."""
        days_since_access = (second - access_second) / SECONDS_PER_DAY
        days_since_creation = (second - creation_second) / SECONDS_PER_DAY
        score = retention_score(
            access_count,
            days_since_access,
            days_since_creation,
            memory_type,
            related_count,
            rate=rate,
        )
        return score < threshold

    start = math.floor(min(access_second, creation_second))
    if is_below(start):
        return _instant(start)
    low, high = start, _LAST_SECOND
    if low >= high or not is_below(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if is_below(middle):
            high = middle
        else:
            low = middle
    return _instant(high)


def forgettable_from(
    crosses_at: datetime | None, created_at: datetime | None, *, min_age_days: float
) -> datetime | None:
    """When a memory may go: it has crossed the threshold and has its minimum age; None for never.

    The age is counted in spans of 24 hours, so no zone and no change of the clocks shifts it.
    SQL twin: sql/functions/retention_fades_at.sql, which also knows importance.
    """
    if crosses_at is None or created_at is None:
        return crosses_at
    grown = epoch_seconds(created_at) + min_age_days * SECONDS_PER_DAY
    if max(grown, epoch_seconds(crosses_at)) > _LAST_SECOND:
        return None
    return max(crosses_at, _EPOCH + timedelta(seconds=max(_FIRST_SECOND, grown)))


def _instant(second: int) -> datetime:
    """The second of the epoch as a date that every zone can show (years 1 to 9999)."""
    return _EPOCH + timedelta(seconds=max(_FIRST_SECOND, min(_LAST_SECOND, second)))
