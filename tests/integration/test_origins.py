"""Each item tells the turns it rests on to whose they are, who changed it, and what takes that back."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from negmem.core import memories
from negmem.core.learning import entities, entity_changes, items, learnings, observations
from negmem.core.review import Acting, acting, together
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, ingest_file, session_on, write_lines

SAID = "张三在杭州负责支付系统，池满了要等待。"


def test_where_from_who_and_back(negmem: CliRunner, database: TestDatabase, tmp_path: Path) -> None:
    with session_on(database) as session:
        ingest_file(session, write_lines(tmp_path / "s.jsonl", [conversation("t1", SAID, "ok")]))
        event = UUID(
            str(database.value("SELECT id FROM negentropy.events ORDER BY sequence_num LIMIT 1"))
        )
        bot = Acting(who="extractor llm", model="m")
        with acting(session, bot):
            lesson = learnings.save(session, "alice", title="连接池", learning="池满了要等待。")
            entities.add(session, "alice", "zhang", entity_type="person", name="张三")
            known = entities.add_fact(session, "alice", "zhang", "负责支付系统").entity
            assert lesson.learning is not None and known is not None
            items.cite(session, "alice", "learning", lesson.learning.id, [event])
            items.cite(session, "alice", "entity_fact", known.facts[0].id, [event])
        learnings.edit(session, "bob", lesson.learning.id, context="PgBouncer")
        # In one transaction, without dates: in the order in which they were recorded.
        told = [f"went {way}" for way in ("north", "south", "east", "west", "up", "down")]
        with together(session, []):
            for one in told:
                entities.add_event(session, "alice", "zhang", one)

        mine = learnings.show(session, "alice", lesson.learning.id)
        assert [(o.id, o.quote, o.thread, o.model) for o in mine.origins] == [
            (event, SAID, "t1", "m")
        ]
        assert mine.written_by == "extractor llm"
        assert [(c.version, c.reason, c.changed_by) for c in mine.changes] == [
            (1, "edited", session.actor)
        ]
        for other in ("bob", None):  # the lesson is shared, what alice said is not
            assert learnings.show(session, other, lesson.learning.id).origins == []
            assert entities.show(session, other, "zhang").origins == []
        shown = entities.show(session, "alice", "zhang")
        assert [(o.part, o.id) for o in shown.origins] == [(known.facts[0].id, event)]
        assert [e.content for e in shown.entity.events] == told
        assert shown.entity.facts[0].written_by == "extractor llm"
        assert [c.reason for c in shown.changes] == ["event_added"] * 6 + ["fact_added"]
        entity_changes.undo(session, "alice", "zhang")
        assert [e.content for e in entities.show(session, None, "zhang").entity.events] == told[:-1]

    text = negmem("learn", "show", str(lesson.learning.id), "--user", "alice").ok().stdout
    assert f"said 2026-03-02 in t1, {event}: {SAID}" in text
    assert "by extractor llm" in text and "  edited " in text
    undo = next(line for line in text.splitlines() if "undo: " in line).split("undo: negmem ")[1]
    back: Any = negmem(*undo.split(), "--json").ok().json
    assert back["learning"]["context"] is None and back["learning"]["version"] == 3
    text = negmem("entity", "show", "张三", "--user", "alice").ok().stdout
    assert str(known.facts[0].id) in text and str(event) in text and "fact added" in text


def test_an_edit_of_a_memory_is_taken_back(negmem: CliRunner, database: TestDatabase) -> None:
    with session_on(database) as session:
        made = observations.observe(session, "alice", "喜欢短回答").memory
        assert made is not None
        memories.edit(
            session, "alice", made.id, content="喜欢长回答", memory_type="preference",
            metadata={"seen": 1, "written_by": None},
        )  # fmt: skip
        back = memories.undo(session, "alice", made.id)
        assert (back.content, back.type, back.metadata) == (made.content, "semantic", made.metadata)
        again = memories.undo(session, "alice", made.id)
        assert (again.content, (again.metadata or {})["seen"]) == ("喜欢长回答", 1)
        assert observations.list_observations(session, "bob").total == 0
    picture = negmem("user", "picture", "--user", "alice", "--json").ok().json
    item = next(one for one in picture["stores"] if one["store"] == "memory")["items"][0]
    planned = negmem(*item["undo"].split()[1:], "--dry-run", "--json").ok().json
    assert planned["content"] == "喜欢短回答" and planned["dry_run"]
    listed = negmem("memory", "list", "--where", "source=observation", "--user", "alice")
    assert "喜欢长回答" in listed.ok().stdout
    with session_on(database) as session:
        plain = memories.add(session, "alice", "第二句").memory
        assert plain is not None
    refused = negmem("memory", "undo", str(plain.id), "--user", "alice")
    assert refused.code == 1 and "nothing_to_undo" in refused.stderr
