"""The parts of the ranking: each does what it says, can be switched off, and all add up to the score."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import negmem
from negmem.core import facts, memories
from negmem.core.models.retrieval import SearchAnswer, WhyNot
from negmem.core.retrieval.as_of import search_at
from negmem.core.retrieval.search import Filters
from negmem.core.retrieval.why_not import why_not
from negmem.core.session import Session
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder, hash_vector
from tests.support.ingesting import ingest_file, session_on, write_lines
from tests.support.searching import START, ask, remember_talk

PARTS = (
    *("semantic_part", "keyword_part", "neighbours_part", "session_part"),
    *("speaker_part", "intent_part", "relevance_part"),
)
TALK = [
    ("user", "I left my red bicycle in the shop by the river"),
    ("assistant", "The red bicycle can be fetched on Monday"),
    ("user", "when is the shop open?"),
    ("assistant", "from nine to five, 红色的自行车在河边"),
]


@pytest.fixture
def session(database: TestDatabase, tmp_path: Path) -> Iterator[Session]:
    with session_on(database, FakeEmbedder()) as opened:
        turns = [{"role": role, "text": text} for role, text in TALK]
        line = {"thread": "t", "user": "ada", "turns": turns}
        ingest_file(opened, write_lines(tmp_path / "talk.jsonl", [line]))
        yield opened


def parts_of(answer: SearchAnswer) -> dict[str, dict[str, float]]:
    """The contributions of each result, by its text."""
    return {r.content: r.explain.contributions.model_dump() for r in answer.results if r.explain}


def test_what_the_asker_says_counts_for_questions_in_the_first_person(session: Session) -> None:
    mine = parts_of(ask(session, "where is my red bicycle?", explain=True))
    own, other = mine[TALK[0][1]], mine[TALK[1][1]]
    assert own["speaker"] == pytest.approx(0.4 * (sum(own.values()) - own["speaker"]), abs=2e-6)
    assert other["speaker"] == 0
    for question in (
        "where is the red bicycle?",
        "where did you say my bicycle is?",
        "你说我的车在哪",
    ):
        asked = parts_of(ask(session, question, explain=True))
        assert all(parts["speaker"] == 0 for parts in asked.values())
    assert parts_of(ask(session, "我的自行车在哪", explain=True))[TALK[0][1]]["speaker"] > 0


def test_an_answer_takes_the_words_of_its_question_and_no_other_turn_so_many(
    session: Session, tmp_path: Path
) -> None:
    """Two talks alike but for a question mark: in the one the words beside are asked, in the other said."""
    talks = {
        "en": ("which colour has your violin", "?", "a dark red, nearly brown"),
        "zh": ("小提琴是什么颜色", "？", "深红，近于褐色"),
    }
    lines = [
        {
            "thread": f"{name} {number}",
            "user": "bo",
            "turns": [
                {"speaker": "Ada", "text": said + mark * number},
                {"speaker": "Bo", "text": f"{answer} {number}"},
            ],
        }
        for name, (said, mark, answer) in talks.items()
        for number in (0, 1)
    ]
    ingest_file(session, write_lines(tmp_path / "violin.jsonl", lines))
    for said, _, answer in talks.values():
        beside = {
            text: parts["neighbours"]
            for text, parts in parts_of(ask(session, said, "bo", limit=20, explain=True)).items()
        }
        assert 0 < beside[f"{answer} 0"] < 0.5 * beside[f"{answer} 1"]


def test_the_type_that_a_question_asks_for_is_raised(
    session: Session, database: TestDatabase
) -> None:
    database.rows(
        "UPDATE negentropy.memories SET memory_type = 'preference' WHERE content LIKE 'The red%'"
    )
    answer = ask(session, "which bicycle is the favorite, red?", explain=True)
    assert answer.plan is not None and answer.plan.intent == "preference"
    parts = parts_of(answer)
    said = {text: sum(p.values()) - p["intent"] for text, p in parts.items()}
    assert parts[TALK[1][1]]["intent"] == pytest.approx(0.15 * said[TALK[1][1]], abs=2e-6)
    assert parts[TALK[0][1]]["intent"] == pytest.approx(0.03 * said[TALK[0][1]], abs=2e-6)
    none = ask(session, "red bicycle", explain=True)
    assert none.plan is not None and none.plan.intent is None
    assert all(p["intent"] == 0 for p in parts_of(none).values())


@pytest.mark.servers("embedded", "sixteen")
def test_parts_add_up_to_the_score_whatever_the_weights(
    session: Session, database: TestDatabase
) -> None:
    database.rows("UPDATE negentropy.memories SET relevance_weight = 0.5 + position / 2.0")
    chance = random.Random(5)
    for number in range(40):
        off = [name for name in range(4) if chance.random() < 0.3]
        weights = [0.0 if n in off else round(chance.random() * 2, 3) for n in range(4)]
        question = chance.choice(["my red bicycle", "when is it?", "红色", "assistant river"])
        rows = database.rows(
            f"SELECT score, {', '.join(PARTS)} FROM negentropy.search_items('ada', 'negmem', %s,"
            " %s::vector, %s, p_neighbours => %s, p_session => %s, p_speaker => %s, p_intent => %s,"
            " p_relevance => %s)",
            (
                *(question, str(hash_vector(question, 32)), chance.choice(["hybrid", "keyword"])),
                *(*weights, bool(number % 2)),
            ),
        )
        for score, *parts in rows:
            assert 0 <= score <= 1
            assert sum(round(1e6 * part) for part in parts) == round(1e6 * score)
            for place, part in enumerate(parts[2:6]):
                assert part == 0 or place not in off
        assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)


def test_why_not_tells_each_arm_and_what_would_help(session: Session) -> None:
    shown = ask(session, "red bicycle", limit=1)
    every = ask(session, "red bicycle", limit=10)
    assert every.shortfall and every.shortfall.startswith("4 in all") and shown.shortfall is None
    last = every.results[-1]
    told = why_not(session, "ada", "red bicycle", last.id, shown, limit=1)
    assert told.state == "ranked_below" and told.rank == 4 and told.remedies[0] == "--limit 4"
    assert told.semantic_rank is not None and told.last_score == shown.results[0].score
    assert told.keyword_rank is None


def test_what_why_not_advises_brings_it_in(session: Session, database: TestDatabase) -> None:
    talk = [(str(n % 2 or "b"), f"the boat number {n}, river trip {n % 7}") for n in range(90)]
    remember_talk(session, *talk, thread="boats")
    old = facts.set_fact(session, "ada", "preference", "boat", "a red canoe").fact
    facts.set_fact(session, "ada", "preference", "boat", "a green kayak")
    coming = facts.set_fact(session, "ada", "plan", "sail", "to Oslo", valid_from=START).fact
    assert old is not None and coming is not None
    asked: dict[str, Any] = {"as_of": None, "record": False}
    every = search_at(session, "ada", "which river trip?", limit=90, **asked).results
    for wanted in [*every[3::17], every[-1]]:
        page = {"limit": 3, **asked}
        told = search_at(session, "ada", "which river trip?", why_not=wanted.id, **page).why_not
        assert told is not None and told.state in ("found", "ranked_below")
        if told.state == "ranked_below":
            option, limit = told.remedies[0].split()
            again = search_at(session, "ada", "which river trip?", **{**page, "limit": int(limit)})
            assert option == "--limit" and wanted.id in [one.id for one in again.results]

    def advice(item: UUID, question: str = "canoe", **changed: Any) -> WhyNot:
        found = search_at(
            session, "ada", question, **{**asked, "limit": 2, **changed}, why_not=item
        ).why_not
        assert found is not None
        return found

    past = advice(old.id)
    assert (past.kind, past.state) == ("fact", "superseded")
    day = datetime.fromisoformat(past.remedies[0].split()[1].replace("Z", "+00:00"))
    then = search_at(session, "ada", "canoe", as_of=day, limit=2, record=False)
    assert old.id in [one.id for one in then.results]
    spring = [datetime(2026, month, 1, tzinfo=timezone.utc) for month in (3, 4, 5)]
    valid = {"valid_from": spring[0], "valid_until": spring[2]}
    trip = facts.set_fact(session, "ada", "plan", "trip", "Lisbon by canoe", **valid).fact
    assert trip is not None and advice(trip.id, "Lisbon canoe").state == "expired"
    april = search_at(
        session, "ada", "Lisbon canoe", as_of=spring[1], limit=3, kinds=("fact",), explain=True
    )
    assert [one.id for one in april.results] == [trip.id, coming.id] and april.plan is not None
    assert "1 fact of that day" in april.plan.reason and april.shortfall
    early = advice(coming.id, "sail to Oslo", as_of=START - timedelta(days=1))
    assert early.state == "not_yet_valid"
    assert early.remedies[0].startswith("--as-of 2026-03-02T09:00:01Z")
    nothing = search_at(session, "ada", "trip", filters=Filters(where={"nope": None}), **asked)
    assert nothing.results == []  # a null is not the same as no such key
    turn = every[0].id
    out = advice(turn, filters=Filters(types=["core"], thread="none", where={"speaker": "nobody"}))
    assert out.reason == "it is kept out by --type, --thread and --where"
    assert out.remedies[0].startswith("without --type, --thread and --where")
    assert advice(turn, kinds=("fact",)).remedies[0].startswith("--kind fact,memory")
    early = advice(turn, as_of=START - timedelta(days=1))
    assert early.state == "filtered" and early.remedies[0].startswith("without --as-of")
    by_words = advice(turn, question="小船", level="keyword")
    assert by_words.state == "not_matched" and by_words.keyword_rank is None
    assert by_words.semantic_rank and by_words.remedies[0].startswith("--level hybrid")
    memories.remove(session, "ada", [every[5].id])
    database.rows("UPDATE negentropy.memory_vectors SET live = false WHERE memory_id = %s", (turn,))
    explained = search_at(session, "ada", "which river trip?", limit=9, explain=True, **asked)
    assert explained.plan is not None and explained.plan.dropped is not None
    dropped = explained.plan.dropped
    assert (dropped.removed, dropped.not_true_now, dropped.filtered) == (1, 2, 0)
    assert dropped.without_vector == 1 and dropped.ranked_below >= 80
    by_arm = search_at(session, "ada", "which river trip?", limit=200, level="vector", **asked)
    places = {one.id: place for place, one in enumerate(by_arm.results, start=1)}
    for one in explained.results:
        assert one.explain is not None and one.explain.semantic_rank == places.get(one.id)
    assert any(one.explain and one.explain.keyword_rank for one in explained.results)
    thread = search_at(
        session, "ada", "trip", explain=True, filters=Filters(thread="t"), **asked
    ).plan
    assert thread is not None and thread.dropped is not None and thread.dropped.filtered == 91
    with negmem.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        answer = mem.search("canoe", user="ada", limit=2, why_not=str(old.id))
        assert answer.why_not == past and answer.retrieval_id is None
    with session_on(database) as without:
        blind = search_at(without, "ada", "小船", why_not=turn, **asked).why_not
        assert blind is not None and blind.semantic_rank is None and blind.semantic_unknown


def test_pages_neither_repeat_nor_lose(session: Session) -> None:
    chance = random.Random(3)
    words = ["river", "boat", "tea", "rain", "shop", "lamp", "moon", "fish", "salt", "road"]
    for thread in range(9):
        talk = [
            (chance.choice("ab"), " ".join([*chance.sample(words, 3), f"n{thread}-{turn}"]))
            for turn in range(10)
        ]
        remember_talk(session, *talk, thread=f"talk {thread}")
    for level in ("hybrid", "keyword"):
        pages = [
            ask(session, "rain or fish by the river?", limit=7, offset=at, level=level).results
            for at in range(0, 98, 7)
        ]
        paged = [one.id for page in pages for one in page]
        assert len(paged) == len(set(paged))
        every = ask(session, "rain or fish by the river?", limit=200, level=level).results
        assert set(paged) == {one.id for one in every}
