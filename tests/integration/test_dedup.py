"""Deduplication on a real database: complete, never chained, each removed row with a live survivor, all of it undone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from negmem.core import facts, memories, merging
from negmem.core.evolution import dedup, prune
from negmem.core.evolution.dedup_options import options
from negmem.core.evolution.removable import require_removable
from negmem.core.evolution.stores import store_of
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.models.dedup import Deduplicated
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder

SAID = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
APART = [
    ("User likes peanuts a lot", "User does not like peanuts a lot"),
    ("The service listens on port 8080", "The service listens on port 8081"),
    ("User works at Acme in Berlin", "User worked at Acme in Berlin"),
    ("Sam reports to Nadia weekly", "Nadia reports to Sam weekly"),
    ("用户对现在的房子很满意", "用户对现在的房子很不满意"),
    ("站会上午九点半开始", "站会上午十点半开始"),
    ("The review with Hanna is on 12 May", "The review with Hanne is on 12 May"),
    ("验证码五分钟内有效", "验证码五小时内有效"),
]
ORPHANS = """
    SELECT count(*) FROM negentropy.memories AS l WHERE l.deleted_at IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM negentropy.memories AS s WHERE s.user_id = l.user_id AND s.deleted_at IS NULL
            AND s.id::text = l.metadata ->> 'merged_into')
"""


def add(session: Session, text: str, **more: object) -> UUID:
    more.setdefault("occurred_at", SAID)
    added = memories.add(session, "alice", text, **more).memory  # type: ignore[arg-type]
    assert added is not None
    return added.id


def run(
    session: Session, *, dry_run: bool = False, store: str = "memory", **asked: Any
) -> Deduplicated:
    chosen = store_of(session, "alice", store)
    return dedup.deduplicate(session, chosen, options(**asked), dry_run=dry_run)


def live(session: Session) -> list[str]:
    page = memories.list_memories(session, "alice", limit=1000)
    return sorted(memory.content for memory in page.memories)


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_exact_is_complete_and_taken_back(session: Session, database: TestDatabase) -> None:
    for text in (
        "Likes tea",
        "likes TEA",
        "- Likes tea.",
        "１２３",
        "123",
        "喜欢 喝茶",
        "喜欢喝茶。",
    ):
        add(session, text)
    for text in ("C++", "C", "不，喜欢吃辣", "不喜欢吃辣", "…", "!!!", "喜欢喝茶？"):
        add(session, text)
    before = live(session)
    planned = run(session, dry_run=True)
    assert live(session) == before
    assert (planned.groups, planned.removed, planned.kept, planned.blank) == (3, 4, 10, 2)
    first_said = {pair.survivor_content for pair in planned.pairs}
    assert first_said == {"Likes tea", "１２３", "喜欢 喝茶"}
    done = run(session)
    assert done.run_id is not None and planned.run_id is None
    same = {"dry_run": True, "run_id": None}
    assert done.model_copy(update=same) == planned
    assert len(live(session)) == 10
    assert database.value(ORPHANS) == 0
    assert database.value("SELECT count(*) FROM negentropy.memory_audit_logs") == 4
    assert run(session).removed == 0

    store = store_of(session, "alice")
    assert dedup.undo(session, store, done.run_id, dry_run=True).restored == 4
    assert len(live(session)) == 10
    assert dedup.undo(session, store, done.run_id).restored == 4
    assert live(session) == before
    assert dedup.undo(session, store, done.run_id).restored == 0
    assert [w["code"] for w in session.warnings] == ["run_unknown"]
    assert run(session).removed == 0, (
        "what was brought back is kept apart, copies among themselves too"
    )


def test_semantic_keeps_opposites_and_updates_apart(session: Session) -> None:
    for pair in APART:
        for text in pair:
            add(session, text)
    twice = [
        ("Deploys happen at 23:00 on Fridays", "On Fridays deploys happen at 11 p.m."),
        ("用户每天早上六点半准时起床", "每天早上6点半用户准时起床"),
        ("Likes oolong tea", "likes oolong tea!"),
    ]
    for pair in twice:
        for text in pair:
            add(session, text)
    exact = run(session, dry_run=True)
    done = run(session, semantic=True)
    assert exact.removed == 1
    assert {pair.removed for pair in exact.pairs} <= {pair.removed for pair in done.pairs}
    assert (done.groups, done.removed) == (3, 3)
    assert len(live(session)) == 2 * len(APART) + 3
    guards = {frozenset((v.one_content, v.other_content)): v.guard for v in done.vetoed_pairs}
    assert guards[frozenset(APART[0])] == "negation"
    assert guards[frozenset(APART[1])] == guards[frozenset(APART[5])] == "amount"
    assert guards[frozenset(APART[3])] == "order" and guards.keys() >= set(
        map(frozenset, APART[:6])
    )
    assert done.vetoed == len(done.vetoed_pairs) >= len(APART) - 1
    again = run(session, semantic=True)
    assert again.removed == 0 and again.vetoed >= done.vetoed


def test_a_threshold_above_all_leaves_what_is_exact(session: Session) -> None:
    add(session, "Deploys happen at 23:00 on Fridays")
    add(session, "On Fridays deploys happen at 11 p.m.")
    add(session, "on fridays deploys happen at 11 p.m.")
    assert run(session, semantic=True, threshold=0.999, dry_run=True).removed == 1
    assert run(session, semantic=True, dry_run=True).removed == 2


def test_what_must_not_go_does_not(session: Session) -> None:
    pinned = add(session, "Always answer in French please")
    memories.pin(session, "alice", [pinned])
    also = add(session, "always answer in French please")
    memories.pin(session, "alice", [also])
    third = add(session, "Always answer in french please!!")
    core = add(session, "Always answer in French please", memory_type="core")
    add(session, "I went to the gym today")
    add(session, "I went to the gym today", occurred_at=SAID + timedelta(days=2))
    add(session, "I went to the gym today.", occurred_at=SAID + timedelta(hours=2))
    add(session, "Paris is lovely in spring", metadata={"speaker": "Anna"})
    add(session, "Paris is lovely in spring", metadata={"speaker": "Ben"})
    done = run(session)
    assert (done.removed, done.vetoed) == (2, 1)
    assert done.vetoed_pairs[0].guard == "pinned"
    assert third in {pair.removed for pair in done.pairs}
    assert {pair.survivor for pair in done.pairs if pair.removed == third} <= {pinned, also}
    assert memories.show(session, "alice", core).deleted_at is None
    memories.add(session, "bob", "Paris is lovely in spring")
    assert run(session, semantic=True).removed == 0


def test_what_an_undo_keeps_apart_stays_apart_when_a_third_comes(
    session: Session, database: TestDatabase
) -> None:
    for number in (0, 1):
        first, second = (add(session, f"用户养了{number}只猫{end}") for end in ("", "。"))
        apart = run(session)
        assert apart.run_id is not None and apart.removed == 1
        dedup.undo(session, store_of(session, "alice"), apart.run_id)
        third = add(session, f"用户养了{number}只猫！")
        memories.pin(session, "alice", [third])
        # In one plan, of one run or of consolidation, one of the two goes for the third at most ...
        assert run(session, dry_run=True).removed == 1
        plan = merging.plan_merges(session, "alice", [third])
        assert [merge.survivor for merge in plan.merges] == [third]
        assert "kept_apart" in {pair.guard for pair in plan.vetoed}
        # ... and so in two runs, whichever of them comes first.
        goes, waits = (first, second) if number else (second, first)
        memories.remove(session, "alice", [waits])
        assert run(session).removed == 1
        memories.restore(session, "alice", [waits])
        later = run(session, semantic=True)
        assert later.removed == 0 and "kept_apart" in {v.guard for v in later.vetoed_pairs}
        assert merging.plan_merges(session, "alice", [waits]).merges == []
        assert memories.show(session, "alice", goes).deleted_at is not None

    keys = ("drink", "Drink_", "_drink")
    tea, also, more = (
        one.id
        for one in write_facts(
            session,
            "alice",
            [FactWrite("preference", key, "tea", occurred_at=SAID) for key in keys],
        )
    )
    facts.remove(session, "alice", [more])
    apart = run(session, store="fact")
    assert apart.run_id is not None
    dedup.undo(session, store_of(session, "alice", "fact"), apart.run_id)
    facts.remove(session, "alice", [tea])
    facts.restore(session, "alice", [more])
    database.rows(f"UPDATE negentropy.facts SET pinned_at = now() WHERE id = '{more}'")
    taken = run(session, store="fact").pairs
    assert [(pair.survivor, pair.removed) for pair in taken] == [(more, also)]
    facts.restore(session, "alice", [tea])
    assert run(session, store="fact").removed == 0


def test_compat_follows_the_first_design(session: Session) -> None:
    ids = [
        add(session, text) for text in ("C++", "C#", "C", "👍", "👎", "Likes tea.", "Likes tea .")
    ]
    done = run(session, compat=True, dry_run=True)
    assert (done.mode, done.removed) == ("compat", 3)
    assert {pair.survivor for pair in done.pairs} == {ids[0], ids[3]}  # the oldest stay
    assert run(session, dry_run=True).removed == 1  # tea


def test_a_ceiling_stops_and_the_rest_goes_on(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup, "_BATCH", 4)
    for number in range(6):
        add(session, f"Deploy number {number} happens at 23:00 on Fridays")
        add(session, f"On Fridays deploy number {number} happens at 11 p.m.")
    removed, after, runs = 0, None, 0
    while True:
        done = run(session, semantic=True, max_comparisons=1, after=after)
        removed, after, runs = removed + done.removed, done.resume_after, runs + 1
        if after is None:
            break
    assert removed == 6 and runs > 1
    assert len([w for w in session.warnings if w["code"] == "dedup_stopped"]) == runs - 1


def test_a_large_group_in_pieces_leaves_one(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup, "_LARGE", 5)
    monkeypatch.setattr(dedup, "_BATCH", 3)
    ids = [add(session, "用户每天早上六点半起床。") for _ in range(17)]
    memories.pin(session, "alice", [ids[13]])
    done = run(session)
    assert (done.groups, done.removed) == (1, 16)
    assert {pair.survivor for pair in done.pairs} == {ids[13]}
    assert database.value(ORPHANS) == 0


def test_cut_off_and_at_once_lose_nothing(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup, "_BATCH", 6)
    for number in range(20):
        for text in ("Machine {} is serviced every week", "machine {} is serviced weekly."):
            add(session, text.format(number))
            add(session, text.format(number))

    def interrupt(what: str, done: int, of: int) -> None:
        if what == "compared":
            raise KeyboardInterrupt

    store = store_of(session, "alice")
    with pytest.raises(KeyboardInterrupt):
        dedup.deduplicate(session, store, options(semantic=True), on_progress=interrupt)
    assert database.value(ORPHANS) == 0 and 20 < len(live(session)) < 80

    def other(_: int) -> int:
        with open_session(dsn=database.dsn, env={}) as mine:
            mine.use_embedder(FakeEmbedder())
            return run(mine, semantic=True).removed

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(other, range(3)))
    run(session, semantic=True)
    assert len(live(session)) == 20
    assert database.value(ORPHANS) == 0


def test_without_vectors_that_is_said(session: Session) -> None:
    texts = ["Deploys happen at 23:00 on Fridays", "On Fridays deploys happen at 11 p.m."]
    session.use_embedder(FakeEmbedder(park=texts))
    for text in [*texts, "On fridays deploys happen at 11 p.m."]:
        add(session, text)
    done = run(session, semantic=True)
    assert done.removed == 1
    assert "vectors_missing" in {warning["code"] for warning in session.warnings}


def test_a_hold_forbids_it_and_options_are_held_together(
    session: Session, database: TestDatabase
) -> None:
    add(session, "evidence 证据")
    database.rows("UPDATE negentropy.users SET held_at = now() WHERE user_id = 'alice'")
    with pytest.raises(NegmemError) as caught:
        require_removable(session, "alice")
    assert caught.value.code == "user_on_hold"
    for asked in (
        {"semantic": True, "exact": True},
        {"semantic": True, "compat": True},
        {"threshold": 0.5},
        {"semantic": True, "threshold": 1.5},
        {"max_comparisons": 5},
    ):
        with pytest.raises(UsageError):
            options(**asked)


def test_facts_are_compared_with_their_keys(session: Session, database: TestDatabase) -> None:
    written = write_facts(
        session,
        "alice",
        [
            FactWrite(
                "preference", "drink", {"text": "oolong tea every morning"}, occurred_at=SAID
            ),
            FactWrite(
                "preference", "Drink_", {"text": "Oolong tea every morning."}, occurred_at=SAID
            ),
            FactWrite(
                "preference", "drinks", {"text": "oolong tea each morning"}, occurred_at=SAID
            ),
            FactWrite("profile", "employer", "Acme", occurred_at=SAID),
            FactWrite("profile", "client", "Acme", occurred_at=SAID),
            FactWrite("preference", "port", {"text": "listens on 8080"}, occurred_at=SAID),
            FactWrite("preference", "ports", {"text": "listens on 8081"}, occurred_at=SAID),
        ],
    )
    exact = run(session, store="fact")
    assert {exact.pairs[0].survivor, exact.pairs[0].removed} == {written[0].id, written[1].id}
    assert (exact.removed, exact.kept) == (1, 6)
    assert exact.run_id is not None
    gone = facts.show(session, "alice", exact.pairs[0].removed)
    assert gone.deleted_at is not None
    chosen = store_of(session, "alice", "fact")
    assert dedup.undo(session, chosen, exact.run_id).restored == 1
    assert run(session, store="fact").removed == 0  # told apart from now on
    done = run(session, store="fact", semantic=True)
    assert done.removed == 1 and written[2].id in {done.pairs[0].survivor, done.pairs[0].removed}
    assert "amount" in {veto.guard for veto in done.vetoed_pairs}
    assert len(facts.list_facts(session, "alice").facts) == 6
    trail = database.rows("SELECT decision, count(*) FROM negentropy.memory_audit_logs GROUP BY 1")
    assert dict(trail) == {"delete": 2, "retain": 1}
    pruned = prune.plan(session, "alice", max_count=2, store="fact")
    assert prune.apply(session, pruned).removed == 4
    assert len(facts.list_facts(session, "alice").facts) == 2
    with pytest.raises(UsageError):
        store_of(session, "alice", "profile")
