"""Answers judged by a model: right and wrong ones, ceilings, and the refusal where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from negmem.core.bench.history import history
from negmem.core.bench.judge import JudgeOptions, run
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from tests.support.chat_server import ChatReply, ChatServer, chat_server, failed, said
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder

SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'negmem_bench%'"


def write_set(folder: Path) -> None:
    turns = [
        {"turn_id": "t1", "speaker": "Ada", "text": "my cat is called Mochi 猫"},
        {"turn_id": "t2", "speaker": "Ada", "text": "I live in 北京"},
    ]
    sessions = [{"conversation_id": "c", "session_id": "s", "turns": turns}]
    asked = [
        {
            "question_id": f"q{number}",
            "conversation_id": "c",
            "question": question,
            "answer": answer,
            "category": category,
            "evidence": [evidence],
        }
        for number, (question, answer, category, evidence) in enumerate(
            [
                ("What is the cat called?", "Mochi", "pets", "t1"),
                ("住在哪里 live", "北京", "places", "t2"),
                ("Which cat?", "Mochi", "pets", "t1"),
            ]
        )
    ]
    for name, rows in (("sessions", sessions), ("qa", asked)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def opened(database: TestDatabase, folder: Path, server: ChatServer | None) -> Session:
    config = folder / "negmem.yaml"
    llm = (
        ""
        if server is None
        else (
            f"llm:\n  model: openai/test\n  api_base: {server.base_url}\n  api_key_env: KEY\n"
            "  max_retries: 0\n"
        )
    )
    config.write_text(f"connection:\n  app: negmem\n{llm}", encoding="utf-8")
    env = {"NEGMEM_HOME": str(folder / "home"), "KEY": "sk-test"}
    session = open_session(dsn=database.dsn, config_path=str(config), env=env)
    session.use_embedder(FakeEmbedder())
    return session


def model(body: dict[str, Any]) -> ChatReply:
    """Knows the cat and not the town; grades by the words."""
    text = body["messages"][-1]["content"]
    if "Expected:" in text:
        expected = text.partition("Expected: ")[2].partition("\n")[0]
        return said(json.dumps({"correct": expected in text.partition("Given: ")[2]}))
    assert "Notes:" in text and "Mochi" in text
    return said(json.dumps({"answer": "Mochi" if "cat" in text.lower() else "not known"}))


def test_answers_are_graded(database: TestDatabase, tmp_path: Path) -> None:
    write_set(tmp_path)
    options = JudgeOptions(dataset="own", folder=tmp_path)
    with chat_server() as server, opened(database, tmp_path, server) as session:
        server.mood = model
        found = run(session, options)
        assert (found.questions, found.graded, found.calls) == (3, 3, 6)
        assert {name: c.accuracy for name, c in found.by_category.items()}["pets"] == 1.0
        low, high = found.interval
        assert low <= found.accuracy <= high
        assert (found.refusals, found.stopped) == ({}, None)
        assert found.tokens == 6 * 120
        (kept,) = history(session, kind="judge").runs
        assert kept.metrics["accuracy"] == found.accuracy
        few = run(session, JudgeOptions(dataset="own", folder=tmp_path, max_calls=3))
        assert (few.graded, few.calls) == (1, 3)
        assert few.stopped is not None and few.stopped.startswith("llm_ceiling")
        server.mood = lambda body: failed(401, "invalid key", "invalid_api_key")
        with pytest.raises(NegmemError) as nothing:
            run(session, options)
        assert nothing.value.code == "bench_nothing_graded"
    assert database.rows(SCHEMAS) == []


def test_without_a_model_it_is_refused_before_anything_is_made(
    database: TestDatabase, tmp_path: Path
) -> None:
    write_set(tmp_path)
    with opened(database, tmp_path, None) as session, pytest.raises(UsageError) as refused:
        run(session, JudgeOptions(dataset="own", folder=tmp_path), on_step=pytest.fail)
    assert refused.value.code == "llm_model_unset"
    assert "bench retrieval" in refused.value.hint
