"""Rocchio weights and association weights: the golden tables and the refusals."""

from __future__ import annotations

import math

import pytest

from negmem.core.formulas import associations
from negmem.core.formulas.relevance import rocchio_weight
from tests.support.golden import HALF_A_DIGIT, rows


@pytest.mark.parametrize("row", rows("rocchio"))
def test_rocchio_vectors(row: dict[str, str]) -> None:
    assert int(row["helpful"]) + int(row["bad"]) == int(row["total"])
    for split in ((int(row["bad"]), 0), (0, int(row["bad"]))):
        weight = rocchio_weight(int(row["helpful"]), *split)
        assert weight == pytest.approx(float(row["weight"]), abs=HALF_A_DIGIT)


def test_rocchio_clamps_and_tells_harmful_from_irrelevant() -> None:
    assert rocchio_weight(10, beta=2.0) == 2.0
    assert rocchio_weight(0, 10, gamma=2.0) == 0.5
    assert rocchio_weight(0, 0, 10, harmful_gamma=0.45) == pytest.approx(0.55)
    assert rocchio_weight(0, 10, 0, harmful_gamma=0.45) == pytest.approx(0.85)


def test_rocchio_waits_for_enough_votes() -> None:
    assert rocchio_weight(2.9, min_count=3) == 1.0
    assert rocchio_weight(1, min_count=0) == 1.75
    assert rocchio_weight(0, min_count=0) == 1.0
    assert rocchio_weight(-4, -4, -4) == 1.0


@pytest.mark.parametrize("name", ["beta", "gamma", "harmful_gamma", "min_count"])
def test_rocchio_refuses_senseless_settings(name: str) -> None:
    for value in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"{name} must be"):
            rocchio_weight(3, **{name: value})
    with pytest.raises(ValueError, match="helpful must be"):
        rocchio_weight(math.nan)


@pytest.mark.parametrize("row", rows("temporal"), ids=lambda row: row["minutes"])
def test_temporal_vectors(row: dict[str, str]) -> None:
    for sign in (1, -1):
        weight = associations.temporal_weight(sign * float(row["minutes"]) * 60)
        assert weight == pytest.approx(float(row["weight"]), abs=HALF_A_DIGIT)


def test_temporal_weight_of_odd_distances() -> None:
    assert associations.temporal_weight(math.inf) == 0.0
    assert associations.temporal_weight(math.nan) == 0.0
    with pytest.raises(ValueError, match="window_seconds must be above 0"):
        associations.temporal_weight(1, window_seconds=0)


def test_semantic_link_needs_more_than_the_threshold() -> None:
    assert associations.semantic_weight(0.75) is None
    assert associations.semantic_weight(math.nextafter(0.75, 1)) == pytest.approx(0.75)
    assert associations.semantic_weight(1.2) == 1.0
    assert associations.semantic_weight(math.nan) is None
    with pytest.raises(ValueError, match="threshold must be at most 1"):
        associations.semantic_weight(0.9, threshold=1.1)


def test_given_weights() -> None:
    assert associations.THREAD_SHARED_WEIGHT == 0.6
    assert associations.ENTITY_WEIGHT == 0.5
    assert associations.manual_weight(1.4) == 1.0
    assert associations.manual_weight(-3) == 0.0
    with pytest.raises(ValueError, match="weight must be"):
        associations.manual_weight(math.nan)
