"""A person anonymized: of what was ever said in the memories no table holds a word, and others are as they were."""

from __future__ import annotations

import subprocess
from pathlib import Path

from negmem.core import core_blocks, facts, memories, summaries
from negmem.core.governance.decisions import decide
from negmem.core.models.audit import Decision
from negmem.core.retrieval.recall import recall
from negmem.core.retrieval.search import search
from negmem.db import embedded
from tests.support.cli import CliRunner
from tests.support.consolidating import consolidate, consolidating
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import conversation, ingest_file, write_lines

MARK = "zqxmarkerqxz"
STEPS = (
    *("fact_extract", "entity_normalization", "dedup_merge", "auto_link"),
    *("topic_cluster", "summarize", "reflect", "statistics"),
)
# Each table that a marked turn is known to have come into; the test fails if one is not reached.
REACHED = (
    *("events", "memories", "memory_versions", "memory_terms", "facts", "fact_terms"),
    *("memory_summaries", "memory_topics", "memory_conflicts", "memory_retrieval_logs"),
    *("memory_preload_cache", "learnings", "entities", "proposals", "decisions", "threads"),
    "memory_core_blocks",
)


def pg_dump(database: TestDatabase) -> str:
    words = [embedded.client_program("pg_dump"), "--inserts", "-d", database.dsn]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout


def test_no_table_holds_a_word_of_it(
    database: TestDatabase, negmem: CliRunner, tmp_path: Path
) -> None:
    turns = [
        f"My favourite city is {MARK}a and my name is {MARK}b", "好的",
        f"I live in {MARK}c since 2020 and I work at {MARK}d", f"记住了 {MARK}e",
        f"我喜欢 {MARK}f 这道菜", "ok", f"I moved: I live in {MARK}g now", f"好 {MARK}h",
        f"Yesterday I met {MARK}i at the lake with the family", "nice",
    ]  # fmt: skip
    lines = [conversation("旅行", *turns, user=user) for user in ("alice", "bob")]
    lines[1]["turns"] = [
        {**turn, "text": turn["text"].replace(MARK, "bobsword")} for turn in lines[1]["turns"]
    ]  # type: ignore[index,attr-defined]
    with consolidating(database, tmp_path, STEPS, FakeEmbedder()) as session:
        ingest_file(session, write_lines(tmp_path / "talk.jsonl", lines), user=None)
        for user in ("alice", "bob"):
            consolidate(session, job="full_consolidation", user=user)
            summaries.refresh_changed(session, user)
        found = memories.list_memories(session, "alice", limit=50).memories
        first = next(one for one in found if MARK in one.content)
        memories.edit(session, "alice", first.id, content=f"{first.content} edited {MARK}")
        facts.set_fact(session, "bob", "profile", "city", "杭州")
        search(session, "alice", f"{MARK}a {MARK}c lake")
        core_blocks.set_block(session, "alice", f"speak of {MARK}")
        stand_on_the_turns(database)
        for user in ("alice", "bob"):
            recall(session, user)
        bob = rows_of(database, "bob")
        written = pg_dump(database)
        marked = [line for line in written.splitlines() if MARK in line]
        reached = {t for t in REACHED if any(f"INTO negentropy.{t} " in row for row in marked)}
        assert reached == set(REACHED), set(REACHED) - reached
        everything = memories.list_memories(session, "alice", limit=100, deleted=True).memories
        everything += memories.list_memories(session, "alice", limit=100).memories
        ids = {one.id for one in everything}
        decide(
            session,
            "alice",
            [
                Decision(memory_id=one, decision="anonymize", expected_version=None, note=None)
                for one in sorted(ids)
            ],
        )
        left = [line[:200] for line in pg_dump(database).splitlines() if MARK in line]
        assert left == []
        assert rows_of(database, "bob") == bob
        assert memories.list_memories(session, "alice").total > 0


def stand_on_the_turns(database: TestDatabase) -> None:
    """What stores of others' making hold from these turns, by its sources."""
    event = database.value(
        f"SELECT id FROM negentropy.events WHERE content::text LIKE '%{MARK}a%' AND user_id = 'alice'"
    )
    shared = {
        "learnings": "(id, owner_kind, owner, app_name, title, learning, written_by, body_hash)"
        f" VALUES (%s, 'user', 'alice', 'negmem', '{MARK}', '{MARK}', 'agent', '\\x01')",
        "entities": "(id, owner_kind, owner, app_name, entity_id, entity_type, name, written_by)"
        f" VALUES (%s, 'user', 'alice', 'negmem', '{MARK}', 'person', '{MARK}', 'agent')",
        "proposals": "(id, owner_kind, owner, app_name, user_id, store, op, mode, payload, status)"
        f""" VALUES (%s, 'user', 'alice', 'negmem', 'alice', 'memory', 'add', 'propose', '{{"a": "{MARK}"}}', 'pending')""",
        "decisions": "(id, user_id, app_name, decision, decision_type)"
        f" VALUES (%s, 'alice', 'negmem', '{MARK}', 'other')",
    }
    kinds = {
        "learnings": "learning",
        "entities": "entity",
        "proposals": "proposal",
        "decisions": "decision",
    }
    block = database.value("SELECT id FROM negentropy.memory_core_blocks WHERE owner = 'alice'")
    made = [(block, "core_block")]
    for table, values in shared.items():
        id = database.value("SELECT gen_random_uuid()")
        database.rows(f"INSERT INTO negentropy.{table} {values}", (id,))
        made.append((id, kinds[table]))
    for id, kind in made:
        database.rows(
            "INSERT INTO negentropy.item_sources (user_id, app_name, item_kind, item_id, event_id, extractor)"
            " VALUES ('alice', 'negmem', %s, %s, %s, 'by hand')",
            (kind, id, event),
        )
    for statement in (
        "UPDATE negentropy.memory_summaries SET content = 'MARK' WHERE user_id = 'alice'",
        """WITH made AS (
            INSERT INTO negentropy.memory_topics (user_id, app_name, label, model_id, centroid)
            VALUES ('alice', 'negmem', 'MARK', 1, '[1,2]') RETURNING id)
        INSERT INTO negentropy.memory_topic_members (user_id, app_name, memory_id, topic_id, similarity)
        SELECT 'alice', 'negmem', m.id, made.id, 0.9 FROM made, negentropy.memories AS m
        WHERE m.user_id = 'alice' AND m.content LIKE '%%MARKa%%' LIMIT 1""",
        """INSERT INTO negentropy.memory_conflicts (user_id, app_name, old_fact_id, new_fact_id, metadata)
        SELECT 'alice', 'negmem', min(id::text)::uuid, max(id::text)::uuid, '{"old": "MARK"}'
        FROM negentropy.facts WHERE user_id = 'alice' AND value::text LIKE '%%MARK%%'""",
    ):
        database.rows(statement.replace("MARK", MARK), ())
    database.rows(
        f"""UPDATE negentropy.threads SET state = '{{"x": "{MARK}"}}', metadata = '{{"y": "{MARK}"}}'"""
        " WHERE user_id = 'alice'"
    )


def rows_of(database: TestDatabase, user: str) -> list[str]:
    """Every row of the schema that names the user, as text with its place."""
    names = database.rows(
        "SELECT DISTINCT c.relname::text FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind = 'r'"
        " AND a.attname IN ('user_id', 'owner') ORDER BY 1"
    )
    found = []
    for (name,) in names:
        rows = database.rows(
            f"SELECT t.ctid::text || t::text FROM negentropy.{name} AS t ORDER BY t.ctid"
        )
        found += [
            f"{name} {row[0]}" for row in rows if f",{user}," in row[0] or f"({user}," in row[0]
        ]
    return found
