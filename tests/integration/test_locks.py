"""A lock that somebody else holds ends a command by name, also where no transaction was opened for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

import negmem
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder

_TABLES = (
    "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'negentropy'::regnamespace"
    " AND c.relkind = 'r' AND c.relname <> 'schema_migrations' ORDER BY c.oid"
)


def _rows(connection: psycopg.Connection[Any], tables: list[str]) -> dict[str, object]:
    return {
        name: connection.execute(
            f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM negentropy.{name} AS t"
        ).fetchone()
        for name in tables
    }


@pytest.mark.servers("embedded", "pooled")
def test_who_waits_for_a_lock_gives_up_names_the_holder_and_changes_nothing(
    database: TestDatabase, tmp_path: Path
) -> None:
    with negmem.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        mem.init()
        kept = [
            mem.memory.add(text, user="ada").memory
            for text in ("喜欢绿茶", "喜欢绿茶。", "had a cat")
        ]
        tea, other, gone = (one.id for one in kept if one is not None)
        mem.memory.rm(gone, user="ada")
        fact = mem.fact.set("profile", "city", "Bern", user="ada").fact
        assert fact is not None
        exported = tmp_path / "ada.jsonl"
        mem.audit.export(exported, user="ada")
        found = mem.search("绿茶", user="ada")
        acts: dict[str, Callable[[], object]] = {
            "memory add": lambda: mem.memory.add("new", user="ada"),
            "memory edit": lambda: mem.memory.edit(tea, content="other words", user="ada"),
            "memory rm": lambda: mem.memory.rm(tea, user="ada"),
            "memory restore": lambda: mem.memory.restore(gone, user="ada"),
            "memory pin": lambda: mem.memory.pin(tea, user="ada"),
            "memory link": lambda: mem.memory.link(tea, other, user="ada"),
            "fact set": lambda: mem.fact.set("profile", "city", "Rome", user="ada"),
            "fact rm": lambda: mem.fact.rm(fact.id, user="ada"),
            "profile set": lambda: mem.profile.set("name", "Ada", user="ada"),
            "core set": lambda: mem.core.set("human", "a block", user="ada"),
            "instruction set": lambda: mem.instruction.set("tone", "be brief"),
            "feedback": lambda: mem.feedback(str(found.retrieval_id), "helpful", user="ada"),
            "curator dedup": lambda: mem.curator.dedup(user="ada"),
            "curator dedup --semantic": lambda: mem.curator.dedup(user="ada", semantic=True),
            "curator prune": lambda: mem.curator.prune(user="ada", max_count=1),
            "retention run": lambda: mem.retention.run(),
            "retention purge": lambda: mem.retention.purge(),
            "user pause": lambda: mem.user.pause("ada"),
            "audit erase": lambda: mem.audit.erase(user="ada"),
            "import": lambda: mem.import_(exported),
            "namespace create": lambda: mem.namespace.create("team"),
            "search": lambda: mem.search("绿茶", user="ada"),
            "memory list": lambda: mem.memory.list(user="ada"),
        }
        mem.session.database.lock_timeout_ms = 60
        holder = database.connect(autocommit=False, application_name="a dump")
        # Who waits without an end is told by a failure of this test, not by its silence.
        holder.execute("SET LOCAL idle_in_transaction_session_timeout = '30s'")
        tables = [name for (name,) in holder.execute(_TABLES).fetchall()]
        before = _rows(holder, tables)
        holder.execute(f"LOCK TABLE {', '.join(f'negentropy.{name}' for name in tables)}")
        for name, act in acts.items():
            with pytest.raises(NegmemError) as refused:
                act()
            assert refused.value.code == "lock_timeout", (name, refused.value)
            assert "(a dump) holds AccessExclusiveLock on " in refused.value.why, name
        assert _rows(holder, tables) == before
        holder.rollback()

        holder.execute("SELECT 1 FROM negentropy.memories FOR UPDATE")
        with pytest.raises(NegmemError) as refused:
            mem.memory.edit(tea, content="other words", user="ada")
        assert "holds RowShareLock on memories" in refused.value.why
        holder.rollback()
        # Nothing of it stays behind on the connection, which may be another client's next.
        with psycopg.connect(database.dsn, autocommit=True) as next_one:
            assert next_one.execute("SHOW lock_timeout").fetchone() == ("0",)
        assert mem.memory.edit(tea, content="other words", user="ada").content == "other words"
