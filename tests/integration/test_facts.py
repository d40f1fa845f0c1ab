"""Facts by key on a real database: versions, both times, what a hand sets, two writers at once."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from negmem.core import fact_search, facts, installation
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on


def day(number: int, month: int = 3) -> datetime:
    return datetime(2026, month, number, 9, tzinfo=timezone.utc)


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database) as opened:
        yield opened


def write(session: Session, key: str, value: Any, **more: Any) -> facts.FactOutcome:
    fact_type = more.pop("type", "profile")
    return write_facts(session, "alice", [FactWrite(fact_type, key, value, **more)])[0]


def true_at(session: Session, moment: datetime | None, **more: Any) -> dict[str, Any]:
    found = facts.list_facts(session, "alice", as_of=moment, **more)
    return {fact.key: fact.value for fact in found.facts}


def terms(database: TestDatabase) -> set[str]:
    return {row[0] for row in database.rows("SELECT term FROM negentropy.fact_terms")}


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_a_changed_value_supersedes_and_both_times_answer(
    session: Session, database: TestDatabase
) -> None:
    first = write(session, "city", "北京", occurred_at=day(1), confidence=0.7)
    before_move = datetime.now(timezone.utc)
    second = write(session, "city", "上海", occurred_at=day(10), confidence=0.9)
    assert (first.action, second.action) == ("added", "superseded")
    assert second.previous_id == first.id

    assert true_at(session, None) == {"city": "上海"}
    assert true_at(session, day(5)) == {"city": "北京"}
    assert true_at(session, day(1) - timedelta(days=1)) == {}
    # what was believed before the move was known: Beijing, also about the days after it
    assert true_at(session, day(20), believed_at=before_move) == {"city": "北京"}
    assert true_at(session, day(20), believed_at=before_move - timedelta(days=1)) == {}

    history = facts.history(session, "alice", second.id)
    assert [version.value for version in history.versions] == ["北京", "上海"]
    old = history.versions[0]
    assert (old.status, old.superseded_by, old.valid_until) == ("superseded", second.id, day(10))
    conflict = history.conflicts[0]
    assert conflict.id == second.conflict_id
    assert (conflict.type, conflict.resolution) == ("temporal_update", "supersede")
    assert conflict.confidence_delta == pytest.approx(0.2)
    # only what is true now is found
    assert "上海" in terms(database) and "北京" not in terms(database)


def test_the_same_said_again_adds_no_version(session: Session, database: TestDatabase) -> None:
    first = write(session, "city", "北京", occurred_at=day(1), confidence=0.7)
    again = write(session, "city", "北京", occurred_at=day(9), confidence=0.9)
    assert (again.action, again.id) == ("unchanged", first.id)
    fact = facts.show(session, "alice", first.id)
    assert (fact.confidence, fact.valid_from) == (0.9, day(1))
    assert database.rows("SELECT documents FROM negentropy.fact_term_stats") == [(1,)]


def test_old_news_read_late_land_in_their_place(session: Session) -> None:
    write(session, "city", "上海", occurred_at=day(10))
    late = write(session, "city", "北京", occurred_at=day(1))
    middle = write(session, "city", "西安", occurred_at=day(5))
    assert (late.action, middle.action) == ("earlier", "superseded")
    assert true_at(session, None) == {"city": "上海"}
    assert [true_at(session, day(n))["city"] for n in (2, 6, 11)] == ["北京", "西安", "上海"]
    believed = facts.show(session, "alice", late.id)
    assert believed.expired_at is not None  # its end was corrected: the copy is what is believed
    again = write(session, "city", "北京", occurred_at=day(1))
    assert again.action == "unchanged"


def test_a_value_that_was_said_before_begins_then(session: Session) -> None:
    now = write(session, "city", "上海", occurred_at=day(10), confidence=0.7)
    read = datetime.now(timezone.utc)
    for _ in range(2):
        write(session, "city", "上海", occurred_at=day(5), confidence=0.9)
        fact = facts.show(session, "alice", now.id)
        assert (fact.valid_from, fact.confidence, fact.status) == (day(5), 0.9, "active")
    assert true_at(session, day(7)) == {"city": "上海"}
    assert true_at(session, day(7), believed_at=read) == {}, "it was not known yet"
    assert true_at(session, day(12), believed_at=read) == {"city": "上海"}
    standing = [
        one for one in facts.history(session, "alice", now.id).versions if not one.expired_at
    ]
    assert [one.id for one in standing] == [now.id]

    write(session, "city", "北京", occurred_at=day(1))
    moved = write(session, "city", "上海", occurred_at=day(3))
    assert (moved.action, moved.id) == ("superseded", now.id)
    assert [true_at(session, day(n))["city"] for n in (2, 4, 11)] == ["北京", "上海", "上海"]
    write(session, "name", "芳", occurred_at=day(9), origin="manual")
    assert write(session, "name", "芳", occurred_at=day(1)).action == "earlier"
    assert facts.list_facts(session, "alice", key="name").facts[0].valid_from == day(9)


def test_a_correction_of_the_same_moment_was_never_true(session: Session) -> None:
    write(session, "city", "北京", occurred_at=day(1))
    known = datetime.now(timezone.utc)
    write(session, "city", "北海", occurred_at=day(1))
    assert true_at(session, day(2)) == {"city": "北海"}
    assert true_at(session, day(2), believed_at=known) == {"city": "北京"}


def test_ends_exceptions_and_what_is_yet_to_come(session: Session, database: TestDatabase) -> None:
    write(session, "city", "Berlin", occurred_at=day(1))
    trip = write(session, "city", "Paris", valid_from=day(5), valid_until=day(8))
    assert trip.action == "added"
    assert [true_at(session, day(n))["city"] for n in (4, 6, 9)] == ["Berlin", "Paris", "Berlin"]
    job = write(session, "employer", "Acme", valid_until=day(1), occurred_at=day(2))
    assert job.action == "added" and "company" not in true_at(session, None)
    assert true_at(session, day(20, 2)) == {"company": "Acme"}

    soon = datetime.now(timezone.utc) + timedelta(days=30)
    assert write(session, "city", "Rome", valid_from=soon).action == "superseded"
    assert true_at(session, None)["city"] == "Berlin"
    assert true_at(session, soon + timedelta(days=1))["city"] == "Rome"
    rows = database.rows(
        "SELECT r.id FROM negentropy.search_items('alice', 'negmem', 'Rome', p_level => 'keyword',"
        " p_falls => false) AS r"
    )
    assert rows == []
    ended = write(session, "city", "Rome", valid_until=soon + timedelta(days=60))
    assert ended.action == "unchanged" or ended.action == "ended"


def test_a_value_set_by_hand_stands_against_extraction(session: Session) -> None:
    hand = write(session, "name", "王芳", origin="manual", valid_from=day(1))
    kept = write(session, "name", "王方", occurred_at=day(3), confidence=0.9)
    again = write(session, "name", "王方", occurred_at=day(4))
    assert (kept.action, kept.previous_id) == ("kept_manual", hand.id)
    assert kept.conflict_id is not None and again.conflict_id == kept.conflict_id
    assert true_at(session, None) == {"name": "王芳"}
    by_hand = write(session, "name", "王方", origin="manual")
    assert by_hand.action == "superseded"
    assert true_at(session, None) == {"name": "王方"}
    # older than the hand-set value, it is history and no contradiction
    assert write(session, "name", "小芳", occurred_at=day(20, 1)).action == "earlier"


def test_refinements_supersede_only_with_more_confidence(session: Session) -> None:
    write(session, "project", "négmem", type="custom", confidence=0.7, occurred_at=day(1))
    beside = write(session, "project", "atlas", type="custom", confidence=0.6, occurred_at=day(2))
    assert beside.action == "beside"
    assert {f.value for f in facts.list_facts(session, "alice").facts} == {"négmem", "atlas"}
    sure = write(session, "project", "zeus", type="custom", confidence=0.9, occurred_at=day(3))
    assert sure.action == "superseded"
    assert {f.value for f in facts.list_facts(session, "alice").facts} == {"zeus", "atlas"}
    listed = {f.value: f.valid_until for f in facts.list_facts(session, "alice").facts}
    assert listed == {"zeus": None, "atlas": None}


def test_the_words_of_an_event_are_written_once_whatever_became_of_them(
    session: Session, database: TestDatabase
) -> None:
    thread, events = uuid.uuid4(), [uuid.uuid4(), uuid.uuid4()]
    write(session, "x", "y")  # the user
    database.rows(
        "INSERT INTO negentropy.threads (id, app_name, user_id, external_id)"
        " VALUES (%s, 'negmem', 'alice', 't')",
        (thread,),
    )
    for position, event in enumerate(events):
        database.rows(
            "INSERT INTO negentropy.events (id, user_id, app_name, thread_id, author, position,"
            " content_hash) VALUES (%s, 'alice', 'negmem', %s, 'user', %s, %s)",
            (event, thread, position, bytes([position])),
        )
    said = [
        FactWrite("profile", "city", "北京", occurred_at=day(1), event_ids=(events[0],)),
        FactWrite("profile", "city", "上海", occurred_at=day(1), event_ids=(events[1],)),
    ]
    first = write_facts(session, "alice", said)
    again = write_facts(session, "alice", said)
    assert [o.action for o in first] == ["added", "superseded"]
    assert [o.action for o in again] == ["unchanged", "unchanged"]
    assert facts.show(session, "alice", first[1].id).sources == 1
    facts.remove(session, "alice", [first[1].id])
    assert write_facts(session, "alice", said)[1].action == "unchanged"
    assert true_at(session, None) == {"x": "y"}


def test_removal_is_reversible_and_found_no_more(session: Session, database: TestDatabase) -> None:
    fact = write(session, "drink", "乌龙茶", type="preference")
    facts.remove(session, "alice", [fact.id])
    assert true_at(session, None) == {} and "乌龙" not in terms(database)
    back = facts.restore(session, "alice", [fact.id])
    assert back.changed == [fact.id] and "乌龙" in terms(database)
    facts.remove(session, "alice", [fact.id])
    write(session, "drink", "咖啡", type="preference")
    with pytest.raises(NegmemError) as raised:
        facts.restore(session, "alice", [fact.id])
    assert raised.value.code == "fact_replaced"
    entries = database.rows("SELECT decision FROM negentropy.memory_audit_logs ORDER BY sequence")
    assert [row[0] for row in entries] == ["delete", "retain", "delete"]


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_many_writers_of_one_key_lose_nothing(database: TestDatabase) -> None:
    barrier = threading.Barrier(8)

    def run(writer: int) -> list[str]:
        with open_session(dsn=database.dsn, env={}) as mine:
            mine.use_embedder(EmbedderAbsent("embedder_none", "none in this test"))
            barrier.wait()
            outcomes = []
            for turn in range(6):
                write_now = FactWrite("profile", "city", f"w{writer}t{turn}")
                outcomes += write_facts(mine, "alice", [write_now])
            return [outcome.action for outcome in outcomes]

    with ThreadPoolExecutor(8) as pool:
        actions = [action for done in pool.map(run, range(8)) for action in done]
    assert sorted(actions) == ["added"] + 47 * ["superseded"]
    rows = database.rows(
        "SELECT count(*), count(*) FILTER (WHERE status = 'active'), count(DISTINCT value),"
        " count(*) FILTER (WHERE superseded_by IS NULL) FROM negentropy.facts WHERE expired_at IS NULL"
    )
    assert rows == [(48, 1, 48, 1)]
    # each version ends where another begins: one chain, no gap
    gaps = database.rows(
        "SELECT count(*) FROM negentropy.facts AS f WHERE f.valid_until IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM negentropy.facts AS n WHERE n.valid_from = f.valid_until)"
    )
    assert gaps == [(0,)]


def test_what_can_not_be_a_fact_is_refused(session: Session) -> None:
    for wrong in (
        {"key": ""},
        {"key": "x" * 256},
        {"type": " "},
        {"confidence": 1.5},
        {"value": {1, 2}},
        {"valid_from": day(5), "valid_until": day(5)},
    ):
        given = {"type": "profile", "key": "city", "value": "x", **wrong}
        with pytest.raises(UsageError):
            write_facts(session, "alice", [FactWrite(**given)])


def test_a_value_that_comes_back_is_found_by_its_vector_again(database: TestDatabase) -> None:
    with open_session(dsn=database.dsn, env={}) as session:
        session.use_embedder(FakeEmbedder())
        installation.install(session)
        for number, value in enumerate(("tea", "coffee", "tea"), start=1):
            written = write(session, "drink", value, type="preference", occurred_at=day(number))
            assert facts.show(session, "alice", written.id).embedded
        matches = fact_search.search_facts(session, "alice", "drink tea")
        assert [match.fact.value for match in matches.results] == ["tea"]
        then = fact_search.search_facts(session, "alice", "drink coffee", as_of=day(2))
        assert [match.fact.value for match in then.results] == ["coffee"]
        assert then.level == "hybrid" and then.results[0].score <= 1
    assert database.value("SELECT count(*) FROM negentropy.fact_vectors WHERE live") == 1
