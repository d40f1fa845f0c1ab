"""get_context_window in SQL: what goes in, in which order, within which budget."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.support.contexts import add_core, add_event, add_fact
from tests.support.databases import TestDatabase
from tests.support.memories import add_memory

pytestmark = pytest.mark.servers("embedded", "sixteen")

Window = list[tuple[str, str]]


def remember(database: TestDatabase, content: str, **more: Any) -> str:
    """A memory that words find."""
    memory_id = add_memory(database, content, **more)
    user = more.get("user", "ada")
    database.rows("SELECT negentropy.index_memories(%s, 'negmem', %s::uuid[])", (user, [memory_id]))
    return memory_id


def window(
    database: TestDatabase, query: str = "coffee 咖啡", tokens: int = 4000, **more: Any
) -> Window:
    named = "".join(f", p_{name} => %({name})s" for name in more)
    rows = database.rows(
        "SELECT context_type, content FROM negentropy.get_context_window("
        f"'ada', 'negmem', %(query)s, NULL, %(tokens)s{named})",
        {"query": query, "tokens": tokens, **more},
    )
    return [(kind, content) for kind, content in rows]


def test_sections_come_in_reading_order(database: TestDatabase) -> None:
    remember(database, "likes coffee without sugar 喝咖啡不加糖")
    add_fact(database, "coffee", "no sugar")
    add_fact(database, "name", "Ada 艾达", fact_type="profile")
    add_event(database, "good morning 早上好", position=1)
    add_event(database, "hello Ada", author="assistant", position=2)
    add_core(database, "answer briefly 简短回答")
    add_core(database, "be polite", scope="app", label="tone")
    assert window(database) == [
        ("core", "be polite"),
        ("core", "answer briefly 简短回答"),
        ("profile", "name: Ada 艾达"),
        ("memory", "likes coffee without sugar 喝咖啡不加糖"),
        ("fact", "coffee: no sugar"),
        ("history", "good morning 早上好"),
        ("history", "hello Ada"),
    ]


def test_memories_without_a_vector_are_found_and_not_put_first(database: TestDatabase) -> None:
    remember(database, "the weather was fine")
    best = "coffee coffee 咖啡"
    remember(database, best)
    remember(database, "tea, and once a coffee, on a long day in the mountains")
    found = [content for kind, content in window(database) if kind == "memory"]
    assert found[0] == best
    assert "the weather was fine" not in found


def test_the_question_decides(database: TestDatabase) -> None:
    remember(database, "likes coffee")
    remember(database, "喜欢乌龙茶")
    assert window(database, "乌龙茶") == [("memory", "喜欢乌龙茶")]


def test_deleted_memories_and_other_people_stay_out(database: TestDatabase) -> None:
    gone = remember(database, "coffee, deleted")
    database.rows(
        "SELECT negentropy.forget_memories('ada', 'negmem', %s::uuid[], 'test')", ([gone],)
    )
    remember(database, "coffee of bob", user="bob")
    add_event(database, "bob's words", user="bob")
    add_core(database, "bob's persona", user="bob")
    add_fact(database, "name", "Bob", fact_type="profile", user="bob")
    add_fact(database, "old name", "A", fact_type="profile", valid_until="2020-01-01")
    assert window(database) == []


def test_the_estimate_stays_within_the_shares(database: TestDatabase) -> None:
    for n in range(30):
        remember(database, f"咖啡 number {n} with some words to fill the line")
        add_event(database, f"第{n}句话 of the conversation", position=n)
    add_core(database, "core " * 40)
    for tokens in (0, 1, 40, 100, 400, 4000):
        rows = database.rows(
            "SELECT context_type, token_estimate FROM negentropy.get_context_window("
            "'ada', 'negmem', 'coffee 咖啡', NULL, %s)",
            (tokens,),
        )
        history = sum(estimate for kind, estimate in rows if kind == "history")
        assert history <= tokens * 0.5
        assert sum(estimate for _, estimate in rows) <= tokens * 0.8
        assert sum(estimate for kind, estimate in rows if kind == "core") <= tokens * 0.3 * 0.3
        assert (len(rows) > 0) == (tokens >= 40)


def test_history_is_the_latest_of_one_thread_without_tools(database: TestDatabase) -> None:
    add_event(database, "from another talk", thread="old")
    database.rows("UPDATE negentropy.threads SET updated_at = now() - interval '1 day'")
    for n in range(1, 6):
        add_event(database, f"turn {n}", position=n)
    add_event(database, '{"result": 42}', position=6, kind="tool_call")
    add_event(database, " \n", position=7)
    add_event(database, None, position=8, content={"parts": [{"image": "x"}]})
    said = [content for kind, content in window(database) if kind == "history"]
    assert said == [f"turn {n}" for n in range(1, 6)]
    short = [content for kind, content in window(database, tokens=20) if kind == "history"]
    assert short == ["turn 4", "turn 5"]
    thread = database.value("SELECT id FROM negentropy.threads WHERE external_id = 'old'")
    assert window(database, thread_id=thread) == [("history", "from another talk")]


def test_a_turn_that_the_history_shows_is_not_repeated(database: TestDatabase) -> None:
    remember(database, "I drink coffee 咖啡", thread="chat")
    database.rows("UPDATE negentropy.memories SET position = 1")
    add_event(database, "I drink coffee 咖啡", position=1)
    assert window(database) == [("history", "I drink coffee 咖啡")]
    memories = window(database, history_ratio=0.0)
    assert memories == [("memory", "I drink coffee 咖啡")]


def test_blocks_of_another_thread_stay_out(database: TestDatabase) -> None:
    add_event(database, "words", thread="other")
    database.rows("UPDATE negentropy.threads SET updated_at = now() - interval '1 day'")
    add_event(database, "words", thread="chat")
    add_core(database, "of the other", scope="thread", thread="other")
    add_core(database, "of this one", scope="thread", thread="chat")
    core = [content for kind, content in window(database) if kind == "core"]
    assert core == ["of this one"]


def test_what_was_said_is_read_from_every_shape(database: TestDatabase) -> None:
    shapes: list[tuple[Any, str | None]] = [
        ("hello", "hello"),
        ({"parts": [{"text": "a"}, {"function_call": {"x": 1}}, {"text": "b"}]}, "a\nb"),
        ({"text": "plain"}, "plain"),
        ({"role": "user", "content": "string"}, "string"),
        ({"role": "user", "content": [{"type": "text", "text": "部分"}, "more"]}, "部分\nmore"),
        ({"content": {"parts": [{"text": "nested"}]}}, "nested"),
        ({"content": {"text": "deep"}}, "deep"),
        ({"parts": [{"function_response": {"text": "x"}}]}, None),
        ({"parts": "loose"}, "loose"),
        ({"parts": None}, None),
        ({}, None),
        ([], None),
        (42, None),
        (None, None),
    ]
    for content, words in shapes:
        found = database.value("SELECT negentropy.event_text(%s::jsonb)", (json.dumps(content),))
        assert found == words, content


def test_numbers_that_make_no_sense_are_refused(database: TestDatabase) -> None:
    for numbers in (
        "-1",
        "NULL",
        "100, 0.7, 0.7",
        "100, -0.1, 0.5",
        "100, 'NaN', 0.5",
        "100, 0.5, NULL",
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            database.rows(
                f"SELECT * FROM negentropy.get_context_window('ada', 'negmem', 'x', NULL, {numbers})"
            )
