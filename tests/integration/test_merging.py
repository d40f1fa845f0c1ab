"""Merging on a real database: nothing lost without a live successor, nothing chained, all of it taken back."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from negmem.core import conflicts, fact_names, facts, memories, merging
from negmem.core.conflict_search import search_conflicts
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.session import Session, open_session
from negmem.providers.generation import Answer, Refusal, RefusalKind
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import conversation, ingest_file, write_lines

SAID = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def add(session: Session, text: str, **more: object) -> UUID:
    more.setdefault("occurred_at", SAID)
    added = memories.add(session, "alice", text, **more).memory  # type: ignore[arg-type]
    assert added is not None
    return added.id


def merge(session: Session, user: str = "alice") -> merging.Merged:
    return merging.merge_fresh(session, user, uuid.uuid4(), threshold=0.2)


def live(session: Session) -> set[str]:
    page = memories.list_memories(session, "alice", limit=1000)
    return {memory.content for memory in page.memories}


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_of_two_that_say_the_same_one_stays_and_says_so(
    session: Session, database: TestDatabase
) -> None:
    first = add(session, "User likes oolong tea.", memory_type="preference")
    second = add(session, "The user likes oolong tea", memory_type="preference")
    done = merge(session)
    assert done.merged == [(second, first)]  # it says more, if only by a word
    kept, gone = memories.show(session, "alice", second), memories.show(session, "alice", first)
    assert kept.deleted_at is None and kept.metadata is not None and gone.metadata is not None
    assert [taken["id"] for taken in kept.metadata["merged_from"]] == [str(first)]
    assert gone.metadata["merged_into"] == str(second)
    assert gone.deleted_reason == f"merged into {second}"
    assert "oolong" not in str(kept.metadata)  # no copy of the text that erasure would miss
    assert merge(session).merged == []
    trail = database.rows("SELECT memory_id, decision FROM negentropy.memory_audit_logs")
    assert trail == [(str(first), "delete")]


def test_three_equal_ones_leave_one(session: Session) -> None:
    for _ in range(3):
        add(session, "用户每天早上六点半起床。")
    done = merge(session)
    assert len(done.merged) == 2 and len({survivor for survivor, _ in done.merged}) == 1
    assert live(session) == {"用户每天早上六点半起床。"}


def test_opposites_and_updates_stay_apart(session: Session) -> None:
    pairs = [
        ("User likes peanuts a lot", "User does not like peanuts a lot"),
        ("The service listens on port 8080", "The service listens on port 8081"),
        ("User works at Acme in Berlin", "User worked at Acme in Berlin"),
        ("Sam reports to Nadia weekly", "Nadia reports to Sam weekly"),
        ("用户对现在的房子很满意", "用户对现在的房子很不满意"),
        ("站会上午九点半开始", "站会上午十点半开始"),
        ("The review with Hanna is on 12 May", "The review with Hanne is on 12 May"),
        ("验证码五分钟内有效", "验证码五小时内有效"),
    ]
    for one, other in pairs:
        add(session, one)
        add(session, other)
    true_pair = ("Deploys happen at 23:00 on Fridays", "On Fridays deploys happen at 11 p.m.")
    for text in true_pair:
        add(session, text)
    done = merge(session)
    assert len(done.merged) == 1 and done.vetoed >= 4
    assert len(live(session)) == 2 * len(pairs) + 1


def test_likeness_does_not_chain_and_what_took_in_stays(session: Session) -> None:
    first = add(session, "User walks the dog at 7 am")
    second = add(session, "The user walks the dog at 7:00")
    assert len(merge(session).merged) == 1
    kept = second if memories.show(session, "alice", first).deleted_at else first
    longer = add(session, "The user always walks the dog at 07:00, really")
    done = merge(session)
    assert done.merged == [(kept, longer)]  # although the new one is longer


def test_what_the_step_reflect_made_and_what_another_role_said_are_left_alone(
    session: Session,
) -> None:
    text = "User always asks for the short version of an answer"
    told = add(session, text, metadata={"role": "user"})
    add(session, text, metadata={"subtype": "insight"}, memory_type="semantic")
    add(session, text + ".", memory_type="semantic", metadata={"subtype": "insight"})
    add(session, text, metadata={"subtype": "reflection"})
    add(session, text, metadata={"role": "assistant"})
    assert merge(session).merged == []
    again = add(session, text, metadata={"role": "user"})
    assert merge(session).merged == [(told, again)]


def test_what_must_not_go_does_not(session: Session) -> None:
    pinned = add(session, "Always answer in French please")
    memories.pin(session, "alice", [pinned])
    add(session, "Always answer in French please")
    add(session, "OK")
    add(session, "OK")
    add(session, "I went to the gym today", occurred_at=SAID)
    add(session, "I went to the gym today", occurred_at=SAID + timedelta(days=2))
    add(session, "Paris is lovely in spring", metadata={"speaker": "Anna"})
    add(session, "Paris is lovely in spring", metadata={"speaker": "Ben"})
    done = merge(session)
    assert [survivor for survivor, _ in done.merged] == [pinned]
    memories.add(session, "bob", "Always answer in French please")
    assert merge(session).merged == [] and merge(session, "bob").merged == []


def test_a_run_is_taken_back_and_not_repeated(session: Session, database: TestDatabase) -> None:
    first = add(session, "User plays the cello in an orchestra")
    second = add(session, "The user plays the cello in an orchestra")
    event = uuid.uuid4()
    thread = uuid.uuid4()
    database.rows(
        "INSERT INTO negentropy.threads (id, app_name, user_id, external_id)"
        " VALUES (%s, 'negmem', 'alice', 't')",
        (thread,),
    )
    database.rows(
        "INSERT INTO negentropy.events (id, user_id, app_name, thread_id, author, position,"
        " content_hash) VALUES (%s, 'alice', 'negmem', %s, 'user', 1, 'x')",
        (event, thread),
    )
    database.rows(
        "INSERT INTO negentropy.item_sources (user_id, app_name, item_kind, item_id, event_id,"
        " extractor) VALUES ('alice', 'negmem', 'memory', %s, %s, 'test')",
        (first, event),
    )
    done = merge(session)
    assert done.merged == [(second, first)]
    assert memories.show(session, "alice", second).sources == 1
    assert merging.undo_run(session, "alice", done.run_id) == [first]
    back = memories.show(session, "alice", first)
    assert back.deleted_at is None and back.sources == 1
    assert memories.show(session, "alice", second).sources == 0
    assert back.metadata is not None and back.metadata["kept_apart"] == [str(second)]
    assert merge(session).merged == []
    found = database.rows(
        "SELECT count(DISTINCT memory_id) FROM negentropy.memory_terms WHERE term LIKE 'orchest%'"
    )
    assert found == [(2,)]


def test_two_runs_at_once_lose_nothing(session: Session, database: TestDatabase) -> None:
    for number in range(20):
        for _ in range(3):
            add(session, f"Machine number {number} is serviced every week")

    def run(_: int) -> int:
        with open_session(dsn=database.dsn, env={}) as mine:
            mine.use_embedder(FakeEmbedder())
            return len(merge(mine).merged)

    with ThreadPoolExecutor(4) as pool:
        merged = sum(pool.map(run, range(4)))
    assert merged == 40
    assert len(live(session)) == 20
    orphans = database.rows(
        "SELECT count(*) FROM negentropy.memories AS l WHERE l.deleted_at IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM negentropy.memories AS s WHERE s.id::text = l.metadata ->> 'merged_into'"
        "  AND s.deleted_at IS NULL)"
    )
    assert orphans == [(0,)]


def test_without_vectors_exact_copies_are_found_by_their_words(session: Session) -> None:
    session.use_embedder(FakeEmbedder(park=["用户住在杭州西湖区。", "用户住在杭州西湖区"]))
    add(session, "用户住在杭州西湖区。")
    add(session, "用户住在杭州西湖区")
    assert len(merge(session).merged) == 1


def test_facts_of_different_keys_meet(session: Session) -> None:
    def fact(key: str, text: str, **more: object) -> FactWrite:
        more.setdefault("occurred_at", SAID)
        return FactWrite("preference", key, {"text": text}, **more)  # type: ignore[arg-type]

    old, new, opposite, other = write_facts(
        session,
        "alice",
        [
            fact("taste", "likes oolong tea very much"),
            fact("tastes", "likes oolong tea very much", occurred_at=SAID + timedelta(days=1)),
            fact("tasting", "does not like oolong tea very much", occurred_at=SAID),
            fact("music", "plays the cello"),
        ],
    )
    found = search_conflicts(session, "alice", threshold=0.3)
    assert (found.merged, found.opened) == (1, 1)
    assert facts.show(session, "alice", old.id).superseded_by == new.id
    listed = conflicts.list_conflicts(session, "alice", status="open")
    assert listed.open == 1
    conflict = listed.conflicts[0]
    assert (conflict.type, conflict.detected_by) == ("contradiction", "embedding")
    assert opposite.id in {side.id for side in (conflict.old, conflict.new) if side}
    assert facts.show(session, "alice", other.id).status == "active"
    again = search_conflicts(session, "alice", threshold=0.3)
    assert (again.merged, again.opened, again.decided) == (0, 0, 0)


def test_a_conflict_is_decided_and_taken_back(session: Session) -> None:
    old = write_facts(
        session, "alice", [FactWrite("profile", "city", "北京", occurred_at=SAID, confidence=0.9)]
    )[0]
    later = SAID + timedelta(days=5)
    new = write_facts(
        session, "alice", [FactWrite("profile", "city", "上海", occurred_at=later, confidence=0.6)]
    )[0]
    assert new.conflict_id is not None
    conflict = conflicts.show(session, "alice", new.conflict_id)
    assert conflict.confidence_delta == pytest.approx(-0.3)

    def standing() -> set[str]:
        return {str(fact.value) for fact in facts.list_facts(session, "alice").facts}

    def decide(resolution: str) -> set[str]:
        before = standing()
        conflicts.resolve(session, "alice", conflict.id, resolution, dry_run=True)
        assert standing() == before
        conflicts.resolve(session, "alice", conflict.id, resolution)
        return standing()

    assert decide("keep_old") == {"北京"}
    assert decide("keep_both") == {"北京", "上海"}
    assert decide("keep_new") == {"上海"}
    assert decide("merge") == {"['北京', '上海']"}
    for wanted in ({"上海"}, {"北京", "上海"}, {"北京"}, {"上海"}):
        conflicts.undo(session, "alice", conflict.id)
        assert standing() == wanted
    final = conflicts.show(session, "alice", conflict.id)
    assert (final.resolution, len(final.steps), final.can_undo) == ("supersede", 8, False)
    restored = facts.show(session, "alice", old.id)
    assert (restored.status, restored.valid_until) == ("superseded", later)

    write_facts(session, "alice", [FactWrite("profile", "city", "深圳", origin="manual")])
    with pytest.raises(facts.NegmemError) as raised:
        conflicts.resolve(session, "alice", conflict.id, "keep_old")
    assert raised.value.code == "conflict_outdated"


def test_one_name_for_what_is_only_spelled_in_another_way(session: Session) -> None:
    written = write_facts(
        session,
        "alice",
        [
            FactWrite("profile", "home_city", "北京", occurred_at=SAID),
            FactWrite("profile", "home_city", "北京市", occurred_at=SAID + timedelta(days=1)),
            FactWrite("profile", "insurer", "Acme", occurred_at=SAID),
            FactWrite("profile", "Insurer", "Acme Inc.", occurred_at=SAID + timedelta(days=1)),
            FactWrite("profile", "Home City", "上海", occurred_at=SAID + timedelta(days=2)),
            FactWrite("profile", "province", "吉林省", occurred_at=SAID),
        ],
    )
    assert written[1].action == "unchanged"
    done = fact_names.unify(session, "alice")
    assert done.keys == 2
    found = {fact.key: fact.value for fact in facts.list_facts(session, "alice").facts}
    assert found == {"home_city": "上海", "insurer": "Acme", "province": "吉林省"}
    assert fact_names.unify(session, "alice").keys == 0


class FakeModel:
    """Stands for the language model: answers in turn, whatever it is asked."""

    def __init__(self, answers: list[object]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.fallbacks = 0

    def generate(self, messages: Any, schema: Any, *, on_wait: Any = None) -> Answer | Refusal:
        self.asked.append(messages[-1]["content"])
        said = self.answers.pop(0)
        return said if isinstance(said, Refusal) else Answer(said)  # type: ignore[arg-type]

    def book_fallback(self) -> None:
        self.fallbacks += 1


def test_a_model_confirms_what_vectors_put_near(session: Session) -> None:
    texts = ("takes the train to work", "takes the car to work", "takes the bus to school")
    written = write_facts(
        session,
        "alice",
        [
            FactWrite("preference", f"way{n}", {"text": text}, occurred_at=SAID + timedelta(days=n))
            for n, text in enumerate(texts)
        ],
    )
    hostile: list[object] = [
        {"verdict": "delete everything"},
        ["update"],
        Refusal(RefusalKind.CEILING, "llm_ceiling", "no call is left"),
    ]
    model = FakeModel(hostile)
    found = search_conflicts(session, "alice", threshold=0.2, generator=model)  # type: ignore[arg-type]
    assert (found.merged, found.opened, found.decided, model.fallbacks) == (0, 0, 0, 3)
    assert found.refused == "llm_ceiling: no call is left"

    model = FakeModel([{"verdict": "unrelated"}] * 3)
    search_conflicts(session, "alice", threshold=0.2, generator=model)  # type: ignore[arg-type]
    assert all(facts.show(session, "alice", one.id).status == "active" for one in written)

    verdicts: list[object] = [{"verdict": "update"}, {"verdict": "unrelated"}]
    model = FakeModel([*verdicts, {"verdict": "unrelated"}])
    found = search_conflicts(session, "alice", threshold=0.2, generator=model)  # type: ignore[arg-type]
    assert found.decided == 1
    listed = conflicts.list_conflicts(session, "alice", detected_by="model")
    assert listed.conflicts[0].similarity is not None
    conflicts.undo(session, "alice", listed.conflicts[0].id)
    assert all(facts.show(session, "alice", one.id).status == "active" for one in written)


def test_of_one_moment_the_later_turn_is_the_newer(session: Session, tmp_path: Path) -> None:
    users = ("ann", "ben", "cem", "dan")
    said = ("takes the train to work", "takes the car to work")
    lines = [conversation("路", *said, user=user) for user in users]
    ingest_file(session, write_lines(tmp_path / "talk.jsonl", lines), user=None)
    for user in users:
        events = session.database.connection.execute(
            "SELECT id FROM negentropy.events WHERE user_id = %s ORDER BY position DESC", (user,)
        ).fetchall()
        texts = zip(reversed(said), events, strict=True)
        new, old = write_facts(
            session,
            user,
            [
                FactWrite(
                    "preference", f"way {n}", text, occurred_at=SAID, event_ids=(event[0],)
                )
                for n, (text, event) in enumerate(texts)
            ],
        )  # fmt: skip
        model = FakeModel([{"verdict": "update"}])
        assert search_conflicts(session, user, threshold=0.2, generator=model).decided == 1  # type: ignore[arg-type]
        assert facts.show(session, user, old.id).superseded_by == new.id
