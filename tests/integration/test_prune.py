"""Pruning on a real database: what goes, what stays, what happens in between."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from negmem.core import memories
from negmem.core.evolution import prune
from negmem.core.session import Session
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on
from tests.support.memories import add_many, add_memory, live


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database) as opened:
        yield opened


def aged(database: TestDatabase, content: str, days: float, **more: object) -> str:
    """A memory that was stored and last changed `days` ago."""
    memory_id = add_memory(database, content, days=days, **more)  # type: ignore[arg-type]
    database.rows(
        "UPDATE negentropy.memories SET updated_at = created_at WHERE id = %s", (memory_id,)
    )
    return memory_id


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_old_ones_and_those_above_the_number_go_softly(
    session: Session, database: TestDatabase
) -> None:
    old = aged(database, "旧的记忆", 100)
    third, second, first = (aged(database, f"memory {n}", n) for n in (3, 2, 1))
    planned = prune.plan(session, "ada", max_age_days=90, max_count=2)
    preview = prune.preview(session, planned)
    assert live(database) == {old, third, second, first}
    done = prune.apply(session, planned)
    assert live(database) == {second, first}
    assert {(str(item.id), item.reason) for item in done.items} == {(old, "age"), (third, "count")}
    assert (done.removed, done.kept) == (2, 2)
    assert (done.reasons.age, done.reasons.count) == (1, 1)
    assert preview == done.model_copy(update={"dry_run": True})
    trail = database.rows("SELECT memory_id, decision FROM negentropy.memory_audit_logs")
    assert set(trail) == {(old, "delete"), (third, "delete")}
    again = prune.plan(session, "ada", max_age_days=90, max_count=2)
    assert again.removed == 0
    memories.restore(session, "ada", [UUID(old)])
    assert old in live(database)
    assert prune.plan(session, "ada", max_age_days=90).removed == 0


def test_pinned_and_core_memories_stay_and_count(session: Session, database: TestDatabase) -> None:
    pinned = aged(database, "pinned 置顶", 900, pinned=True)
    core = aged(database, "core", 900, memory_type="core")
    aged(database, "older", 2)
    newer = aged(database, "newer", 1)
    done = prune.apply(session, prune.plan(session, "ada", max_age_days=365, max_count=3))
    assert live(database) == {pinned, core, newer}
    assert (done.kept, done.protected) == (3, 2)


def test_a_change_renews_a_memory_and_an_insertion_does_not(
    session: Session, database: TestDatabase
) -> None:
    edited = memories.add(session, "ada", "first words").memory
    imported = memories.add(session, "ada", "imported 导入").memory
    assert edited is not None
    assert imported is not None
    database.rows("UPDATE negentropy.memories SET created_at = now() - interval '100 days'")
    memories.edit(session, "ada", edited.id, content="second words")
    done = prune.apply(session, prune.plan(session, "ada", max_age_days=90))
    assert [item.id for item in done.items] == [imported.id]


def test_an_update_that_another_client_wrote_counts(
    session: Session, database: TestDatabase
) -> None:
    database.rows(
        "INSERT INTO negentropy.memories (user_id, app_name, content, created_at, updated_at)"
        " VALUES ('ada', 'negmem', 'kept', now() - interval '200 days', now() - interval '2 days')"
    )
    assert prune.plan(session, "ada", max_age_days=90).removed == 0


def test_only_this_user_of_this_app_is_touched(session: Session, database: TestDatabase) -> None:
    aged(database, "ada's", 100)
    bob = aged(database, "bob's", 100, user="bob")
    other = aged(database, "ada's elsewhere", 100, app="other")
    prune.apply(session, prune.plan(session, "ada", max_age_days=1))
    assert live(database) == set()
    assert live(database, user="bob") == {bob}
    assert live(database, app="other") == {other}


def test_what_was_changed_since_the_plan_stays(session: Session, database: TestDatabase) -> None:
    pinned, edited, gone, plain = (aged(database, f"memory {n}", 100) for n in range(4))
    planned = prune.plan(session, "ada", max_age_days=90)
    memories.pin(session, "ada", [UUID(pinned)])
    memories.edit(session, "ada", UUID(edited), content="changed")
    memories.remove(session, "ada", [UUID(gone)])
    done = prune.apply(session, planned)
    assert [str(item.id) for item in done.items] == [plain]
    assert done.changed_meanwhile == 3
    assert live(database) == {pinned, edited}


def test_many_go_in_batches_with_an_entry_each(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "_BATCH", 20)
    add_many(database, 55, days=100)
    database.rows("UPDATE negentropy.memories SET updated_at = created_at")
    heard: list[tuple[int, int]] = []
    planned = prune.plan(session, "ada", max_count=5)
    done = prune.apply(session, planned, on_progress=lambda seen, of: heard.append((seen, of)))
    assert heard == [(20, 50), (40, 50), (50, 50)]
    assert (done.removed, done.kept) == (50, 5)
    assert database.value("SELECT count(*) FROM negentropy.memory_audit_logs") == 50


def test_an_interruption_keeps_what_was_done_and_goes_on(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "_BATCH", 20)
    add_many(database, 50, days=100)
    database.rows("UPDATE negentropy.memories SET updated_at = created_at")

    def interrupt(seen: int, of: int) -> None:
        raise KeyboardInterrupt

    planned = prune.plan(session, "ada", max_age_days=90)
    with pytest.raises(KeyboardInterrupt):
        prune.apply(session, planned, on_progress=interrupt)
    assert len(live(database)) == 30
    assert prune.apply(session, prune.plan(session, "ada", max_age_days=90)).removed == 30


def test_neighbours_that_are_left_fade_as_if_alone(
    session: Session, database: TestDatabase
) -> None:
    aged(database, "old turn", 100, thread="chat")
    left = aged(database, "new turn", 1, thread="chat")
    # Old enough to be forgotten: the score alone says when.
    database.rows(
        "UPDATE negentropy.memory_automation_configs"
        " SET config = jsonb_set(jsonb_set(config, '{retention,min_age_days}', '1'),"
        " '{retention,low_retention_threshold}', '0.1')"
    )
    database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    before = database.value("SELECT fades_at FROM negentropy.memories WHERE id = %s", (left,))
    prune.apply(session, prune.plan(session, "ada", max_age_days=90))
    after = database.value("SELECT fades_at FROM negentropy.memories WHERE id = %s", (left,))
    assert after < before


def test_neighbours_are_found_by_thread_whatever_the_statistics_say(
    session: Session, database: TestDatabase
) -> None:
    add_many(database, 3, days=100)
    database.rows("ANALYZE negentropy.memories")
    # As after a bulk load or a restore: the planner takes each user for three rows.
    add_many(database, 2_000, days=100)
    ids = [row[0] for row in database.rows("SELECT id FROM negentropy.memories LIMIT 200")]
    query = session.database.queries("curator", "rescore_neighbours")
    with database.connect() as connection:
        row = connection.execute(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + query,
            {"user_id": "ada", "app_name": "negmem", "ids": ids},
        ).fetchone()
    assert row is not None
    assert row[0][0]["Plan"]["Shared Hit Blocks"] < 2_000


@pytest.mark.parametrize("column", ["held_at", "erasing_since"])
def test_a_hold_forbids_it(session: Session, database: TestDatabase, column: str) -> None:
    kept = aged(database, "evidence 证据", 100)
    database.rows(
        f"INSERT INTO negentropy.users (user_id, app_name, {column}) VALUES ('ada','negmem',now())"
    )
    with pytest.raises(NegmemError) as caught:
        prune.plan(session, "ada", max_age_days=1)
    assert caught.value.code == "user_on_hold"
    assert live(database) == {kept}


def test_dates_beyond_the_calendar_of_python_are_judged_too(
    session: Session, database: TestDatabase
) -> None:
    never = aged(database, "in the far future", 0)
    ever = aged(database, "at the beginning of time", 0)
    for memory_id, moment in ((never, "infinity"), (ever, "-infinity")):
        database.rows(
            "UPDATE negentropy.memories SET created_at = %s, updated_at = %s, last_accessed_at = %s"
            " WHERE id = %s",
            (moment, moment, moment, memory_id),
        )
    planned = prune.plan(session, "ada", max_age_days=90)
    assert planned.rule.removed[0][0] == ever
    assert planned.rule.future == (never,)
