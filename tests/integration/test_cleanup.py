"""The forgetting sweep: what goes, what never goes, and that it equals the full rewrite."""

from __future__ import annotations

import json
import random

import psycopg
import pytest

from negmem.core.formulas import retention
from tests.support.databases import TestDatabase
from tests.support.memories import add_app, add_many, add_memory, add_thread, live

pytestmark = pytest.mark.servers("embedded", "sixteen")

CLEANUP = "SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.1)"
ALL = "SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.1, p_max_share => 1, p_max_rows => NULL)"


@pytest.fixture(autouse=True)
def stored(database: TestDatabase) -> None:
    """The stored config has the numbers of the calls, so that the rows are found by the index."""
    database.rows(
        "UPDATE negentropy.memory_automation_configs SET config = jsonb_set(config, '{retention}',"
        """ config -> 'retention' || '{"low_retention_threshold": 0.1, "min_age_days": 7}')"""
    )


def test_what_is_under_the_threshold_is_soft_deleted_with_a_trail(database: TestDatabase) -> None:
    old = add_memory(database, "the meeting is over 会议结束了", days=40)
    fresh = add_memory(database, "a new job 新工作", days=1)
    assert database.value(CLEANUP) == 1
    assert live(database) == {fresh}
    row = database.rows(
        "SELECT deleted_reason, metadata ->> 'deleted', deleted_at <= now(), content"
        " FROM negentropy.memories WHERE id = %s",
        (old,),
    )
    assert row == [("retention", "true", True, "the meeting is over 会议结束了")]
    trail = database.rows("SELECT memory_id, decision, user_id FROM negentropy.memory_audit_logs")
    assert [(memory, decision) for memory, decision, _ in trail] == [(old, "delete")]
    assert trail[0][2] != "ada"
    assert database.value(CLEANUP) == 0


def test_nothing_read_last_week_goes_on_day_seven(database: TestDatabase) -> None:
    for memory_type in retention.DECAY_PER_DAY:
        add_memory(database, memory_type, days=7.1, memory_type=memory_type)
    assert database.value(CLEANUP) == 0


def test_each_type_fades_at_its_own_rate(database: TestDatabase) -> None:
    days = {
        "episodic": 31.45,
        "fact": 38.53,
        "procedural": 48.3,
        "preference": 56.45,
        "semantic": 267.84,
    }
    kept = {
        add_memory(database, memory_type, days=day - 0.1, memory_type=memory_type)
        for memory_type, day in days.items()
    }
    for memory_type, day in days.items():
        add_memory(database, memory_type, days=day + 0.1, memory_type=memory_type)
    kept.add(add_memory(database, "core", days=5_000, memory_type="core"))
    assert database.value(CLEANUP) == len(days)
    assert live(database) == kept


def test_a_higher_rate_forgets_sooner_but_keeps_the_types_apart(database: TestDatabase) -> None:
    preference = add_memory(database, "tea 茶", days=20, memory_type="preference")
    add_memory(database, "weather 天气", days=20)
    assert database.value("SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.2)") == 1
    assert live(database) == {preference}


def test_core_pinned_young_held_and_overridden_memories_stay(database: TestDatabase) -> None:
    kept = {
        add_memory(
            database, "core", days=900, memory_type="core", metadata='{"decay_override": 1}'
        ),
        add_memory(database, "pinned", days=900, pinned=True),
        add_memory(database, "young", days=6.9, metadata='{"decay_override": 1000}'),
        add_memory(database, "slow", days=100, metadata='{"decay_override": 0.003}'),
    }
    held = add_memory(database, "held", user="bob", days=900)
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name, held_at) VALUES ('bob', 'negmem', now())"
    )
    assert database.value("SELECT negentropy.cleanup_low_value_memories(0.99, 7, 0.1)") == 1
    assert live(database) == kept - {
        row[0]
        for row in database.rows("SELECT id::text FROM negentropy.memories WHERE content = 'slow'")
    }
    assert live(database, user="bob") == {held}


def test_bad_rows_neither_raise_nor_go_wrong(database: TestDatabase) -> None:
    add_memory(database, "forever 永远", days=900)
    for accessed, created in (
        ("'infinity'", "now()"),
        ("'-infinity'", "'-infinity'"),
        ("NULL", "'0001-01-01'"),
        ("'4000-01-01'", "'4000-01-01'"),
    ):
        database.rows(
            "INSERT INTO negentropy.memories (user_id, app_name, content, access_count,"
            " last_accessed_at, created_at, metadata) VALUES ('ada', 'negmem', 'x', -7,"
            f""" {accessed}, {created}, '{{"decay_override": "slow"}}')"""
        )
    assert database.value(CLEANUP) == 3
    assert len(live(database)) == 2
    assert database.value(CLEANUP) == 0


def test_neighbours_and_facts_of_a_thread_keep_a_memory_longer(database: TestDatabase) -> None:
    alone = add_memory(database, "alone", days=33, thread="solo")
    joined = {add_memory(database, f"turn {n}", days=33, thread="chat") for n in range(6)}
    with_facts = add_memory(database, "with facts", days=33, thread="facts")
    database.rows(
        """
        INSERT INTO negentropy.facts (user_id, app_name, thread_id, key, value)
        SELECT 'ada', 'negmem', t.id, 'key ' || n, '{}'
        FROM negentropy.threads AS t, generate_series(1, 5) AS n WHERE t.external_id = 'facts'
        """
    )
    assert database.value(CLEANUP) == 1
    assert live(database) == joined | {with_facts}
    assert alone not in live(database)


def test_neighbours_of_what_went_fade_sooner(database: TestDatabase) -> None:
    kept = add_memory(database, "kept", days=10, thread="chat")
    for n in range(3):
        add_memory(database, f"gone {n}", days=60, thread="chat")
    database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    before = database.value("SELECT fades_at FROM negentropy.memories WHERE id = %s", (kept,))
    assert database.value(CLEANUP) == 3
    after = database.value("SELECT fades_at FROM negentropy.memories WHERE id = %s", (kept,))
    assert after < before


def test_a_user_loses_at_most_a_fifth_a_day_but_twenty_may_always_go(
    database: TestDatabase,
) -> None:
    add_many(database, 200, user="heavy")
    add_many(database, 20, user="light")
    add_many(database, 30, user="middle")
    assert database.value(CLEANUP) == 40 + 20 + 20
    assert database.value(CLEANUP) == 0
    message = database.value(
        "SELECT message FROM negentropy.automation_runs ORDER BY started_at LIMIT 1"
    )
    assert message.startswith("170 more wait")
    # The oldest went first.
    assert (
        database.value(
            "SELECT min(substring(content FROM '\\d+')::int) FROM negentropy.memories"
            " WHERE user_id = 'heavy' AND deleted_at IS NOT NULL"
        )
        == 161
    )
    database.rows(
        "UPDATE negentropy.memories SET deleted_at = deleted_at - interval '25 hours'"
        " WHERE deleted_at IS NOT NULL"
    )
    assert database.value(CLEANUP) == 32 + 10
    assert database.value(ALL) == 128


def test_a_short_statement_timeout_makes_small_batches(database: TestDatabase) -> None:
    add_many(database, 150, days=100)
    # Set in the statement itself: read by the function, and too late to end it.
    call = (
        "SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.1, p_max_share => 1)"
        " FROM (SELECT set_config('statement_timeout', '450', true) OFFSET 0) AS short"
    )
    assert [database.value(call) for _ in range(3)] == [100, 50, 0]


def test_one_call_takes_at_most_max_rows(database: TestDatabase) -> None:
    for user in ("ada", "bob", "cho"):
        add_many(database, 20, user=user)
    call = "SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.1, p_max_rows => 25)"
    assert [database.value(call) for _ in range(4)] == [25, 25, 10, 0]


def test_two_apps_forget_by_their_own_thresholds(database: TestDatabase) -> None:
    add_app(database, "strict", low_retention_threshold=0.25)
    for app in ("negmem", "strict", "unlisted"):
        add_memory(database, "five days 五天", app=app, days=10)
        add_memory(database, "old 旧", app=app, days=60)
    assert database.value(CLEANUP) == 2
    assert [len(live(database, app=app)) for app in ("negmem", "strict", "unlisted")] == [1, 2, 1]
    strict = "SELECT negentropy.cleanup_low_value_memories(0.25, 7, 0.1, 'strict')"
    assert database.value(strict) == 2
    assert [len(live(database, app=app)) for app in ("negmem", "strict", "unlisted")] == [1, 0, 1]
    only = "SELECT negentropy.cleanup_low_value_memories(0.9, 7, 0.1, p_app_name => 'unlisted')"
    assert database.value(only) == 1
    assert len(live(database)) == 1


def random_memories(database: TestDatabase, seed: int, count: int) -> None:
    """Memories of all sorts, some in threads with facts."""
    chance = random.Random(seed)
    for name in ("t1", "t2"):
        add_thread(database, name)
    database.rows(
        """
        INSERT INTO negentropy.facts (user_id, app_name, thread_id, key, value)
        SELECT 'ada', 'negmem', t.id, 'name', '{}' FROM negentropy.threads AS t
        WHERE t.external_id = 't1'
        """
    )
    batch = []
    for _ in range(count):
        days = chance.uniform(0, 120)
        batch.append(
            {
                "days": days,
                "accessed": chance.uniform(0, days),
                "type": chance.choice([*retention.DECAY_PER_DAY, "summary"]),
                "count": chance.choice([0, 0, 1, 4]),
                "thread": chance.choice([None, "t1", "t2"]),
                "metadata": chance.choice([{}, {"decay_override": 0.5}]),
            }
        )
    database.rows(
        """
        INSERT INTO negentropy.memories (user_id, app_name, thread_id, content, memory_type,
            access_count, created_at, last_accessed_at, metadata)
        SELECT 'ada', 'negmem', t.id, 'a memory 一段记忆', r.type, r.count,
            now() - r.days * interval '24 hours', now() - r.accessed * interval '24 hours', r.metadata
        FROM jsonb_to_recordset(%s) AS r (days double precision, accessed double precision,
            type text, count integer, thread text, metadata jsonb)
        LEFT JOIN negentropy.threads AS t ON t.external_id = r.thread
        """,
        (json.dumps(batch),),
    )


REWRITE = """
    SELECT m.id::text
    FROM negentropy.memories AS m
    WHERE m.deleted_at IS NULL AND m.memory_type <> 'core'
        AND m.created_at < now() - %(min_age)s * interval '24 hours'
        AND negentropy.calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
            m.memory_type, negentropy.related_count(m.user_id, m.app_name, m.thread_id, m.id),
            negentropy.retention_decay_override(m.metadata), now(), %(rate)s) < %(threshold)s
"""


@pytest.mark.parametrize(
    ("threshold", "min_age", "rate"), [(0.1, 7, 0.1), (0.3, 1, 0.1), (0.1, 7, 0.02)]
)
@pytest.mark.parametrize("rescored", [True, False])
def test_the_sweep_equals_the_full_rewrite(
    database: TestDatabase, threshold: float, min_age: int, rate: float, rescored: bool
) -> None:
    random_memories(database, 7, 120)
    if rescored:
        database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    settings = {"threshold": threshold, "min_age": min_age, "rate": rate}
    expected = {row[0] for row in database.rows(REWRITE, settings)}
    before = live(database)
    assert expected
    assert expected != before
    count = database.value(
        "SELECT negentropy.cleanup_low_value_memories(%(threshold)s, %(min_age)s, %(rate)s,"
        " p_max_share => 1, p_max_rows => NULL)",
        settings,
    )
    assert before - live(database) == expected
    assert count == len(expected)


def test_rows_changed_behind_the_sweep_are_seen(database: TestDatabase) -> None:
    memory = add_memory(database, "aged by hand", days=1)
    database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    assert database.value(CLEANUP) == 0
    database.rows(
        "UPDATE negentropy.memories SET created_at = created_at - interval '60 days',"
        " last_accessed_at = last_accessed_at - interval '60 days' WHERE id = %s",
        (memory,),
    )
    assert database.value(CLEANUP) == 1


def test_a_sweep_mends_the_fading_times_of_raw_rows(database: TestDatabase) -> None:
    add_many(database, 30, days=2)
    assert database.value(CLEANUP) == 0
    assert database.value("SELECT count(*) FROM negentropy.memories WHERE due_at > now()") == 30
    assert database.rows(
        "SELECT fades_threshold, fades_lambda, fades_min_age, fades_importance, fades_next"
        " FROM negentropy.users"
    ) == [(0.1, 0.1, 7, 0.9, None)]


def test_a_changed_config_is_recomputed_in_bounded_steps(database: TestDatabase) -> None:
    add_many(database, 30, days=20)
    assert database.value(ALL) == 0
    database.rows(
        "UPDATE negentropy.memory_automation_configs"
        " SET config = jsonb_set(config, '{retention}', config -> 'retention'"
        """ || '{"low_retention_threshold": 0.2, "min_age_days": 30}')"""
    )
    call = "SELECT negentropy.cleanup_low_value_memories(0.2, 30, 0.1, p_max_rows => 12)"
    pending = "SELECT fades_next IS NOT NULL FROM negentropy.users"
    states = []
    for _ in range(3):
        assert database.value(call) == 0
        states.append(database.value(pending))
    assert states == [True, True, False]
    due = "SELECT count(*) FROM negentropy.memories WHERE due_at <= now() + interval '10 days'"
    assert database.value(due) == 30
    assert (
        database.value(
            "SELECT negentropy.cleanup_low_value_memories(0.2, 7, 0.1, p_max_rows => 12)"
        )
        == 12
    )


def test_queued_accesses_are_applied_before_anything_goes(database: TestDatabase) -> None:
    read = add_memory(database, "just found 刚找到", days=60)
    add_memory(database, "not found", days=60)
    database.rows(
        """
        INSERT INTO negentropy.memory_retrieval_logs
            (user_id, app_name, query, retrieved_memory_ids, counted)
        VALUES ('ada', 'negmem', 'q', ARRAY[%(id)s]::uuid[], true),
            ('ada', 'negmem', 'q', ARRAY[%(id)s]::uuid[], false),
            ('eve', 'negmem', 'q', ARRAY[%(id)s]::uuid[], true)
        """,
        {"id": read},
    )
    assert database.value(CLEANUP) == 1
    assert live(database) == {read}
    assert database.rows(
        "SELECT access_count, importance_score, last_accessed_at > now() - interval '1 hour',"
        " retention_score > 0.3, due_at > now() FROM negentropy.memories WHERE id = %s",
        (read,),
    ) == [(1, 0.52, True, True, True)]
    assert (
        database.value(
            "SELECT count(*) FROM negentropy.memory_retrieval_logs WHERE applied_at IS NULL"
        )
        == 0
    )
    assert database.value("SELECT negentropy.apply_recorded_accesses()") == 0


def test_accesses_are_applied_once_and_per_user(database: TestDatabase) -> None:
    memories = [add_memory(database, f"m {n}", days=3) for n in range(2)]
    add_app(database, "other")
    database.rows(
        """
        INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids)
        SELECT 'ada', app, 'q', %s::uuid[] FROM (VALUES ('negmem'), ('negmem'), ('other')) AS a (app)
        """,
        (memories,),
    )
    assert database.value("SELECT negentropy.apply_recorded_accesses(p_max_logs => 1)") == 1
    assert database.value("SELECT negentropy.apply_recorded_accesses()") == 1
    assert database.value("SELECT negentropy.apply_recorded_accesses('other')") == 1
    assert database.value("SELECT array_agg(access_count) FROM negentropy.memories") == [2, 2]


def test_a_second_run_sees_the_first_and_leaves(database: TestDatabase) -> None:
    add_memory(database, days=60)
    first = database.connect(autocommit=False)
    assert first.execute(CLEANUP.encode()).fetchone() == (1,)
    second = database.connect()
    notices: list[str] = []
    second.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    assert second.execute(CLEANUP.encode()).fetchone() == (0,)
    assert notices == ["cleanup_low_value_memories: skipped, already running"]
    first.rollback()
    assert len(live(database)) == 1
    assert database.rows("SELECT status, rows_touched FROM negentropy.automation_runs") == [
        ("skipped", 0)
    ]


def test_rows_that_others_hold_are_passed_over(database: TestDatabase) -> None:
    held = add_memory(database, "held by another", days=60)
    add_memory(database, "free", days=60)
    database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    other = database.connect(autocommit=False)
    other.execute("SELECT 1 FROM negentropy.memories WHERE id = %s FOR UPDATE", (held,))
    assert database.value(CLEANUP) == 1
    assert live(database) == {held}
    other.rollback()
    assert database.value(CLEANUP) == 1


def test_no_row_that_is_held_stops_a_sweep(database: TestDatabase) -> None:
    """Held are: one whose fading time is not computed, a neighbour of what goes, one of a recompute."""
    raw = add_memory(database, "changed by hand, young 手改", days=2)
    neighbour = add_memory(database, "beside it", days=10, thread="chat")
    database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    database.rows("UPDATE negentropy.memories SET access_count = 1 WHERE id = %s", (raw,))
    other = database.connect(autocommit=False)
    with database.connect() as sweeper:
        sweeper.execute("SET lock_timeout = '200ms'")
        for thread, threshold in (("chat", 0.1), ("chat", 0.1), ("chat", 0.11)):
            gone = add_memory(database, "gone 走了", days=60, thread=thread)
            database.rows(
                "SELECT negentropy.rescore_memories('ada', 'negmem', ARRAY[%s::uuid])", (gone,)
            )
            database.rows(
                "UPDATE negentropy.memory_automation_configs SET config ="
                " jsonb_set(config, '{retention,low_retention_threshold}', to_jsonb(%s::float8))",
                (threshold,),
            )
            other.execute(
                "SELECT 1 FROM negentropy.memories WHERE id = ANY (%s) FOR UPDATE",
                ([raw, neighbour],),
            )
            call = "SELECT negentropy.cleanup_low_value_memories(%s, 7, 0.1)"
            assert sweeper.execute(call.encode(), (threshold,)).fetchone() == (1,)
            assert live(database) == {raw, neighbour}
            other.rollback()
    assert database.value("SELECT negentropy.cleanup_low_value_memories(0.11, 7, 0.1)") == 0
    assert database.value(
        "SELECT fades_next IS NULL AND fades_threshold = 0.11 FROM negentropy.users"
    )


def test_a_run_is_recorded_with_what_it_did(database: TestDatabase) -> None:
    add_memory(database, days=60)
    database.rows(CLEANUP)
    assert database.rows(
        "SELECT job, source, status, rows_touched, finished_at >= started_at"
        " FROM negentropy.automation_runs"
    ) == [("cleanup_memories", "manual", "succeeded", 1, True)]


def test_senseless_numbers_are_refused(database: TestDatabase) -> None:
    for arguments in (
        "NULL, 7, 0.1",
        "'NaN', 7, 0.1",
        "-0.1, 7, 0.1",
        "0.1, -1, 0.1",
        "0.1, 7, NULL",
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            database.rows(f"SELECT negentropy.cleanup_low_value_memories({arguments})")
        assert refused.value.diag.message_hint == "give numbers that are not negative"


def test_the_operators_statement_and_its_defaults(database: TestDatabase) -> None:
    add_memory(database, days=600)
    add_memory(database, days=660)
    assert database.value("SELECT negentropy.cleanup_low_value_memories()") == 1
    names = database.rows(
        "SELECT count(*) FROM pg_proc WHERE proname = 'cleanup_low_value_memories'"
    )
    assert names == [(1,)]
