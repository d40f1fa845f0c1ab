"""Searches on real servers: who sees what, which level finds it, what is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from negmem.core import memories
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError
from tests.support.contexts import add_fact
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on
from tests.support.searching import START, ask, contents, remember, remember_talk

EVERYWHERE = pytest.mark.servers("embedded", "sixteen", "pooled")


@pytest.fixture
def wordy(database: TestDatabase) -> Iterator[Session]:
    """Without an embedder."""
    with session_on(database) as opened:
        yield opened


@EVERYWHERE
def test_hybrid_finds_by_word_and_by_vector_and_adds_up(session: Session) -> None:
    remember(session, "用户喜欢喝咖啡", "The cat sleeps on the sofa", "go 部署 deployment 失败了")
    for query, wanted in (("咖啡", "咖啡"), ("where does the cat sleep", "cat"), ("部署", "部署")):
        answer = ask(session, query, explain=True)
        assert answer.level == "hybrid" and answer.fallbacks == []
        assert wanted in answer.results[0].content
        scores = [result.score for result in answer.results]
        assert scores == sorted(scores, reverse=True)
        for result in answer.results:
            assert result.explain is not None and result.explain.sum == result.score
            assert result.score_type == "combined" and 0 <= result.score <= 1


@pytest.mark.parametrize("level", ["hybrid", "vector", "keyword", "ilike"])
def test_nobody_sees_what_is_not_theirs(session: Session, level: str) -> None:
    text = "the secret word is 木棉"
    for user in ("a_b", "axb", "a%b", "A_b"):
        remember(session, f"{text}, {user}", user=user)
    remember(session, f"{text}, alone", user="eve")
    for user in ("a_b", "axb", "a%b", "A_b", "eve"):
        for query in ("secret 木棉", "木棉"):
            found = contents(ask(session, query, user, level=level))
            assert found == [f"{text}, {user if user != 'eve' else 'alone'}"]
    nobody = ask(session, "木棉", "a", level=level)
    assert nobody.results == [] and nobody.fallbacks == [] and nobody.retrieval_id is None
    assert [w["code"] for w in session.warnings] == ["user_unknown"]


@pytest.mark.parametrize("level", ["hybrid", "vector", "keyword", "ilike"])
def test_removed_memories_are_never_seen(session: Session, level: str) -> None:
    kept, removed = remember(session, "绿茶 kept tea", "绿茶 removed tea")
    memories.remove(session, "ada", [removed])
    assert [r.id for r in ask(session, "绿茶 tea", level=level).results] == [kept]
    memories.restore(session, "ada", [removed])
    assert len(ask(session, "绿茶 tea", level=level).results) == 2


def test_a_row_that_another_client_removed_is_not_seen(
    session: Session, database: TestDatabase
) -> None:
    (gone,) = remember(session, "绿茶 tea")
    database.rows("UPDATE negentropy.memories SET deleted_at = now() WHERE id = %s", (gone,))
    for level in ("hybrid", "vector", "keyword", "ilike"):
        assert ask(session, "绿茶 tea", level=level).results == []


WORDS = [
    ("我们29号去了南京路，订单 order-1234", "order-1234"),
    ("备份在 C:\\tmp\\日志 里", "C:\\tmp"),
    ("会议改到 14:30 开始", "14:30"),
    ("the column user_id is unique", "user_id"),
    ("library v1.10 broke, v1.9 works", "v1.10"),
    ("write to anna@example.org", "anna@example.org"),
    ("he writes C++ and C#", "C++"),
    ("コーヒーを飲みます", "コーヒー"),
    ("커피를 마셨어요", "커피"),
    ("今天很开心 😀", "😀"),
]


@EVERYWHERE
def test_words_of_every_kind_are_found_first(wordy: Session) -> None:
    remember(wordy, *(text for text, _ in WORDS))
    remember(wordy, "user id x", "14 and 30", "c tmp", "v1 10", "order 1234 order")
    for text, query in WORDS:
        answer = ask(wordy, query)
        assert answer.level == "keyword"
        assert answer.results[0].content == text, query
        assert answer.results[0].score_type == "bm25"


def test_any_word_may_match_and_rare_words_weigh_more(wordy: Session) -> None:
    remember(wordy, "the budget meeting", "the budget of the zeppelin", "a quiet evening")
    found = contents(ask(wordy, "what about the zeppelin budget of last year"))
    assert found == ["the budget of the zeppelin", "the budget meeting"]


STOPS = [
    ("to be or not to be", "He asked: to be or not to be, that is the question"),
    ("who am i", "Who am I without my work"),
    ("你是谁", "他问：你是谁呀"),
    ("Just", "My colleague Just called"),
    ("😀", "a smile 😀 for you"),
    ("100%", "at 100% now"),
    ("abc\\", "the path abc\\def"),
    ("50_x", "part 50_x of it"),
]


def test_stop_words_and_wildcards_find_what_contains_them(wordy: Session) -> None:
    remember(wordy, *(text for _, text in STOPS))
    remember(wordy, "at 1000 now", "part 50yx of it", "nothing here 没有", "abcdef")
    for query, wanted in STOPS:
        answer = ask(wordy, query)
        assert contents(answer) == [wanted], query
        if answer.results[0].search_level == "ilike":
            assert answer.fallbacks[-1].code == "no_match"
            assert answer.fallbacks[-1].to_level == answer.level == "ilike"


def test_only_stop_words_is_said(wordy: Session) -> None:
    remember(wordy, "Who am I?", "something else")
    answer = ask(wordy, "who am i", explain=True)
    assert contents(answer) == ["Who am I?"] and answer.level == "keyword"
    assert answer.plan is not None and answer.plan.only_stop_words
    assert "only stop words" in answer.plan.reason


@EVERYWHERE
def test_part_of_a_word_falls_to_ilike_and_says_so(session: Session, wordy: Session) -> None:
    remember(wordy, "Transatlantic cable", "something else")
    answer = ask(wordy, "satlant")
    assert contents(answer) == ["Transatlantic cable"]
    assert [(f.from_level, f.to_level, f.code) for f in answer.fallbacks][-1] == (
        "keyword",
        "ilike",
        "no_match",
    )
    assert answer.results[0].score_type == "retention_proxy"


def test_without_an_embedder_it_is_keyword_and_says_why(wordy: Session) -> None:
    remember(wordy, "喝咖啡")
    answer = ask(wordy, "咖啡")
    assert answer.level == "keyword"
    (step,) = answer.fallbacks
    assert (step.from_level, step.to_level) == ("hybrid", "keyword")
    assert step.code == "embedder_disabled" and step.reason


def test_an_embedder_that_fails_is_told(session: Session) -> None:
    remember(session, "喝咖啡")
    session.use_embedder(
        FakeEmbedder(fail=NegmemError("embedder_timeout", "the model did not answer", why="2 s"))
    )
    answer = ask(session, "咖啡")
    assert answer.level == "keyword" and contents(answer) == ["喝咖啡"]
    assert answer.fallbacks[0].code == "embedder_timeout"
    assert "did not answer" in answer.fallbacks[0].reason


@pytest.mark.parametrize("other", [{"model": "another"}, {"version": "2"}, {"dims": 16}])
def test_vectors_of_another_model_are_not_compared(
    session: Session, other: dict[str, object]
) -> None:
    remember(session, "喝咖啡")
    session.use_embedder(FakeEmbedder(**other))  # type: ignore[arg-type]
    for level in ("auto", "vector"):
        answer = ask(session, "咖啡", level=level)
        assert answer.level == "keyword" and contents(answer) == ["喝咖啡"]
        (step,) = answer.fallbacks
        assert step.code == "embedding_space_mismatch"
        assert "negmem config show embedding" in step.hint


def test_memories_without_vectors_are_found_by_words_beside_others(
    session: Session, wordy: Session
) -> None:
    remember(wordy, "茉莉花茶 jasmine")
    alone = ask(session, "茉莉花茶")
    assert [f.code for f in alone.fallbacks] == ["nothing_embedded"]
    remember(session, "black tea")
    both = ask(session, "茉莉花茶", explain=True)
    assert both.fallbacks == [] and both.results[0].content == "茉莉花茶 jasmine"
    assert both.results[0].explain is not None and both.results[0].explain.semantic is None


def test_a_text_without_words_is_found_by_its_vector(session: Session) -> None:
    remember(session, "…—！")
    answer = ask(session, "…—！")
    assert contents(answer) == ["…—！"] and answer.level == "hybrid"


@EVERYWHERE
def test_filters_come_before_the_ranking(session: Session) -> None:
    remember(session, *(f"coffee coffee number {n}" for n in range(30)))
    (odd,) = remember(
        session,
        "coffee once, much further down and with many other words around it",
        memory_type="preference",
        thread="cafe",
        metadata={"place": "Kraków", "floor": 3, "tags": ["a", "b"]},
        occurred_at=START,
    )
    for given in (
        {"types": ["preference"]},
        {"types": ["preference", "core"], "thread": "cafe"},
        {"thread": "cafe"},
        {"until": START + timedelta(seconds=1)},
        {"since": START, "until": START + timedelta(days=1)},
        {"where": {"place": "Kraków"}},
        {"where": {"floor": 3}},
        {"where": {"floor": "3", "place": "Kraków"}},
        {"where": {"tags": ["b"]}},
    ):
        for level in ("hybrid", "vector", "keyword", "ilike"):
            found = ask(session, "coffee", level=level, limit=3, **given)
            assert [r.id for r in found.results] == [odd], given
    for given in ({"types": ["core"]}, {"thread": "nowhere"}, {"where": {"floor": 4}}):
        assert ask(session, "coffee", **given).results == []


def test_active_facts_are_found_beside_memories(session: Session, database: TestDatabase) -> None:
    remember(session, "we talked about allergies 过敏")
    add_fact(database, "allergy", "peanuts 花生")
    add_fact(database, "old allergy", "peanuts 花生", valid_until="2020-01-01")
    found = ask(session, "peanuts 花生")
    assert [(r.kind, r.content) for r in found.results if r.score] == [
        ("fact", "allergy: peanuts 花生")
    ]
    assert found.results[0].type == "preference"
    assert contents(ask(session, "peanuts", kinds=["memory"], level="keyword")) == []
    assert {r.kind for r in ask(session, "过敏 allergy peanuts").results} == {"memory", "fact"}


def test_pages_continue_and_end(wordy: Session) -> None:
    remember(wordy, *(f"apple {'pie ' * n}" for n in range(12)))
    whole = [r.id for r in ask(wordy, "apple", limit=12).results]
    pages = [ask(wordy, "apple", limit=5, offset=offset) for offset in (0, 5, 10, 15)]
    assert [r.id for page in pages for r in page.results] == whole
    assert pages[-1].results == [] and pages[-1].level == "keyword"
    assert all(step.code != "no_match" for step in pages[-1].fallbacks)


@EVERYWHERE
@pytest.mark.servers("embedded", "full")
def test_a_connection_that_was_cut_while_idle_is_no_matter(
    wordy: Session, database: TestDatabase
) -> None:
    remember(wordy, "The weather is fine.", "天气很好。")
    found = contents(ask(wordy, "weather"))
    backend = wordy.database.connection.info.backend_pid
    assert database.value(f"SELECT pg_terminate_backend({backend}, 5000)")
    assert contents(ask(wordy, "weather")) == found != []
    assert wordy.database.connection.info.backend_pid != backend


def test_a_turn_takes_from_its_neighbours_and_its_speaker(session: Session) -> None:
    ids = remember_talk(
        session,
        ("Ada", "Where did you buy the red bicycle?"),
        ("Bo", "In the shop by the river"),
        ("Ada", "nice weather today"),
        ("Bo", "I agree"),
    )
    answer = ask(session, "Bo and the red bicycle", explain=True)
    ranked = {r.id: r for r in answer.results}
    parts = {i: ranked[i].explain.contributions for i in ids if ranked[i].explain}  # type: ignore[union-attr]
    assert parts[ids[1]].neighbours > parts[ids[3]].neighbours
    first = parts[ids[1]]
    said = first.semantic + first.keyword + first.neighbours + first.session
    assert first.speaker == pytest.approx(0.08 * said, abs=2e-6) and parts[ids[0]].speaker == 0
    assert parts[ids[2]].session == parts[ids[0]].session > 0
    alone = ask(session, "Bo and the red bicycle", level="keyword", explain=True)
    assert {r.id for r in alone.results} == {ids[0], ids[1], ids[3]}
    vectors = ask(session, "Bo and the red bicycle", level="vector", explain=True)
    for r in vectors.results:
        assert r.explain is not None and r.explain.contributions.semantic == r.score


def test_notes_of_one_speaker_are_no_neighbours(session: Session) -> None:
    ids = remember_talk(session, ("Ada", "the red bicycle"), ("Ada", "weather"), thread="notes")
    found = {r.id: r for r in ask(session, "red bicycle", explain=True).results}
    working = found[ids[1]].explain
    assert working is not None
    parts = working.contributions
    # Its own base stands in for what a conversation would give: 1, 0.65 and 0.45 times it, over 2.1.
    own = parts.semantic + parts.keyword
    assert parts.neighbours == pytest.approx(0.65 * own, abs=2e-6)
    assert parts.session == pytest.approx(0.45 * own, abs=2e-6)


def test_learned_relevance_moves_a_result_and_is_capped(
    session: Session, database: TestDatabase
) -> None:
    up, down = remember(session, "tea in the garden", "tea in the kitchen")
    database.rows(
        "UPDATE negentropy.memories SET relevance_weight = CASE id WHEN %s THEN 2.0 ELSE 0.5 END",
        (up,),
    )
    answer = ask(session, "tea", explain=True)
    assert [r.id for r in answer.results] == [up, down]
    first, second = (r.explain for r in answer.results)
    assert first is not None and second is not None
    assert first.contributions.relevance > 0 > second.contributions.relevance
    assert answer.results[0].score <= 1
    assert first.sum == answer.results[0].score and second.sum == answer.results[1].score


WRONG = [
    ({"query": "  \n"}, "query_blank"),
    ({"level": "best"}, "level_unknown"),
    ({"kinds": ["memories"]}, "kind_unknown"),
    ({"kinds": []}, "kind_unknown"),
    ({"semantic_weight": 0.0, "keyword_weight": 0.0}, "weights_invalid"),
    ({"semantic_weight": float("nan")}, "weights_invalid"),
    ({"level": None}, "level_unknown"),
    ({"limit": 0}, "limit_invalid"),
    ({"limit": "5"}, "limit_invalid"),
    ({"limit": 1.5}, "limit_invalid"),
    ({"limit": 9_000, "offset": 9_000}, "limit_invalid"),
]


def test_what_is_wrong_is_refused_before_anything_is_asked(session: Session) -> None:
    for given, code in WRONG:
        options: dict[str, Any] = {"query": "tea", **given}
        with pytest.raises(UsageError) as caught:
            ask(session, str(options.pop("query")), **options)
        assert caught.value.code == code
