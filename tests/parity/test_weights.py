"""Importance, rank, relevance, fusion and association weights: SQL against golden rows and Python."""

from __future__ import annotations

import itertools
import json
import random
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from negmem.core.formulas import associations, fusion, importance
from negmem.core.formulas.bounds import days_between
from negmem.core.formulas.relevance import rocchio_weight
from tests.support.databases import TestDatabase
from tests.support.golden import HALF_A_DIGIT, rows

pytestmark = pytest.mark.servers("embedded", "full", "sixteen")

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
ROWS = """
    FROM ROWS FROM (jsonb_to_recordset(%s) AS (
        n integer, accessed timestamptz, created timestamptz, type text, facts integer,
        importance double precision, now timestamptz, a double precision, b double precision,
        c double precision, d double precision, e double precision, f double precision,
        rank bigint, k integer)) WITH ORDINALITY AS r
    ORDER BY r.ordinality
"""


def ask(database: TestDatabase, expression: str, batch: list[dict[str, Any]]) -> list[Any]:
    """One value a row, in order, from one statement."""
    document = json.dumps(batch, default=str)
    return [row[0] for row in database.rows(f"SELECT {expression} {ROWS}", (document,))]


IMPORTANCE = (
    "negentropy.calculate_importance_score(r.n, r.accessed, r.created, r.type, r.facts, r.now)"
)
RANK = "negentropy.proactive_rank(r.importance, r.accessed, r.n, r.now)"


def test_importance_vectors(database: TestDatabase) -> None:
    table = rows("importance")
    batch = [
        {
            "n": int(row["access_count"]),
            "accessed": NOW - timedelta(days=float(row["days_since_access"])),
            "created": NOW - timedelta(days=float(row["days_since_creation"])),
            "type": row["type"],
            "facts": int(row["related_fact_count"]),
            "now": NOW,
        }
        for row in table
    ]
    for row, score in zip(table, ask(database, IMPORTANCE, batch), strict=True):
        assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT), row["id"]


def test_proactive_vectors(database: TestDatabase) -> None:
    table = rows("proactive")
    batch = [
        {
            "importance": float(row["importance"]),
            "accessed": NOW - timedelta(days=float(row["days_since_access"])),
            "n": int(row["access_count"]),
            "now": NOW,
        }
        for row in table
    ]
    for row, rank in zip(table, ask(database, RANK, batch), strict=True):
        assert rank == pytest.approx(float(row["rank"]), abs=HALF_A_DIGIT), row["id"]


def test_importance_and_rank_of_random_rows(database: TestDatabase) -> None:
    chance = random.Random(3)
    batch = [
        {
            "n": chance.choice([-9, 0, 1, 2, 40, 101, 2_147_483_647, None]),
            "accessed": chance.choice([None, NOW - timedelta(days=chance.uniform(-400, 4_000))]),
            "created": NOW - timedelta(days=chance.uniform(-400, 4_000)),
            "type": chance.choice([*importance.TYPE_WEIGHT, "profile", "", None]),
            "facts": chance.choice([-1, 0, 3, 10, 5_000, None]),
            "importance": chance.choice([None, -1.0, 0.0, 5e-324, chance.random(), 1.0, 9.0]),
            "now": NOW,
        }
        for _ in range(4_000)
    ]
    scores = ask(database, IMPORTANCE, batch)
    ranks = ask(database, RANK, batch)
    for row, score, rank in zip(batch, scores, ranks, strict=True):
        since_creation = days_between(row["created"], NOW)
        accessed = row["accessed"]
        since_access = since_creation if accessed is None else days_between(accessed, NOW)
        assert score == pytest.approx(
            importance.importance_score(
                row["n"], since_access, since_creation, row["type"], row["facts"]
            ),
            abs=1e-9,
        ), row
        assert rank == pytest.approx(
            importance.proactive_rank(
                row["importance"], None if accessed is None else since_access, row["n"]
            ),
            abs=1e-9,
        ), row


def test_importance_and_rank_at_the_ends_of_time(database: TestDatabase) -> None:
    ends = ["-infinity", "4713-01-01 BC", "2026-06-01", "294276-12-31", "infinity", None]
    batch = [
        {
            "n": n,
            "accessed": a,
            "created": c,
            "type": "fact",
            "facts": 1,
            "importance": 0.5,
            "now": w,
        }
        for n, a, c, w in itertools.product((0, 4), ends, ends, ends)
    ]
    assert all(0.0 <= score <= 1.0 for score in ask(database, IMPORTANCE, batch))
    assert all(0.1 <= rank <= 1.0 for rank in ask(database, RANK, batch))
    assert database.value("SELECT negentropy.proactive_rank('NaN', now(), 0)") == pytest.approx(0.4)


def test_rocchio_vectors_and_random_votes(database: TestDatabase) -> None:
    table = rows("rocchio")
    for row in table:
        weight = database.value(
            "SELECT negentropy.rocchio_weight(%s, %s)", (int(row["helpful"]), int(row["bad"]))
        )
        assert weight == pytest.approx(float(row["weight"]), abs=HALF_A_DIGIT)
    chance = random.Random(4)
    batch = [
        {
            "a": chance.choice([-2.0, 0.0, 1.0, 3.5, 40.0, 1e12]),
            "b": chance.choice([-2.0, 0.0, 1.0, 3.5, 40.0, 1e12]),
            "c": chance.choice([-2.0, 0.0, 1.0, 3.5, 40.0, 1e12]),
            "d": chance.uniform(0, 2),
            "e": chance.uniform(0, 2),
            "f": chance.choice([None, chance.uniform(0, 5)]),
            "k": chance.choice([0, 1, 3, 10]),
        }
        for _ in range(3_000)
    ]
    weights = ask(database, "negentropy.rocchio_weight(r.a, r.b, r.c, r.d, r.e, r.f, r.k)", batch)
    for row, weight in zip(batch, weights, strict=True):
        assert weight == pytest.approx(
            rocchio_weight(
                row["a"],
                row["b"],
                row["c"],
                beta=row["d"],
                gamma=row["e"],
                harmful_gamma=row["f"],
                min_count=row["k"],
            ),
            abs=1e-9,
        ), row


def test_fusion_vectors_and_random_ranks(database: TestDatabase) -> None:
    for row in rows("weighted"):
        score = database.value(
            "SELECT negentropy.weighted_score(%s, %s)",
            (float(row["semantic"]), float(row["keyword"])),
        )
        assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT)
    for row in rows("rrf"):
        score = database.value(
            "SELECT negentropy.rrf_score(%s::bigint) + negentropy.rrf_score(%s::bigint)",
            (row["rank_1"], row["rank_2"] or None),
        )
        assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT)
    chance = random.Random(5)
    batch = [
        {
            "a": chance.choice([None, chance.random()]),
            "b": chance.choice([None, chance.random() * 30]),
            "c": chance.random(),
            "d": chance.random(),
            "rank": chance.choice([None, 1, 2, 50, 10**15]),
            "k": chance.choice([0, 1, 60, 2_147_483_647]),
        }
        for _ in range(2_000)
    ]
    sums = ask(database, "negentropy.weighted_score(r.a, r.b, r.c, r.d)", batch)
    parts = ask(database, "negentropy.rrf_score(r.rank, r.k)", batch)
    for row, total, part in zip(batch, sums, parts, strict=True):
        assert total == pytest.approx(
            fusion.weighted_score(
                row["a"], row["b"], semantic_weight=row["c"], keyword_weight=row["d"]
            ),
            abs=1e-9,
        )
        assert part == pytest.approx(fusion.rrf_score([row["rank"]], k=row["k"]), abs=1e-9)
    nan, first = database.rows(
        "SELECT negentropy.weighted_score('NaN', NULL), negentropy.rrf_score(0)"
    )[0]
    assert (nan, first) == (0.0, 0.0)


def test_association_weights(database: TestDatabase) -> None:
    for row in rows("temporal"):
        weight = database.value(
            "SELECT negentropy.association_weight_temporal(now(), now() + %s * interval '1 minute')",
            (float(row["minutes"]),),
        )
        assert weight == pytest.approx(float(row["weight"]), abs=HALF_A_DIGIT)
    chance = random.Random(6)
    batch = [
        {
            "accessed": NOW,
            "created": NOW + timedelta(seconds=chance.uniform(-4_000, 4_000)),
            "a": chance.choice([0.75, chance.uniform(-1, 1.2)]),
            "b": chance.choice([0.75, chance.random()]),
            "c": chance.choice([1.0, 1_800.0, 86_400.0]),
        }
        for _ in range(2_000)
    ]
    temporal = ask(
        database, "negentropy.association_weight_temporal(r.accessed, r.created, r.c)", batch
    )
    semantic = ask(database, "negentropy.association_weight_semantic(r.a, r.b)", batch)
    for row, near, alike in zip(batch, temporal, semantic, strict=True):
        apart = (row["created"] - row["accessed"]).total_seconds()
        assert near == pytest.approx(
            associations.temporal_weight(apart, window_seconds=row["c"]), abs=1e-9
        )
        expected = associations.semantic_weight(row["a"], threshold=row["b"])
        assert (alike is None) == (expected is None), row
        if expected is not None:
            assert alike == pytest.approx(expected, abs=1e-9)
    shared, entity = database.rows(
        """
        SELECT negentropy.association_weight_thread_shared(),
            negentropy.association_weight_entity()
        """
    )[0]
    assert shared == associations.THREAD_SHARED_WEIGHT
    assert entity == associations.ENTITY_WEIGHT


def test_odd_association_arguments_give_no_weight(database: TestDatabase) -> None:
    assert database.rows(
        """
        SELECT negentropy.association_weight_temporal('infinity', 'infinity'),
            negentropy.association_weight_temporal('-infinity', now()),
            negentropy.association_weight_temporal(NULL, now()),
            negentropy.association_weight_temporal(now(), now(), 0),
            negentropy.association_weight_semantic('NaN'),
            negentropy.association_weight_semantic(NULL)
        """
    ) == [(0.0, 0.0, 0.0, 0.0, None, None)]
