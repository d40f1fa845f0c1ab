"""What holds of the formulas for every input."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from negmem.core.formulas import associations, fusion, importance, ranking, relevance, retention

TYPES = st.sampled_from(
    ["core", "semantic", "preference", "procedural", "fact", "episodic", "summary", "", "记忆"]
)
ANY_NUMBER = st.one_of(st.none(), st.floats(), st.integers(-(2**63), 2**63))
COUNTS = st.integers(-5, 10_000)
DAYS = st.floats(-100, 5_000)
RATES = st.one_of(st.none(), st.floats(0, 10))
THRESHOLDS = st.floats(0.01, 0.99)
INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(timezone.utc))
DAY = timedelta(days=1)


@given(ANY_NUMBER, ANY_NUMBER, ANY_NUMBER, TYPES, ANY_NUMBER, RATES)
def test_every_score_is_between_0_and_1(
    count: float | None,
    accessed: float | None,
    created: float | None,
    memory_type: str,
    related: float | None,
    rate: float | None,
) -> None:
    score = retention.retention_score(count, accessed, created, memory_type, related, rate=rate)
    assert 0.0 <= score <= 1.0
    assert 0.0 <= importance.importance_score(count, accessed, created, memory_type, related) <= 1.0
    assert 0.1 <= importance.proactive_rank(related, accessed, count) <= 1.0 + 1e-12


@given(COUNTS, DAYS, DAYS, TYPES, st.integers(-3, 20), RATES, st.floats(0, 1_000))
def test_retention_never_rises_with_age(
    count: int,
    accessed: float,
    created: float,
    memory_type: str,
    related: int,
    rate: float | None,
    later: float,
) -> None:
    now = retention.retention_score(count, accessed, created, memory_type, related, rate=rate)
    then = retention.retention_score(
        count, accessed + later, created + later, memory_type, related, rate=rate
    )
    assert then <= now


@given(COUNTS, DAYS, DAYS, TYPES, st.integers(-3, 20), RATES)
def test_retention_never_falls_with_an_access_or_a_neighbour(
    count: int,
    accessed: float,
    created: float,
    memory_type: str,
    related: int,
    rate: float | None,
) -> None:
    now = retention.retention_score(count, accessed, created, memory_type, related, rate=rate)
    touched = retention.retention_score(count + 1, 0, created, memory_type, related, rate=rate)
    joined = retention.retention_score(
        count, accessed, created, memory_type, related + 1, rate=rate
    )
    assert touched >= now
    assert joined >= now


@given(DAYS, DAYS, TYPES, st.floats(1e-3, 10), st.floats(1, 10))
def test_a_higher_lambda_never_keeps_more(
    accessed: float, created: float, memory_type: str, decay_lambda: float, factor: float
) -> None:
    slow = retention.retention_score(0, accessed, created, memory_type, decay_lambda=decay_lambda)
    fast = retention.retention_score(
        0, accessed, created, memory_type, decay_lambda=decay_lambda * factor
    )
    assert fast <= slow + 1e-12


@given(COUNTS, INSTANTS, INSTANTS, TYPES, st.integers(-3, 20), RATES, THRESHOLDS)
def test_crossing_parts_kept_from_forgotten(
    count: int,
    accessed: datetime,
    created: datetime,
    memory_type: str,
    related: int,
    rate: float | None,
    threshold: float,
) -> None:
    def score(at: datetime) -> float:
        return retention.retention_score(
            count, (at - accessed) / DAY, (at - created) / DAY, memory_type, related, rate=rate
        )

    crossing = retention.crossing_time(
        count, accessed, created, memory_type, related, threshold=threshold, rate=rate
    )
    if crossing is None:
        end = datetime(9999, 12, 29, tzinfo=timezone.utc)
        assert memory_type == "core" or score(end) >= threshold - 1e-12
        return
    assert memory_type != "core"
    assert score(crossing) < threshold + 1e-12
    if crossing > min(accessed, created):
        assert score(crossing - timedelta(seconds=1)) >= threshold - 1e-12


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 2), st.floats(0, 2))
def test_rocchio_stays_in_its_range_and_rewards_help(
    helpful: float, irrelevant: float, harmful: float, beta: float, gamma: float
) -> None:
    weight = relevance.rocchio_weight(helpful, irrelevant, harmful, beta=beta, gamma=gamma)
    assert 0.5 <= weight <= 2.0
    if helpful + irrelevant + harmful >= 3:
        more = relevance.rocchio_weight(helpful + 1, irrelevant, harmful, beta=beta, gamma=gamma)
        assert more >= weight - 1e-9


@given(st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_association_weights_are_between_0_and_1(distance: float, similarity: float) -> None:
    assert 0.0 <= associations.temporal_weight(distance) <= 1.0
    weight = associations.semantic_weight(similarity)
    assert weight is None or 0.75 <= weight <= 1.0


RANKINGS = st.dictionaries(
    st.sampled_from(["semantic", "keyword", "graph"]),
    st.lists(st.sampled_from(["a", "b", "c", "d", "用户", "喜欢", "咖啡"]), max_size=8),
)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_fusion_ignores_the_order_of_the_arms(rankings, random) -> None:
    arms = list(rankings.items())
    random.shuffle(arms)
    assert fusion.reciprocal_rank_fusion(rankings) == fusion.reciprocal_rank_fusion(dict(arms))


@given(RANKINGS)
def test_fusion_returns_each_item_once_best_first(rankings) -> None:
    fused = fusion.reciprocal_rank_fusion(rankings)
    assert {item for item, _ in fused} == {item for arm in rankings.values() for item in arm}
    assert len({item for item, _ in fused}) == len(fused)
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)


@given(
    st.sets(st.integers(0, 20), min_size=1),
    st.lists(st.integers(0, 20), max_size=30),
    st.integers(1, 25),
)
def test_ranking_figures_agree_with_each_other(
    evidence: set[int], ranked: list[int], k: int
) -> None:
    recall = ranking.recall_at(evidence, ranked, k)
    gain = ranking.ndcg_at(evidence, ranked, k)
    assert 0.0 <= recall <= 1.0
    assert 0.0 <= gain <= 1.0 + 1e-12
    assert (recall > 0) == (ranking.any_at(evidence, ranked, k) == 1.0) == (gain > 0)
    assert (recall == 1.0) == (ranking.all_at(evidence, ranked, k) == 1.0)
    assert (ranking.reciprocal_rank_at(evidence, ranked, k) > 0) == (recall > 0)
    assert ranking.recall_at(evidence, ranked, k + 1) >= recall
