"""The Python API: the same answers as the command line, in threads and in asyncio."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

import negmem
from negmem.async_api import (
    AsyncAutomation,
    AsyncCore,
    AsyncCurator,
    AsyncInstructions,
    AsyncMemories,
    AsyncMemory,
    AsyncRetention,
    AsyncSummaries,
)
from negmem.errors import NegmemError, UsageError
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder

TURNS: list[dict[str, Any]] = [
    {
        "thread": "t1",
        "datetime": "2026-03-02T09:00:00Z",
        "user": "alice",
        "turns": [
            {"role": "user", "text": "我对花生过敏。"},
            {"role": "assistant", "text": "Noted: no peanuts for you."},
        ],
    }
]


@pytest.mark.servers("embedded", "pooled")
def test_ingest_search_prune_as_one_would(database: TestDatabase) -> None:
    with negmem.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        mem.init()
        first = mem.ingest(TURNS)
        assert (first.sessions, first.events, first.memories) == (1, 2, 2)
        assert mem.ingest(TURNS).memories == 0
        context = mem.context("花生", user="alice", max_tokens=300)
        assert 0 < context.tokens <= 240
        answer = mem.search("花生", user="alice", explain=True)
        assert answer.results[0].content == "我对花生过敏。"
        assert answer.results[0].explain is not None
        assert mem.curator.prune(user="alice", max_count=1, dry_run=True).removed == 1
        pinned = mem.memory.pin(answer.results[0].id, user="alice")
        assert pinned.changed == [answer.results[0].id]
        assert mem.curator.prune(user="alice", max_count=1).removed == 1
        assert [m.id for m in mem.memory.list(user="alice").memories] == pinned.changed


def test_an_empty_user_is_refused_everywhere(database: TestDatabase) -> None:
    with negmem.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        for act in (
            lambda: mem.search("x", user=" "),
            lambda: mem.memory.add("x", user=""),
            lambda: mem.memory.list(user=""),
            lambda: mem.curator.prune(user=""),
            lambda: mem.ingest(TURNS, user=""),
        ):
            with pytest.raises(UsageError) as raised:
                act()
            assert raised.value.code == "user_empty"


@pytest.mark.parametrize("user", ["a\x00b", "x" * 256, "王\ud800"])
def test_a_name_that_no_row_can_have_is_refused(database: TestDatabase, user: str) -> None:
    with negmem.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        for act in (lambda: mem.search("x", user=user), lambda: mem.memory.add("x", user=user)):
            with pytest.raises(UsageError) as raised:
                act()
            assert raised.value.code == "user_invalid"


def test_without_init_it_says_so(empty_database: TestDatabase) -> None:
    with negmem.connect(empty_database.dsn) as mem, pytest.raises(NegmemError) as raised:
        mem.search("x", user="alice")
    assert raised.value.code == "schema_missing"


def test_awaited_calls_run_side_by_side_and_give_the_same(database: TestDatabase) -> None:
    async def work() -> list[str]:
        async with negmem.connect_async(database.dsn, embedder=FakeEmbedder()) as mem:
            await mem.init()
            await mem.ingest(TURNS)
            await asyncio.gather(
                *(mem.memory.add(f"note {n} 笔记", user="alice") for n in range(12))
            )
            answers = await asyncio.gather(
                *(mem.search(f"note {n}", user="alice", limit=1) for n in range(8))
            )
            return [answer.results[0].content for answer in answers]

    found = asyncio.run(work())
    assert found == [f"note {n} 笔记" for n in range(8)]


def test_the_async_face_has_the_same_names() -> None:
    from negmem import api

    def verbs(kind: type) -> set[str]:
        return {
            name
            for name, value in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert verbs(AsyncMemory) - {"run"} == verbs(api.Memory)
    assert verbs(AsyncMemories) == verbs(api.Memories)
    assert verbs(AsyncCore) == verbs(api.Core)
    assert verbs(AsyncCurator) == verbs(api.Curator)
    assert verbs(AsyncRetention) == verbs(api.Retention)
    assert verbs(AsyncSummaries) == verbs(api.Summaries)
    assert verbs(AsyncInstructions) == verbs(api.Instructions)
    assert verbs(AsyncAutomation) == verbs(api.Automation)


@pytest.mark.servers("embedded", "pooled")
def test_diff_and_sync_as_ci_would(database: TestDatabase) -> None:
    with negmem.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        mem.init()
        assert not mem.diff().drift
        database.rows("DROP FUNCTION negentropy.rrf_score")
        assert [c.name for c in mem.sync(dry_run=True).applied] == ["rrf_score"]
        assert [c.reason for c in mem.diff(["rrf_score"]).changes] == ["missing"]
        assert [c.action for c in mem.sync().applied] == ["create"]
        assert not mem.diff().drift
        assert mem.automation.enable("cleanup_memories").changed
        shown = {job.job_key: job.enabled for job in mem.automation.show().jobs}
        assert shown["cleanup_memories"]
        assert mem.automation.run("cleanup_memories").job_key == "cleanup_memories"
        assert [run.job_key for run in mem.automation.logs().runs] == ["cleanup_memories"]
        assert not mem.automation.disable("cleanup_memories").enabled


def test_drift_is_awaited_too(database: TestDatabase) -> None:
    async def work() -> list[bool]:
        async with negmem.connect_async(database.dsn, embedder=FakeEmbedder()) as mem:
            await mem.init()
            database.rows("DROP FUNCTION negentropy.rrf_score")
            before = (await mem.diff()).drift
            await mem.sync()
            shown = await mem.automation.show()
            return [before, (await mem.diff()).drift, shown.is_main]

    assert asyncio.run(work()) == [True, False, True]
