"""Figures of a benchmark, worked out by hand."""

from __future__ import annotations

import math

import pytest

from negmem.core.bench.datasets import Question
from negmem.core.bench.scoring import Ranked, figures, percentile, session_figures, turn_figures


def ranked(**changed: object) -> Ranked:
    question = Question(
        id="q",
        store="s",
        text="?",
        category="1",
        evidence=frozenset({"a", "b"}),
        also=frozenset({"c"}),
        sessions=frozenset({"s1"}),
        is_headline=True,
    )
    values = {
        "question": question,
        "turns": ["c", "x", "a", "y", "z", "b"],
        "sessions": ["s2", "s1"],
        "characters_in_10": 60,
    }
    return Ranked(**{**values, **changed})  # type: ignore[arg-type]


def test_turn_level() -> None:
    found = turn_figures(ranked(), (1, 3, 5, 10))
    assert [found[f"recall@{k}"] for k in (1, 3, 5, 10)] == [0, 0.5, 0.5, 1]
    assert [found[f"all@{k}"] for k in (1, 3, 5, 10)] == [0, 0, 0, 1]
    # the other statement of the answer counts where one hit is enough
    assert [found[f"any@{k}"] for k in (1, 3)] == [1, 1] and found["mrr@10"] == 1
    ideal = 1 + 1 / math.log2(3)
    assert found["ndcg@3"] == pytest.approx((1 / math.log2(4)) / ideal)


def test_session_level_counts_sessions() -> None:
    found = session_figures(ranked())
    assert found["recall@1"] == 0 and found["recall@3"] == 1 and found["mrr@10"] == 0.5


def test_each_question_weighs_the_same() -> None:
    found = figures([{"recall@1": 1.0}, {"recall@1": 0.0}, {"recall@1": 0.5}])
    assert found.questions == 3 and found.metrics == {"recall@1": 0.5}
    assert figures([]).questions == 0


def test_percentiles_lie_between_values() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2], 0.95) == pytest.approx(1.95)
    assert percentile([], 0.5) == 0
