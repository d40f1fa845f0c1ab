"""Two hundred hostile or malformed answers of a model, through the real client, into a database."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from negmem.core.formation.extraction.batches import BatchResult, ask_model
from negmem.core.formation.extraction.prompt import SourceTurn
from negmem.core.formation.pipeline import Work
from negmem.core.formation.steps import fact_extract
from negmem.providers.generation import Generator, GeneratorSettings
from tests.support.chat_server import ChatReply, chat_server
from tests.support.databases import TestDatabase
from tests.support.hostile_answers import MODEL, Hostile, hostile_answers
from tests.support.ingesting import conversation, ingest_file, session_on, write_lines

ANSWERS = hostile_answers()

_FOREIGN = """
    SELECT 'fact', f.id::text, f::text FROM negentropy.facts AS f WHERE f.user_id <> 'alice'
    UNION ALL SELECT 'source', s.event_id::text, s::text FROM negentropy.item_sources AS s
        WHERE s.user_id <> 'alice'
    UNION ALL SELECT 'memory', m.id::text, m.user_id || m.content || m.metadata::text FROM negentropy.memories AS m
    UNION ALL SELECT 'event', e.id::text, e::text FROM negentropy.events AS e
    UNION ALL SELECT 'thread', t.id::text, t::text FROM negentropy.threads AS t
    ORDER BY 1, 2, 3
"""


def generator_on(base_url: str) -> Generator:
    """A generator that waits for nothing, and for which every pause is over."""
    clock = itertools.count(0, 1_000)
    return Generator(
        GeneratorSettings(
            model="openai/test-model",
            api_base=base_url,
            api_key_env="K",
            max_retries=1,
            timeout_s=20,
        ),
        env={"K": "sk-test"},
        sleep=lambda seconds: None,
        clock=lambda: float(next(clock)),
    )


def number_in(body: dict[str, Any]) -> int:
    """Which answer a request is to get: the user's own turn in it bears the number."""
    lines = [
        json.loads(line) for line in body["messages"][1]["content"].splitlines() if line[:1] == "{"
    ]
    own = [re.search(r"Cup (\d+)", line["text"]) for line in lines if line["speaker"] == "user"]
    assert len(own) == 1
    assert own[0]
    return int(own[0][1])


def test_there_are_two_hundred_of_them() -> None:
    assert len(ANSWERS) >= 200
    assert len({one.name for one in ANSWERS}) == len(ANSWERS)


def test_every_answer_and_every_item_of_it_is_accounted_for() -> None:
    wrong: list[str] = []
    with chat_server() as server:
        server.mood = lambda body: ANSWERS[number_in(body)].reply
        generator = generator_on(server.base_url)
        for number, hostile in enumerate(ANSWERS):
            results: list[BatchResult] = []
            turn = SourceTurn(uuid4(), f"I like tea. Cup {number}", True)
            account = ask_model(
                generator,
                [turn],
                results.append,
                max_turns=1,
                max_chars=500,
                checkpoint=lambda: None,
            )
            told = _told(hostile, turn, results)
            rejected = sum(account.rejected.values())
            believed = len(results[0].facts) if hostile.by == MODEL else 0
            if hostile.items is not None and believed + rejected != hostile.items:
                told.append(f"{believed} believed, {rejected} rejected of {hostile.items}")
            if account.batches != account.by_model + account.by_patterns:
                told.append("the batches do not add up")
            if told:
                wrong.append(f"{hostile.name}: {'; '.join(told)} {dict(account.rejected)}")
    assert wrong == [], "\n".join(wrong)


def _told(hostile: Hostile, turn: SourceTurn, results: list[BatchResult]) -> list[str]:
    """What is not as the table says."""
    told = []
    if len(results) != 1:
        return [f"{len(results)} results"]
    result = results[0]
    if (result.refusal is None) != (hostile.by == MODEL):
        told.append(f"not by {hostile.by}: {result.refusal}")
    elif hostile.by == MODEL and len(result.facts) != hostile.believed:
        told.append(f"{len(result.facts)} believed, not {hostile.believed}")
    if result.is_pending != hostile.is_pending:
        told.append(f"pending: {result.is_pending}")
    if hostile.by != MODEL and [fact.extractor for fact in result.facts] != ["pattern"]:
        told.append(f"patterns found {len(result.facts)}")
    for fact in result.facts:
        if fact.event_ids != [turn.event_id]:
            told.append("a foreign source")
        if not 0 <= fact.confidence <= 1 or not fact.key.strip():
            told.append(f"confidence {fact.confidence}, key {fact.key!r}")
    return told


@pytest.mark.needs_vector
def test_they_write_nothing_but_facts_of_their_own_user(
    database: TestDatabase, tmp_path: Path
) -> None:
    turns = [
        {"role": "user", "text": f"I like tea. Cup {number}"} for number in range(len(ANSWERS))
    ]
    talk = {"thread": "t1", "datetime": "2026-03-02T09:00:00Z", "turns": turns}
    path = write_lines(tmp_path / "talk.jsonl", [talk, conversation("b", "我喜欢茶", user="bob")])
    with chat_server() as server, session_on(database) as session:
        ingest_file(session, path)
        threads = dict(database.rows("SELECT external_id, id FROM negentropy.threads"))
        bob = Work(session, "bob", session.app, uuid4(), "fast_replay", threads["b"])
        assert fact_extract.run(bob).counts["facts"] == 1
        before = database.rows(_FOREIGN)

        asked: Counter[int] = Counter()

        def mood(body: dict[str, Any]) -> ChatReply:
            number = number_in(body)
            asked[number] += 1
            return ANSWERS[number].reply

        server.mood = mood
        settings = session.config.llm.model_copy(update={"batch_turns": 1, "batch_chars": 200})
        config = session.config.model_copy(update={"llm": settings})
        session.loaded = dataclasses.replace(session.loaded, config=config)
        work = Work(
            session,
            "alice",
            session.app,
            uuid4(),
            "fast_replay",
            threads["t1"],
            extractor="llm",
            generator=generator_on(server.base_url),
        )
        outcome = fact_extract.run(work)
        counts = outcome.counts
        assert outcome.status == "failed", "batches that could not be read leave the job pending"
        assert outcome.reason
        assert counts["batches"] == len(ANSWERS)
        assert counts["fallbacks"] == sum(1 for one in ANSWERS if one.by != MODEL)
        assert database.rows(_FOREIGN) == before
        keys = database.rows(
            "SELECT DISTINCT fact_type FROM negentropy.facts WHERE user_id = 'alice'"
        )
        assert ("preference",) in keys
        stray = database.value(
            "SELECT count(*) FROM negentropy.item_sources AS s JOIN negentropy.events AS e"
            " ON e.user_id = s.user_id AND e.id = s.event_id WHERE s.user_id = 'alice'"
            " AND s.item_kind = 'fact' AND e.thread_id <> %s",
            [threads["t1"]],
        )
        assert stray == 0

        # What the model answered is not paid for again; what failed is asked for again.
        asked.clear()
        fact_extract.run(work)
        pending = {number for number, one in enumerate(ANSWERS) if one.is_pending}
        assert set(asked) == pending
