"""Retention: the SQL functions against the golden table and against Python on random rows."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from negmem.core.formulas import retention
from negmem.core.formulas.bounds import days_between
from tests.support.databases import TestDatabase
from tests.support.golden import HALF_A_DIGIT, number, rows

pytestmark = pytest.mark.servers("embedded", "full", "sixteen")

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
TYPES = [*retention.DECAY_PER_DAY, "summary", "", "反思"]

ROWS = """
    FROM ROWS FROM (jsonb_to_recordset(%s) AS (
        n integer, accessed timestamptz, created timestamptz, type text, related integer,
        rate double precision, now timestamptz, lambda double precision,
        threshold double precision, metadata jsonb)) WITH ORDINALITY AS r
    ORDER BY r.ordinality
"""
SCORES = (
    """
    SELECT negentropy.calculate_retention_score(r.n, r.accessed, r.created, r.type, r.related,
        r.rate, r.now, r.lambda)
    """
    + ROWS
)
CROSSINGS = (
    """
    SELECT NULLIF(negentropy.retention_crossing_time(r.n, r.accessed, r.created, r.type, r.related,
        r.rate, r.threshold, r.lambda), 'infinity')
    """
    + ROWS
)


def ask(database: TestDatabase, statement: str, batch: list[dict[str, Any]]) -> list[Any]:
    """One value a row, in order, from one statement."""
    return [row[0] for row in database.rows(statement, (json.dumps(batch, default=str),))]


def test_golden_vectors(database: TestDatabase) -> None:
    table = rows("retention")
    batch = [
        {
            "n": int(row["access_count"]),
            "accessed": NOW - timedelta(days=float(row["days_since_access"])),
            "created": NOW - timedelta(days=float(row["days_since_creation"])),
            "type": row["type"],
            "related": int(row["related_count"]),
            "rate": number(row["rate"]),
            "now": NOW,
            "lambda": 0.1,
        }
        for row in table
    ]
    assert len(batch) == 46
    for row, score in zip(table, ask(database, SCORES, batch), strict=True):
        assert score == pytest.approx(float(row["score"]), abs=HALF_A_DIGIT), row["id"]


def test_the_three_argument_form_is_an_episodic_memory_created_at_its_last_access(
    database: TestDatabase,
) -> None:
    short, full, by_default = database.rows(
        """
        SELECT negentropy.calculate_retention_score(3, now() - interval '5 days', 0.2),
            negentropy.calculate_retention_score(3, now() - interval '5 days',
                now() - interval '5 days', 'episodic', p_decay_rate => 0.2),
            negentropy.calculate_retention_score(3, now() - interval '5 days')
        """
    )[0]
    assert short == full
    assert short == pytest.approx(retention.retention_score(3, 5, 5, rate=0.2), abs=1e-9)
    assert by_default == pytest.approx(retention.retention_score(3, 5, 5), abs=1e-9)


def random_rows(seed: int, count: int) -> list[dict[str, Any]]:
    """Rows as they come, and rows as they should never come."""
    chance = random.Random(seed)
    batch = []
    for _ in range(count):
        span = chance.choice([10, 400, 4_000, 300_000])
        batch.append(
            {
                "n": chance.choice([-5, 0, 0, 1, 7, 150, 2_147_483_647, -2_147_483_648, None]),
                "accessed": chance.choice(
                    [None, NOW - timedelta(days=chance.uniform(-span, span))]
                ),
                "created": NOW - timedelta(days=chance.uniform(-span, span)),
                "type": chance.choice([*TYPES, None]),
                "related": chance.choice([-3, 0, 1, 2, 5, 6, 50, 2_147_483_647, None]),
                "rate": chance.choice([None, None, 0.0, 0.003, 0.1, 9.5, 1e-9, 1e9]),
                "now": NOW,
                "lambda": chance.choice([0.1, 0.05, 0.3, 10.0, 1e-6]),
                "threshold": chance.choice([0.01, 0.05, 0.1, 0.25, 0.6, 0.99]),
            }
        )
    return batch


def test_scores_of_random_rows(database: TestDatabase) -> None:
    batch = random_rows(1, 5_000)
    for row, score in zip(batch, ask(database, SCORES, batch), strict=True):
        accessed, created = row["accessed"] or row["created"], row["created"]
        expected = retention.retention_score(
            row["n"],
            days_between(accessed, NOW),
            days_between(created, NOW),
            row["type"],
            row["related"],
            rate=row["rate"],
            decay_lambda=row["lambda"],
        )
        assert score == pytest.approx(expected, abs=1e-9), row


def test_crossings_of_random_rows(database: TestDatabase) -> None:
    batch = random_rows(2, 4_000)
    missed = 0
    for row, crossing in zip(batch, ask(database, CROSSINGS, batch), strict=True):
        expected = retention.crossing_time(
            row["n"],
            row["accessed"],
            row["created"],
            row["type"],
            row["related"],
            threshold=row["threshold"],
            rate=row["rate"],
            decay_lambda=row["lambda"],
        )
        assert (crossing is None) == (expected is None), row
        if crossing is None or expected is None:
            missed += 1
        else:
            # On a nearly flat curve a second changes less than the last bit of the score.
            assert abs((crossing - expected).total_seconds()) <= 1, row
    assert 0 < missed < len(batch)


def test_scores_at_the_ends_of_time(database: TestDatabase) -> None:
    ends = ["-infinity", "4713-01-01 BC", "0001-01-01", "2026-06-01", "294276-12-31", "infinity"]
    batch = [
        {"n": 0, "accessed": accessed, "created": created, "type": "episodic", "related": 0,
         "now": now, "lambda": 0.1, "rate": rate, "threshold": 0.1}
        for accessed in ends
        for created in ends
        for now in ends
        for rate in (None, 0.0, 0.1, 1e9)
    ]  # fmt: skip
    scores = ask(database, SCORES, batch)
    assert all(0.0 <= score <= 1.0 for score in scores)
    wanted = {"accessed": "-infinity", "created": "-infinity", "now": "2026-06-01", "rate": None}
    assert pick(batch, scores, wanted) == pytest.approx(0.0)
    assert pick(batch, scores, {**wanted, "accessed": "infinity"}) == pytest.approx(0.2)
    assert pick(batch, scores, {**wanted, "created": "infinity"}) == pytest.approx(0.1)
    assert pick(batch, scores, {**wanted, "rate": 0.0}) == pytest.approx(0.2)
    assert len(ask(database, CROSSINGS, batch)) == len(batch)


def pick(batch: list[dict[str, Any]], values: list[Any], wanted: dict[str, Any]) -> Any:
    """The value of the row that has all of `wanted`."""
    return next(
        value
        for row, value in zip(batch, values, strict=True)
        if all(row[name] == expected for name, expected in wanted.items())
    )


def test_no_rate_makes_the_score_raise(database: TestDatabase) -> None:
    for rate in ("'NaN'", "'-Infinity'", "'Infinity'", "-1", "5e-324", "1e308"):
        for days in ("0", "0.000001", "400", "2000000"):
            score = database.value(
                f"""
                SELECT negentropy.calculate_retention_score(1, t.at, t.at, 'fact', 1, {rate}, now(),
                        {rate})
                    + negentropy.calculate_retention_score(1, t.at, {rate})
                    + 0 * date_part('second', COALESCE(NULLIF(negentropy.retention_crossing_time(
                        1, t.at, t.at, 'fact', 1, {rate}, 0.1, {rate}), 'infinity'), now()))
                FROM (SELECT now() - {days} * interval '24 hours' AS at) AS t
                """
            )
            assert 0.0 <= score <= 2.0, (rate, days)


def test_no_senseless_threshold_forgets(database: TestDatabase) -> None:
    for threshold in ("NULL", "'NaN'", "0", "-1"):
        assert database.value(
            "SELECT negentropy.retention_crossing_time(0, now(), now(), 'episodic', 0, NULL,"
            f" {threshold}) = 'infinity'"
        ), threshold


def test_a_memory_without_dates_is_not_forgotten(database: TestDatabase) -> None:
    score, never = database.rows(
        """
        SELECT negentropy.calculate_retention_score(0, NULL, NULL, 'episodic'),
            negentropy.retention_crossing_time(0, NULL, NULL, 'episodic') = 'infinity'
        """
    )[0]
    assert score == pytest.approx(0.3)
    assert never


def test_decay_overrides(database: TestDatabase) -> None:
    documents: list[Any] = [
        {"decay_override": 0.003}, {"decay_override": 0}, {"decay_override": 1_000_000},
        {"decay_override": 1_000_001}, {"decay_override": -0.1}, {"decay_override": "slow"},
        {"decay_override": "0.003"}, {"decay_override": True}, {"decay_override": None},
        {"decay_override": [1]}, {"decay_override": 1e-300}, {}, [], "text", None,
    ]  # fmt: skip
    found = database.rows(
        """
        SELECT negentropy.retention_decay_override(d.document)
        FROM jsonb_array_elements(%s) WITH ORDINALITY AS d (document, place)
        ORDER BY d.place
        """,
        (json.dumps(documents),),
    )
    for document, (value,) in zip(documents, found, strict=True):
        metadata = document if isinstance(document, dict) else None
        expected = retention.decay_override_of(metadata)
        if expected is None:
            assert value is None, document
        else:
            assert value == pytest.approx(expected, abs=1e-15), document
    assert database.value(
        """SELECT negentropy.retention_decay_override('{"decay_override": 1e400}') IS NULL"""
    )


def test_the_basis_is_the_one_that_the_table_compares_with(database: TestDatabase) -> None:
    database.rows(
        """
        INSERT INTO negentropy.memories (user_id, app_name, content, memory_type, access_count,
            last_accessed_at, metadata)
        SELECT 'ada', 'negmem', '第' || n || '条', CASE n % 2 WHEN 0 THEN 'fact' ELSE 'core' END, n,
            CASE WHEN n % 3 > 0 THEN now() - n * interval '1 day' END,
            CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE '{"decay_override": 0.02}'::jsonb END
        FROM generate_series(1, 24) AS n
        """
    )
    assert (
        database.value("SELECT count(*) FROM negentropy.memories WHERE due_at = '-infinity'") == 24
    )
    database.rows(
        """
        UPDATE negentropy.memories SET fades_basis = negentropy.retention_basis(access_count,
            last_accessed_at, created_at, memory_type, metadata)
        """
    )
    assert (
        database.value("SELECT count(*) FROM negentropy.memories WHERE due_at = 'infinity'") == 24
    )


def test_the_planner_inlines_the_score(database: TestDatabase) -> None:
    plan = database.rows(
        """
        EXPLAIN (VERBOSE, COSTS OFF)
        SELECT negentropy.calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
                m.memory_type, 0, negentropy.retention_decay_override(m.metadata), now(), 0.1),
            negentropy.calculate_retention_score(m.access_count, m.last_accessed_at),
            negentropy.calculate_importance_score(m.access_count, m.last_accessed_at, m.created_at,
                m.memory_type),
            negentropy.proactive_rank(m.importance_score, m.last_accessed_at, m.access_count)
        FROM negentropy.memories AS m
        """
    )
    text = "\n".join(line for (line,) in plan)
    for name in (
        "calculate_retention",
        "retention_decay_override",
        "importance_score(",
        "proactive_",
    ):
        assert name not in text
