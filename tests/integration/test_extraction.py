"""The step fact_extract on a real database: whose words count, what is pending, what is paid."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from negmem.core.formation.pipeline import LeaseLostError, Work
from negmem.core.formation.steps import fact_extract
from negmem.core.session import Session
from negmem.providers.generation import Budget, Generator, GeneratorSettings
from tests.support.chat_server import ChatReply, ChatServer, chat_server, failed, said
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, ingest_file, session_on, write_lines

pytestmark = pytest.mark.needs_vector

_FACTS = """
    SELECT fact_type, key, value ->> 'text' FROM negentropy.facts
    WHERE user_id = 'alice' AND status = 'active' ORDER BY 1, 2, 3
"""


def work_on(session: Session, database: TestDatabase, thread: str, **changes: Any) -> Work:
    thread_id: UUID = database.value(
        "SELECT id FROM negentropy.threads WHERE user_id = 'alice' AND external_id = %s", [thread]
    )
    return Work(session, "alice", session.app, uuid4(), "fast_replay", thread_id, **changes)


def model_on(server: ChatServer, budget: Budget | None = None) -> Generator:
    return Generator(
        GeneratorSettings(
            model="openai/test-model", api_base=server.base_url, api_key_env="K", max_retries=1
        ),
        budget,
        env={"K": "sk-test"},
        sleep=lambda seconds: None,
    )


def in_small_batches(session: Session, turns: int) -> None:
    llm = session.config.llm.model_copy(update={"batch_turns": turns})
    config = session.config.model_copy(update={"llm": llm})
    session.loaded = dataclasses.replace(session.loaded, config=config)


def given(body: dict[str, Any]) -> list[dict[str, str]]:
    """The turns in a request."""
    lines = body["messages"][1]["content"].splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def echo(body: dict[str, Any]) -> ChatReply:
    """A model that takes the last word of each of the user's turns for a liking."""
    facts = [
        {
            "type": "preference",
            "key": "likes",
            "value": turn["text"].rstrip(".。").split()[-1],
            "negated": False,
            "confidence": 0.9,
            "turns": [turn["id"]],
        }
        for turn in given(body)
        if turn["speaker"] == "user"
    ]
    return said(json.dumps({"facts": facts}))


def test_only_the_user_s_own_words_make_facts_with_their_sources(
    database: TestDatabase, tmp_path: Path
) -> None:
    talk = {
        "thread": "t",
        "datetime": "2026-03-13T09:00:00Z",
        "turns": [
            {"speaker": "Ann", "text": "I live in Oslo. 我喜欢茶。"},
            {"speaker": "Bo", "text": "I live in Rome and I love opera."},
            {"role": "assistant", "text": "I like that!"},
            {"speaker": "Ann", "text": "I moved to Bergen last week. I can't stand opera."},
        ],
    }
    path = write_lines(tmp_path / "talk.jsonl", [talk])
    with session_on(database) as session:
        ingest_file(session, path, me="Ann")
        work = work_on(session, database, "t")
        outcome = fact_extract.run(work)
        assert (outcome.status, outcome.counts["turns"], outcome.counts["facts"]) == ("done", 2, 4)
        assert database.rows(_FACTS) == [
            ("preference", "likes:opera", "does not like opera"),
            ("preference", "likes:茶", "喜欢茶"),
            ("profile", "city", "Bergen"),
        ]
        sources = database.rows(
            "SELECT DISTINCT s.extractor, s.run_id, e.author FROM negentropy.item_sources AS s"
            " JOIN negentropy.events AS e ON e.id = s.event_id WHERE s.item_kind = 'fact'"
        )
        assert sources == [("pattern", work.job_id, "Ann")]
        again = fact_extract.run(work)
        assert again.counts["facts"] == 0
        assert again.counts["unchanged"] == 4
        silent = dataclasses.replace(work, since=database.value("SELECT now()"))
        assert fact_extract.run(silent).status == "skipped"


def test_no_transaction_is_open_while_the_model_thinks(
    database: TestDatabase, tmp_path: Path
) -> None:
    idle: list[int] = []

    def mood(body: dict[str, Any]) -> ChatReply:
        idle.append(
            database.value(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND state LIKE 'idle in transaction%%' OR datname = current_database()"
                " AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            )
        )
        return echo(body)

    texts = [f"I like thing{number}" for number in range(12)]
    path = write_lines(tmp_path / "talk.jsonl", [conversation("t", *texts)])
    with chat_server() as server, session_on(database) as session:
        server.mood = mood
        ingest_file(session, path)
        in_small_batches(session, 2)
        work = work_on(session, database, "t", extractor="llm", generator=model_on(server))
        outcome = fact_extract.run(work)
    assert outcome.status == "done"
    assert idle == [0, 0, 0]
    # Turns of the assistant are shown as context, and no fact rests on them.
    assert {turn["speaker"] for body in server.bodies for turn in given(body)} == {"user", "other"}
    assert outcome.counts["facts"] == 6
    assert database.rows("SELECT DISTINCT extractor, model FROM negentropy.item_sources WHERE item_kind = 'fact'") == [("llm", "openai/test-model")]  # fmt: skip


def test_only_the_failed_batch_falls_to_patterns_and_only_it_is_asked_for_again(
    database: TestDatabase, tmp_path: Path
) -> None:
    texts = [f"I like thing{number}." for number in range(8)]
    path = write_lines(tmp_path / "talk.jsonl", [conversation("t", *texts)])
    with chat_server() as server, session_on(database) as session:
        server.mood = lambda body: (
            said("half of {")
            if any("thing2" in turn["text"] and turn["speaker"] == "user" for turn in given(body))
            else echo(body)
        )
        ingest_file(session, path)
        in_small_batches(session, 1)
        work = work_on(session, database, "t", extractor="llm", generator=model_on(server))
        outcome = fact_extract.run(work)
        assert outcome.status == "failed"
        assert outcome.reason
        assert outcome.reason.startswith("llm_answer_invalid: patterns read 1 of 4 batches")
        assert (outcome.counts["batches"], outcome.counts["fallbacks"]) == (4, 1)
        assert work.generator
        assert work.generator.usage.fallbacks == 1
        # Patterns took the failed turn: nothing is missing meanwhile.
        assert outcome.counts["facts"] == 4
        server.bodies.clear()
        server.mood = echo
        assert fact_extract.run(work).status == "done"
        assert len(server.bodies) == 1
        assert "thing2" in json.dumps(server.bodies[0])
        server.bodies.clear()
        assert fact_extract.run(work).status == "done"
        assert server.bodies == []


def test_overflow_halves_and_a_ceiling_leaves_the_rest_pending(
    database: TestDatabase, tmp_path: Path
) -> None:
    def small(body: dict[str, Any]) -> ChatReply:
        if sum(turn["speaker"] == "user" for turn in given(body)) > 2:
            return failed(400, "maximum context length is 100 tokens", "context_length_exceeded")
        return echo(body)

    texts = [f"I like thing{number}." for number in range(16)]
    path = write_lines(tmp_path / "talk.jsonl", [conversation("t", *texts)])
    with chat_server() as server, session_on(database) as session:
        server.mood = small
        ingest_file(session, path)
        budget = Budget(max_calls=5)
        work = work_on(session, database, "t", extractor="llm", generator=model_on(server, budget))
        outcome = fact_extract.run(work)
        assert len(server.bodies) == 5
        assert outcome.status == "failed"
        assert "llm_ceiling" in (outcome.reason or "")
        assert (outcome.counts["halved"], outcome.counts["facts"]) == (3, 8)
        done = fact_extract.run(dataclasses.replace(work, generator=model_on(server)))
        assert done.status == "done"
        # Four turns were left: one request that overflows, two that fit.
        assert len(server.bodies) <= 5 + 3


def test_a_lost_lease_stops_before_anything_more_is_paid_or_written(
    database: TestDatabase, tmp_path: Path
) -> None:
    texts = [f"I like thing{number}." for number in range(8)]
    path = write_lines(tmp_path / "talk.jsonl", [conversation("t", *texts)])
    calls = 0

    def checkpoint() -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise LeaseLostError("another worker has it")

    with chat_server() as server, session_on(database) as session:
        server.mood = echo
        ingest_file(session, path)
        in_small_batches(session, 1)
        work = work_on(
            session,
            database,
            "t",
            extractor="llm",
            generator=model_on(server),
            checkpoint=checkpoint,
        )
        with pytest.raises(LeaseLostError):
            fact_extract.run(work)
        assert len(server.bodies) < 4
        assert len(database.rows(_FACTS)) < len(server.bodies) + 1
