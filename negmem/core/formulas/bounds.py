"""Limits that every formula shares, so that Python and SQL clamp the same bad rows the same way.

A row may hold what no sane writer would store: negative counts, NaN scores, dates of the year 9999
or `infinity`. A sweep must survive them, so the formulas clamp what comes from rows. What comes
from a caller (a rate, a threshold, a weight) is refused with `ValueError` when it makes no sense.
"""

from __future__ import annotations

import math
from datetime import datetime, timezone

SECONDS_PER_DAY = 86_400.0

MAX_DAYS = 1.1e8
"""More days than lie between the first and the last `timestamptz` (109,203,489)."""

MAX_COUNT = 2_147_483_647
"""The largest `integer` of PostgreSQL, the type of the counters."""

MIN_EXPONENT = -700.0
"""Below this `exp` leaves the range of a double, and PostgreSQL raises instead of answering 0."""


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def clamp01(value: float) -> float:
    """The value limited to [0, 1]; NaN, which says nothing, counts as 0."""
    if not value > 0.0:
        return 0.0
    return min(1.0, value)


def clamp_count(count: float | None) -> int:
    """A counter from a row: negative and missing are 0, absurdly large is the largest integer."""
    if count is None or not count > 0:
        return 0
    return int(min(count, MAX_COUNT))


def clamp_days(days: float | None) -> float:
    """An age in days, in [0, 1.1e8]: the future, NaN and a missing date are 0."""
    if days is None or not days > 0.0:
        return 0.0
    return min(days, MAX_DAYS)


def epoch_seconds(instant: datetime) -> float:
    """Seconds since 1970-01-01 UTC, as PostgreSQL's `date_part('epoch', ...)` gives them.

    Raises: ValueError without a time zone: guessing one shifts ages by up to a day.
    """
    if instant.tzinfo is None:
        raise ValueError("a time without a zone has no age; give an aware datetime")
    return (instant - _EPOCH).total_seconds()


def days_between(earlier: datetime, later: datetime) -> float:
    """Days from one instant to another, negative when they are swapped.

    Raises: ValueError when either lacks a time zone.
    """
    return (epoch_seconds(later) - epoch_seconds(earlier)) / SECONDS_PER_DAY


def require_finite(
    name: str,
    value: float,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
) -> float:
    """The value, once it is a finite number within the stated bounds.

    Raises: ValueError that names the argument, the bound and the value.
    """
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    if at_least is not None and value < at_least:
        raise ValueError(f"{name} must be at least {at_least:g}, got {value!r}")
    if above is not None and value <= above:
        raise ValueError(f"{name} must be above {above:g}, got {value!r}")
    if at_most is not None and value > at_most:
        raise ValueError(f"{name} must be at most {at_most:g}, got {value!r}")
    return value
