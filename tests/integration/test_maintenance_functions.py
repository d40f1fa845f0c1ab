"""Queueing of changed threads, and relevance from feedback."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.databases import TestDatabase
from tests.support.memories import add_app, add_memory, add_thread

pytestmark = pytest.mark.servers("embedded", "sixteen")

TRIGGER = "SELECT negentropy.trigger_maintenance_consolidation('1 hour'::interval)"
REWEIGHT = "SELECT negentropy.reweight_all_users_relevance()"


def jobs(database: TestDatabase) -> list[tuple[str, str, str]]:
    """User, app and name of the thread of each queued job."""
    return [
        (row[0], row[1], row[2])
        for row in database.rows(
            """
            SELECT j.user_id, j.app_name, t.external_id
            FROM negentropy.consolidation_jobs AS j
            JOIN negentropy.threads AS t ON t.id = j.thread_id AND t.user_id = j.user_id
            WHERE j.job_type = 'full_consolidation' AND j.status = 'pending'
            ORDER BY 1, 2, 3
            """
        )
    ]


def test_threads_that_changed_are_queued_once(database: TestDatabase) -> None:
    add_thread(database, "晨会")
    add_thread(database, "lunch", user="bob")
    add_thread(database, "old")
    database.rows(
        "UPDATE negentropy.threads SET updated_at = now() - interval '2 hours'"
        " WHERE external_id = 'old'"
    )
    assert database.value(TRIGGER) == 2
    assert jobs(database) == [("ada", "negmem", "晨会"), ("bob", "negmem", "lunch")]
    assert database.value(TRIGGER) == 0
    assert database.value("SELECT negentropy.trigger_maintenance_consolidation('3 hours')") == 1
    assert database.rows(
        "SELECT job, status, rows_touched FROM negentropy.automation_runs ORDER BY started_at"
    ) == [("trigger_consolidation", "succeeded", count) for count in (2, 0, 1)]


def test_a_job_that_still_waits_is_not_queued_again(database: TestDatabase) -> None:
    add_thread(database, "slow")
    assert database.value(TRIGGER) == 1
    database.rows("UPDATE negentropy.consolidation_jobs SET created_at = now() - interval '1 day'")
    assert database.value(TRIGGER) == 0
    database.rows("UPDATE negentropy.consolidation_jobs SET status = 'failed'")
    assert database.value(TRIGGER) == 1


def test_users_who_are_paused_or_held_are_left_out(database: TestDatabase) -> None:
    for user, column in (("p", "paused_at"), ("h", "held_at"), ("e", "erasing_since")):
        add_thread(database, "t", user=user)
        database.rows(
            f"INSERT INTO negentropy.users (user_id, app_name, {column}) VALUES (%s, 'negmem', now())",
            (user,),
        )
    assert database.value(TRIGGER) == 0


def test_apps_with_a_config_of_their_own_are_asked_for_by_name(database: TestDatabase) -> None:
    add_app(database, "crm")
    for app in ("negmem", "crm", "unlisted"):
        add_thread(database, "t", app=app)
    assert database.value("SELECT negentropy.trigger_maintenance_consolidation()") == 2
    assert [app for _, app, _ in jobs(database)] == ["negmem", "unlisted"]
    assert (
        database.value("SELECT negentropy.trigger_maintenance_consolidation('1 hour', 'crm')") == 1
    )


def test_an_interval_that_holds_nothing_is_refused(database: TestDatabase) -> None:
    for interval in ("NULL", "'0'", "'-1 hour'"):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="no thread can have"):
            database.rows(f"SELECT negentropy.trigger_maintenance_consolidation({interval})")


@pytest.mark.parametrize("call", [TRIGGER, REWEIGHT])
def test_a_second_run_sees_the_first_and_leaves(database: TestDatabase, call: str) -> None:
    first = database.connect(autocommit=False)
    first.execute(call.encode())
    assert database.value(call) == 0
    first.rollback()
    assert database.rows("SELECT status FROM negentropy.automation_runs") == [("skipped",)]


def give_feedback(
    database: TestDatabase,
    outcome: str,
    memories: list[str],
    *,
    user: str = "ada",
    times: int = 1,
    used: list[str] | None = None,
) -> None:
    """So many retrievals that gave `memories`, each judged."""
    database.rows(
        """
        WITH log AS (
            INSERT INTO negentropy.memory_retrieval_logs
                (user_id, app_name, query, retrieved_memory_ids)
            SELECT %(user)s::varchar, 'negmem', '咖啡', %(ids)s::uuid[]
            FROM generate_series(1, %(times)s)
            RETURNING user_id, app_name, id
        )
        INSERT INTO negentropy.retrieval_feedback
            (user_id, app_name, retrieval_id, outcome, memory_ids, used_ids)
        SELECT l.user_id, l.app_name, l.id, %(outcome)s::varchar, %(ids)s::uuid[], %(used)s::uuid[]
        FROM log AS l
        """,
        {"user": user, "ids": memories, "outcome": outcome, "times": times, "used": used or []},
    )


def weights(database: TestDatabase) -> dict[str, float]:
    """The relevance weight of each memory by its content."""
    return dict(
        database.rows("SELECT content, relevance_weight FROM negentropy.memories")  # type: ignore[arg-type]
    )


def test_feedback_moves_the_weights_of_what_it_names(database: TestDatabase) -> None:
    good = add_memory(database, "good 好")
    bad = add_memory(database, "bad 坏")
    few = add_memory(database, "few")
    other = add_memory(database, "other", user="bob")
    give_feedback(database, "helpful", [good], times=3, used=[good])
    give_feedback(database, "irrelevant", [bad], times=2)
    give_feedback(database, "harmful", [bad])
    give_feedback(database, "helpful", [few], times=2)
    give_feedback(database, "helpful", [other], times=3)  # ada names a memory of bob's
    assert database.value(REWEIGHT) == 2
    assert weights(database) == {
        "good 好": pytest.approx(1.75),
        "bad 坏": pytest.approx(1 - (2 * 0.15 + 0.5) / 3),
        "few": 1.0,
        "other": 1.0,
    }
    assert database.value(REWEIGHT) == 0


def test_a_weight_returns_to_one_with_its_votes(database: TestDatabase) -> None:
    memory = add_memory(database, "once liked 曾经喜欢")
    give_feedback(database, "helpful", [memory], times=4)
    assert database.value(REWEIGHT) == 1
    database.rows("DELETE FROM negentropy.memory_retrieval_logs")
    assert database.value(REWEIGHT) == 1
    assert set(weights(database).values()) == {1.0}


def test_old_votes_count_less_and_the_app_sets_the_numbers(database: TestDatabase) -> None:
    memory = add_memory(database, "liked long ago 很久以前")
    give_feedback(database, "helpful", [memory], times=4)
    database.rows(
        "UPDATE negentropy.retrieval_feedback SET created_at = now() - interval '90 days'"
    )
    assert database.value(REWEIGHT) == 0  # four halves are two votes, under the three that it takes
    database.rows(
        "UPDATE negentropy.memory_automation_configs SET config = jsonb_set(config,"
        " '{reweight_relevance}', config -> 'reweight_relevance' || '{\"min_count\": 2, \"beta\": 0.5}')"
    )
    assert database.value(REWEIGHT) == 1
    assert set(weights(database).values()) == {1.5}


def test_the_zone_of_who_runs_it_moves_no_weight(database: TestDatabase) -> None:
    memory = add_memory(database, "liked, then not 先赞后踩")
    give_feedback(database, "harmful", [memory], times=3)
    database.rows(
        "UPDATE negentropy.retrieval_feedback SET created_at = now() - interval '12 hours'"
    )
    give_feedback(database, "helpful", [memory], times=3)
    changed = []
    with database.connect() as runner:
        for zone in ("UTC", "Etc/GMT+12", "Etc/GMT+6", "Asia/Dhaka", "Pacific/Kiritimati"):
            runner.execute(f"SET timezone = '{zone}'")
            changed += runner.execute(REWEIGHT).fetchone() or ()
    assert changed == [1, 0, 0, 0, 0]


def test_reweighting_keeps_to_its_app(database: TestDatabase) -> None:
    add_app(database, "crm")
    memory = add_memory(database, "liked")
    give_feedback(database, "helpful", [memory], times=3)
    assert database.value("SELECT negentropy.reweight_all_users_relevance('crm')") == 0
    assert database.value("SELECT negentropy.reweight_all_users_relevance('negmem')") == 1
