"""What a job takes of the language model is kept with the job: by job, over attempts, and adding up."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from negmem.core.formation.worker import _llm_use
from negmem.providers.budget import GenerationUsage
from tests.support.chat_server import ChatReply, chat_server, failed, said
from tests.support.consolidating import consolidate, consolidating
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, ingest_file, write_lines

pytestmark = pytest.mark.needs_vector


def test_jobs_keep_what_they_took_of_the_model(database: TestDatabase, tmp_path: Path) -> None:
    calls = 0

    def mood(body: dict[str, Any]) -> ChatReply:
        nonlocal calls
        calls += 1
        return said(json.dumps({"facts": []})) if calls > 1 else failed(400, "no", "bad")

    lines = [conversation("tea", "I like tea."), conversation("茶", "我喜欢喝茶。")]
    with (
        chat_server() as server,
        consolidating(database, tmp_path, ["fact_extract"], workers=2) as session,
    ):
        server.mood = mood
        llm = session.config.llm.model_copy(
            update={
                "model": "openai/test-model",
                "api_base": server.base_url,
                "api_key_env": "K",
                "max_retries": 0,
                "input_usd_per_million": 1.0,
                "output_usd_per_million": 5.0,
            }
        )
        config = session.config.model_copy(update={"llm": llm})
        session.loaded = dataclasses.replace(session.loaded, config=config)
        session.env = {"K": "sk-test"}
        ingest_file(session, write_lines(tmp_path / "talk.jsonl", lines))
        done = consolidate(session)
        first = [row[0] for row in database.rows(_USED)]
        assert sum(one["calls"] for one in first) == done.llm.calls == calls == 2
        assert {one["model"] for one in first} == {"openai/test-model"}
        assert sum(one["cost_usd"] or 0 for one in first) == pytest.approx(done.llm.cost_usd)
        assert done.llm.cost_usd == pytest.approx(200e-6)
        assert sum(one["fallbacks"] for one in first) == done.llm.fallbacks


_USED = """
    SELECT j.result -> 'llm' FROM negentropy.consolidation_jobs AS j WHERE j.result ? 'llm'
    ORDER BY j.created_at, j.id
"""


def test_attempts_add_up() -> None:
    earlier = {"model": "old", "calls": 2, "prompt_tokens": 10, "cost_usd": 0.5, "fallbacks": 1}
    generator = SimpleNamespace(model="new")
    used = GenerationUsage(calls=1, completion_tokens=7, cost_usd=None)
    (kept,) = _llm_use(earlier, used, generator).values()  # type: ignore[arg-type]
    assert (kept["model"], kept["calls"], kept["cost_usd"]) == ("new", 3, 0.5)
    assert (kept["prompt_tokens"], kept["completion_tokens"], kept["fallbacks"]) == (10, 7, 1)
    assert _llm_use(earlier, None, None) == {"llm": earlier}  # an attempt by patterns loses nothing
    assert _llm_use(None, GenerationUsage(), generator) == {}  # type: ignore[arg-type]
