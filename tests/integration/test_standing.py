"""A pause keeps a person from being remembered, a hold from being deleted; both are on the trail."""

from __future__ import annotations

from pathlib import Path

import pytest

from negmem.core import associations, facts, memories, summaries
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.governance.decisions import history
from negmem.core.governance.standing import show, stand
from negmem.errors import NegmemError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, session_on, write_lines


def test_nothing_is_remembered_of_who_is_paused(database: TestDatabase, tmp_path: Path) -> None:
    with session_on(database) as session:
        said_before = ("我住在杭州，在一家书店上班。", "I have worked there for three years.")
        two = [memories.add(session, "alice", text).memory.id for text in said_before]
        assert stand(session, "alice", "object", reason="她不愿意").changed
        assert not stand(session, "alice", "pause").changed, "it stands already"
        for write in (
            lambda: memories.add(session, "alice", "新的"),
            lambda: facts.set_fact(session, "alice", "profile", "城市", "北京"),
            lambda: summaries.refresh(session, "alice"),
            lambda: associations.link(session, "alice", *two),
        ):
            with pytest.raises(NegmemError) as refused:
                write()
            assert refused.value.code == "user_paused"
        lines = [conversation("t", "你好", "hello", user=user) for user in ("alice", "bob")]
        path = write_lines(tmp_path / "t.jsonl", lines)
        done = Ingest(session, IngestOptions(path=str(path))).run()
        assert (done.memories, session.warnings[-1]["code"]) == (2, "user_paused")
        assert memories.list_memories(session, "alice").total == 2, "what is stored can be read"
        stand(session, "alice", "resume")
        assert Ingest(session, IngestOptions(path=str(path))).run().memories == 2
        said = [(one.subject, one.decision, one.note) for one in history(session, "alice").entries]
        assert said == [("user", "resume", None), ("user", "object", "她不愿意")]
        assert stand(session, "new", "object").paused_at, "before anything was said"


def test_nothing_is_deleted_of_who_is_held(database: TestDatabase, negmem: CliRunner) -> None:
    with session_on(database) as session:
        added = [memories.add(session, "alice", f"记住 {n}").memory for n in range(3)]
        facts.set_fact(session, "alice", "profile", "城市", "北京")
        ids = [one.id for one in added if one is not None]
        held = negmem("user", "hold", "--user", "alice", "--reason", "诉讼 7", "--json")
        assert held.code == 0 and held.json["changed"] and held.json["hold_reason"] == "诉讼 7"
        assert show(session, "alice").held_at
        fact = str(facts.list_facts(session, "alice").facts[0].id)
        for words in (
            ("memory", "rm", str(ids[0]), "--user", "alice"),
            ("fact", "rm", fact, "--user", "alice"),
            ("audit", "delete", str(ids[0]), "--user", "alice"),
            ("audit", "erase", "--user", "alice"),
            ("curator", "prune", "--user", "alice", "--max-count", "1"),
        ):
            refused = negmem(*words, "--yes", "--json")
            assert refused.code == 1 and refused.json["error"]["code"] == "user_on_hold", words
        database.rows(
            "UPDATE negentropy.memories SET created_at = '2020-01-01', last_accessed_at = '2020-01-01'"
        )
        assert database.value("SELECT negentropy.cleanup_low_value_memories(0.9, 1)") == 0
        assert (
            database.value("SELECT count(*) FROM negentropy.memories WHERE deleted_at IS NULL") == 3
        )
        assert "诉讼 7" in negmem("user", "show", "--user", "alice").stdout
        assert negmem("user", "release", "--user", "alice").code == 0
        assert negmem("memory", "rm", str(ids[0]), "--user", "alice", "--yes").code == 0
        assert negmem("user", "hold", "--user", " ").code == 2
