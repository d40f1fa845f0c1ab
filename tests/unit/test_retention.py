"""Retention: the golden table, the clamps, the rates, and the moment of crossing."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone

import pytest

from negmem.core.formulas import retention
from tests.support.golden import HALF_A_DIGIT, number, rows

NOON = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)


@pytest.mark.parametrize("row", rows("retention"), ids=lambda row: row["id"])
def test_golden_vectors(row: dict[str, str]) -> None:
    factors = retention.retention_factors(
        int(row["access_count"]),
        float(row["days_since_access"]),
        float(row["days_since_creation"]),
        row["type"],
        int(row["related_count"]),
        rate=number(row["rate"]),
    )
    for name in (*retention.RetentionFactors._fields, "score"):
        assert getattr(factors, name) == pytest.approx(float(row[name]), abs=HALF_A_DIGIT), name


@pytest.mark.parametrize("row", rows("three_factor"))
def test_three_factor_vectors(row: dict[str, str]) -> None:
    score = retention.three_factor_score(
        int(row["access_count"]), float(row["days_since_access"]), float(row["rate"])
    )
    assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT)


def test_three_factor_score_survives_any_age() -> None:
    assert retention.three_factor_score(0, 1e9, 0.1) == pytest.approx(0.0)
    assert retention.three_factor_score(0, -1e9, 0.1) == 1.0


@pytest.mark.parametrize("row", rows("crossing"), ids=lambda row: row["type"])
def test_day_of_crossing_of_a_memory_never_read(row: dict[str, str]) -> None:
    crossing = retention.crossing_time(0, NOON, NOON, row["type"], threshold=0.1)
    if row["days"]:
        assert crossing is not None
        # The table gives the first hundredth of a day under the threshold.
        assert 0 <= float(row["days"]) - (crossing - NOON) / DAY < 0.01
    else:
        assert crossing is None


def test_lambda_scales_every_type_but_core() -> None:
    for memory_type, base in retention.DECAY_PER_DAY.items():
        assert retention.decay_rate(memory_type) == base
        assert retention.decay_rate(memory_type, decay_lambda=0.05) == pytest.approx(base / 2)
    assert retention.decay_rate("core", decay_lambda=10) == 0
    assert retention.decay_rate("summary", decay_lambda=0.3) == pytest.approx(0.3)
    assert retention.decay_rate(None) == 0.10


def test_override_wins_over_lambda_and_type() -> None:
    assert retention.decay_rate("semantic", decay_lambda=0.3, decay_override=0.003) == 0.003


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"decay_override": 0.003}, 0.003),
        ({"decay_override": 0}, 0.0),
        ({"decay_override": 1}, 1.0),
        ({"decay_override": -0.1}, None),
        ({"decay_override": 1e7}, None),
        ({"decay_override": float("nan")}, None),
        ({"decay_override": "slow"}, None),
        ({"decay_override": "0.003"}, None),
        ({"decay_override": True}, None),
        ({"decay_override": None}, None),
        ({"话题": "咖啡"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_only_sane_numbers_override(
    metadata: dict[str, object] | None, expected: float | None
) -> None:
    assert retention.decay_override_of(metadata) == expected


@pytest.mark.parametrize(
    ("days_since_access", "days_since_creation", "expected"),
    [
        (math.inf, math.inf, 0.0),
        (-math.inf, -math.inf, 0.3),
        (math.nan, math.nan, 0.3),
        (None, None, 0.3),
        (3e8, 0, 0.1),
    ],
)
def test_ages_beyond_reason(
    days_since_access: float | None, days_since_creation: float | None, expected: float
) -> None:
    score = retention.retention_score(0, days_since_access, days_since_creation)
    assert score == pytest.approx(expected)


def test_counts_beyond_reason() -> None:
    assert retention.retention_score(None, 0, 0, "episodic", None) == pytest.approx(0.3)
    assert retention.retention_score(-(10**30), 0, 0) == pytest.approx(0.3)
    assert retention.retention_score(math.nan, 0, 0) == pytest.approx(0.3)
    assert retention.retention_score(math.inf, 0, 0, related_count=math.inf) == 1.0


@pytest.mark.parametrize("rate", [-0.1, math.nan, math.inf, True])
def test_a_senseless_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate must be"):
        retention.retention_score(0, 1, 1, rate=rate)
    with pytest.raises(ValueError, match="decay_override must be"):
        retention.decay_rate("fact", decay_override=rate)


@pytest.mark.parametrize("decay_lambda", [0, -1, math.nan, math.inf])
def test_a_senseless_lambda_is_refused(decay_lambda: float) -> None:
    with pytest.raises(ValueError, match="decay_lambda must be"):
        retention.decay_rate("fact", decay_lambda=decay_lambda)


def test_crossing_is_the_first_second_under_the_threshold() -> None:
    created, accessed = NOON - 300 * DAY, NOON - 20 * DAY
    crossing = retention.crossing_time(4, accessed, created, "preference", 2, threshold=0.1)
    assert crossing is not None
    for offset, is_below in ((-1, False), (0, True)):
        at = crossing + timedelta(seconds=offset)
        score = retention.retention_score(
            4, (at - accessed) / DAY, (at - created) / DAY, "preference", 2
        )
        assert (score < 0.1) is is_below


@pytest.mark.parametrize(
    ("accessed", "created", "threshold", "rate", "expected"),
    [
        # The bonus alone takes it under, before the access (a clock that was ahead).
        (NOON + 900 * DAY, NOON, 0.25, None, NOON + 182.5 * DAY),
        # No decay: only the bonus fades, down to 0.2.
        (NOON, NOON, 0.25, 0.0, NOON + 182.5 * DAY),
        # No decay and a threshold below what stays: never.
        (NOON, NOON, 0.19, 0.0, None),
        # Created after the last access: the decay takes it under before the bonus begins.
        (NOON, NOON + 900 * DAY, 0.2, None, NOON + 10 * math.log(2) * DAY),
        # Past the bonus year only the decay is left.
        (NOON, NOON - 900 * DAY, 0.1, None, NOON + 10 * math.log(2) * DAY),
        # So slow that it would take until after the year 9999.
        (NOON, NOON, 0.1, 1e-7, None),
        # Under it from the first moment.
        (NOON, NOON - DAY, 0.9, None, NOON - DAY),
        (NOON, NOON - DAY, 1.5, None, NOON - DAY),
        # Nothing is under a threshold of 0.
        (NOON, NOON, 0.0, None, None),
    ],
)
def test_crossing_in_each_piece_of_the_curve(
    accessed: datetime,
    created: datetime,
    threshold: float,
    rate: float | None,
    expected: datetime | None,
) -> None:
    crossing = retention.crossing_time(0, accessed, created, threshold=threshold, rate=rate)
    if expected is None:
        assert crossing is None
    else:
        assert crossing is not None
        assert abs((crossing - expected).total_seconds()) <= 1


def test_core_never_crosses_whatever_the_rate() -> None:
    assert retention.crossing_time(0, NOON, NOON, "core", threshold=0.9, rate=10) is None


def test_crossing_without_dates_and_at_the_ends_of_time() -> None:
    first = datetime(1, 1, 1, tzinfo=timezone.utc)
    last = datetime(9999, 12, 31, tzinfo=timezone.utc)
    assert retention.crossing_time(0, None, None, threshold=0.1) is None
    assert retention.crossing_time(0, last, last, threshold=0.1) is None
    assert retention.crossing_time(0, first, first, threshold=0.9) == first + 2 * DAY
    only_created = retention.crossing_time(0, None, NOON, threshold=0.1)
    assert only_created == retention.crossing_time(0, NOON, NOON, threshold=0.1)
    assert only_created == retention.crossing_time(0, NOON, None, threshold=0.1)


def test_crossing_refuses_naive_dates_and_nan_thresholds() -> None:
    naive = datetime(2026, 6, 1)
    with pytest.raises(ValueError, match="zone"):
        retention.crossing_time(0, naive, NOON, threshold=0.1)
    with pytest.raises(ValueError, match="threshold must be"):
        retention.crossing_time(0, NOON, NOON, threshold=math.nan)


def test_crossing_agrees_across_zones() -> None:
    auckland = timezone(timedelta(hours=12))
    here = retention.crossing_time(0, NOON, NOON, threshold=0.1)
    there = retention.crossing_time(0, NOON.astimezone(auckland), NOON, threshold=0.1)
    assert here == there
