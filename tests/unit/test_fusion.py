"""Fusion of two arms, and the figures that rate a ranking."""

from __future__ import annotations

import math

import pytest

from negmem.core.formulas import fusion, ranking
from tests.support.golden import HALF_A_DIGIT, number, rows


@pytest.mark.parametrize("row", rows("weighted"))
def test_weighted_vectors(row: dict[str, str]) -> None:
    score = fusion.weighted_score(float(row["semantic"]), float(row["keyword"]))
    assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT)


@pytest.mark.parametrize("row", rows("rrf"))
def test_rrf_vectors(row: dict[str, str]) -> None:
    ranks = [number(row["rank_1"]), number(row["rank_2"])]
    score = fusion.rrf_score([None if rank is None else int(rank) for rank in ranks])
    assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT)


def test_an_arm_that_missed_adds_nothing() -> None:
    assert fusion.weighted_score(None, 0.5) == pytest.approx(0.15)
    assert fusion.weighted_score(math.nan, None) == 0.0
    assert fusion.rrf_score([None, None]) == 0.0


def test_fusion_orders_equal_scores_by_text_and_drops_repeats() -> None:
    fused = fusion.reciprocal_rank_fusion(
        {"semantic": ["咖啡", "tea", "tea"], "keyword": ["tea", "咖啡"]}
    )
    assert [item for item, _ in fused] == ["tea", "咖啡"]
    assert fused[0][1] == pytest.approx(1 / 61 + 1 / 62)
    assert fused[0][1] == fused[1][1]
    assert fusion.reciprocal_rank_fusion({}) == []


def test_senseless_fusion_is_refused() -> None:
    with pytest.raises(ValueError, match="semantic_weight must be"):
        fusion.weighted_score(1, 1, semantic_weight=-1)
    with pytest.raises(ValueError, match="keyword_weight must be"):
        fusion.weighted_score(1, 1, keyword_weight=math.nan)
    with pytest.raises(ValueError, match="rank must be at least 1"):
        fusion.rrf_score([0])
    with pytest.raises(ValueError, match="k must be"):
        fusion.reciprocal_rank_fusion({"keyword": ["a"]}, k=-1)


def test_ranking_figures_by_hand() -> None:
    evidence = {"D1:3", "D2:1", "D9:9"}
    ranked = ["D5:1", "D1:3", "D5:1", "D2:1", "D4:4"]
    assert ranking.recall_at(evidence, ranked, 1) == 0.0
    assert ranking.recall_at(evidence, ranked, 3) == pytest.approx(2 / 3)
    assert ranking.any_at(evidence, ranked, 1) == 0.0
    assert ranking.any_at(evidence, ranked, 2) == 1.0
    assert ranking.all_at(evidence, ranked, 10) == 0.0
    assert ranking.all_at({"D1:3", "D2:1"}, ranked, 3) == 1.0
    assert ranking.reciprocal_rank_at(evidence, ranked) == 0.5
    assert ranking.reciprocal_rank_at(evidence, ranked, 1) == 0.0
    gain = 1 / math.log2(3) + 1 / math.log2(4)
    assert ranking.ndcg_at(evidence, ranked, 10) == pytest.approx(
        gain / (1 + 1 / math.log2(3) + 1 / math.log2(4))
    )
    assert ranking.ndcg_at(evidence, ranked, 2) == pytest.approx(
        (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    )
    assert ranking.ndcg_at({"a"}, ["a"], 10) == 1.0


def test_a_chunk_takes_a_place_for_each_of_its_turns() -> None:
    chunks = [["D1:1", "D1:2"], ["D1:2", "D1:3"], ["D2:1"]]
    assert ranking.places(chunks) == ["D1:1", "D1:2", "D1:3", "D2:1"]
    assert ranking.distinct(["s1", "s2", "s1", "s3"]) == ["s1", "s2", "s3"]


def test_what_cannot_be_scored_is_refused() -> None:
    for figure in (
        ranking.recall_at,
        ranking.any_at,
        ranking.all_at,
        ranking.ndcg_at,
        ranking.reciprocal_rank_at,
    ):
        with pytest.raises(ValueError, match="without evidence"):
            figure([], ["a"], 5)
        with pytest.raises(ValueError, match="k must be at least 1"):
            figure(["a"], ["a"], 0)
