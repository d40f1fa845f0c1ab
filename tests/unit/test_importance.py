"""Importance and proactive rank: the golden tables and the clamps."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone

import pytest

from negmem.core.formulas import bounds, importance
from tests.support.golden import HALF_A_DIGIT, rows


@pytest.mark.parametrize("row", rows("importance"), ids=lambda row: row["id"])
def test_importance_vectors(row: dict[str, str]) -> None:
    factors = importance.importance_factors(
        int(row["access_count"]),
        float(row["days_since_access"]),
        float(row["days_since_creation"]),
        row["type"],
        int(row["related_fact_count"]),
    )
    for name in (*importance.ImportanceFactors._fields, "score"):
        assert getattr(factors, name) == pytest.approx(float(row[name]), abs=HALF_A_DIGIT), name


@pytest.mark.parametrize("row", rows("proactive"), ids=lambda row: row["id"])
def test_proactive_vectors(row: dict[str, str]) -> None:
    rank = importance.proactive_rank(
        float(row["importance"]), float(row["days_since_access"]), int(row["access_count"])
    )
    assert rank == pytest.approx(float(row["rank"]), abs=HALF_A_DIGIT)


def test_recalls_reinforce_up_to_one() -> None:
    assert importance.reinforced_importance(0.19) == pytest.approx(0.21)
    assert importance.reinforced_importance(0.19, 10) == pytest.approx(0.39)
    assert importance.reinforced_importance(0.99) == 1.0
    assert importance.reinforced_importance(math.nan) == pytest.approx(0.02)
    with pytest.raises(ValueError, match="recalls must be"):
        importance.reinforced_importance(0.5, -1)


def test_bad_rows_are_clamped() -> None:
    assert importance.importance_score(None, None, None, None) == pytest.approx(0.19)
    assert importance.importance_score(-5, math.nan, -math.inf, "", -1) == pytest.approx(0.19)
    assert importance.proactive_rank(math.nan, math.inf, None) == pytest.approx(0.1)
    assert importance.proactive_rank(None, None, math.inf) == pytest.approx(0.6)
    assert importance.proactive_rank(7.0, 0, 100) == pytest.approx(1.0)


def test_days_between_wants_zones() -> None:
    noon = datetime(2026, 3, 29, 12, tzinfo=timezone.utc)
    assert bounds.days_between(noon, noon + timedelta(hours=36)) == 1.5
    assert bounds.days_between(noon + timedelta(hours=6), noon) == -0.25
    with pytest.raises(ValueError, match="zone"):
        bounds.days_between(noon.replace(tzinfo=None), noon)


def test_a_bound_names_itself() -> None:
    with pytest.raises(ValueError, match=r"share must be at most 1, got 1\.5"):
        bounds.require_finite("share", 1.5, at_least=0, at_most=1)
