"""Intervals by resampling: the same rows give the same, wide where there are few, and paired."""

from __future__ import annotations

import random

from negmem.core.bench.scoring import differences, figures, intervals


def rows(count: int, share: float) -> list[dict[str, float]]:
    chance = random.Random(7)
    return [{"recall@5": float(chance.random() < share), "any@5": 1.0} for _ in range(count)]


def test_the_same_rows_give_the_same_interval() -> None:
    first, again = figures(rows(200, 0.7)), figures(rows(200, 0.7))
    assert first == again
    low, high = first.intervals["recall@5"]
    assert low < first.metrics["recall@5"] < high
    assert first.intervals["any@5"] == (1.0, 1.0)


def test_the_width_is_that_of_a_share() -> None:
    """For a share p of n questions the half width is near 1.96 times the root of p (1 - p) / n."""
    for count in (100, 400):
        found = figures(rows(count, 0.5))
        low, high = found.intervals["recall@5"]
        assert abs((high - low) / 2 - 1.96 * 0.5 / count**0.5) < 0.02


def test_nothing_has_no_interval() -> None:
    assert intervals([]) == []
    assert figures([]).intervals == {}


def test_differences_are_paired() -> None:
    """Two runs that differ on every question by the same are clearly different, however they vary."""
    first = [{"recall@5": value / 10} for value in range(9)]
    other = [{"recall@5": value / 10 + 0.1} for value in range(9)]
    ((name, difference, (low, high)),) = differences(first, other, ["recall@5"])
    assert (name, difference) == ("recall@5", 0.1)
    assert low > 0.09 and high < 0.11
