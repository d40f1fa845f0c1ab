"""Every statement of every write fails once: no success is told, nothing is lost, and a repeat ends the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from negmem.core.learning import (
    decision_log,
    entities,
    entity_changes,
    learnings,
    machine,
    observations,
    profile,
    proposals,
)
from negmem.core.session import Session
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on

ON = {"learning.decision_log.enabled": "true"}
STANDS = """
    SELECT 'memory', content FROM negentropy.memories WHERE deleted_at IS NULL
    UNION ALL SELECT 'fact', value::text FROM negentropy.facts WHERE status = 'active' AND deleted_at IS NULL
    UNION ALL SELECT 'entity', name FROM negentropy.entities WHERE deleted_at IS NULL
    UNION ALL SELECT 'part', content FROM negentropy.entity_facts
        WHERE deleted_at IS NULL AND superseded_at IS NULL
    UNION ALL SELECT 'edge', relation FROM negentropy.entity_relations WHERE deleted_at IS NULL
    UNION ALL SELECT 'lesson', learning FROM negentropy.learnings WHERE deleted_at IS NULL
    ORDER BY 1, 2
"""
ALREADY = ("learning_exists", "proposal_decided", "part_unknown")
"""What a repeat is told where the first try had been written, and only its answer was lost."""


def failing_at(session: Session, place: int) -> list[int]:
    """From now on the statement of this number fails; the list holds how many were sent."""
    count = [0]
    run = type(session.database)._run

    def broken(cursor: Any, statement: Any, params: Any) -> Any:
        count[0] += 1
        if count[0] == place:
            raise DatabaseError("statement_failed", "the statement failed", sqlstate="58030")
        return run(session.database, cursor, statement, params)

    session.database._run = broken  # type: ignore[method-assign]
    return count


def test_no_fault_is_told_as_a_success(database: TestDatabase) -> None:
    with session_on(database, **ON) as session:
        entities.add(session, None, "acme", entity_type="company", name="Acme")
        entities.add(session, None, "li", entity_type="person", name="李雷")
        old = entities.add_fact(session, None, "acme", "makes anvils").entity
        note = observations.observe(session, "王芳", "喜欢喝茶").memory
        profile.set_field(session, "王芳", "city", "杭州")
        learnings.save(session, None, title="茶", learning="茶要热水。")
        assert old is not None and note is not None
    with session_on(database, **{**ON, "learning.knowledge.mode": "propose"}) as session:
        waiting = learnings.save(
            session, None, title="B", learning="Pools keep nothing."
        ).proposal_id
        assert waiting is not None
    acts: list[Callable[[Session], Any]] = [
        lambda s: observations.observe(s, "王芳", "回答要短"),
        lambda s: observations.correct(s, "王芳", note.id, "喜欢喝绿茶"),
        lambda s: entities.add_fact(s, None, "acme", "在杭州"),
        lambda s: entities.relate(s, None, "li", "works_at", "acme"),
        lambda s: entity_changes.replace_fact(s, None, "acme", old.facts[0].id, "makes rockets"),
        lambda s: learnings.save(s, None, title="Retries", learning="Retry with a pause."),
        lambda s: profile.set_field(s, "王芳", "city", "北京"),
        lambda s: proposals.approve(s, waiting),
        lambda s: decision_log.log_decision(s, "王芳", "use pools"),
    ]
    for number, act in enumerate(acts):
        for place in range(1, 200):
            before = database.rows(STANDS)
            with session_on(database, **ON) as session:
                count = failing_at(session, place)
                try:
                    act(session)
                except NegmemError as error:
                    assert error.code in ("statement_failed", *ALREADY), (number, place, error)
                # Nothing that stood is gone, unless the very act replaces it, and then by something.
                after = database.rows(STANDS)
                assert len(after) >= len(before), (number, place)
            if count[0] < place:
                break
        else:
            pytest.fail("it never came to an end")
    stands = database.rows(STANDS)
    for kind, text in (
        ("memory", "回答要短"),
        ("memory", "喜欢喝绿茶"),
        ("part", "在杭州"),
        ("part", "makes rockets"),
        ("edge", "works_at"),
        ("lesson", "Retry with a pause."),
        ("lesson", "Pools keep nothing."),
        ("fact", '"北京"'),
    ):
        assert stands.count((kind, text)) == 1, (kind, text)


@pytest.mark.parametrize(
    ("note", "message", "name", "said"),
    [
        ("喜欢喝乌龙茶", "今天喝什么茶好？", "张三", "昨天张三说项目延期"),
        ("朝はコーヒーを飲む", "コーヒーはある？", "パン", "昨日パンさんが来た"),
        ("हर सुबह चाय पीता है", "चाय कहाँ है", "राम", "कल राम आया था"),
        ("ดื่ม กาแฟ ทุกเช้า", "กาแฟ อยู่ไหน", "สมชาย", "เมื่อวานสมชายมา"),
        ("매일 커피 를 마신다", "커피 어디 있어", "김철수", "어제 김철수가 왔다"),
        ("likes 🍵 at four", "🍵 or coffee at four?", "Zoë", "Zoë called yesterday"),
    ],
)
def test_every_script_comes_back(
    database: TestDatabase, note: str, message: str, name: str, said: str
) -> None:
    """Added, recalled by a message, searched, not doubled, deleted; names in the middle of a sentence."""
    with session_on(database, FakeEmbedder()) as session:
        kept = observations.observe(session, "u", note).memory
        assert kept is not None and kept.content == note
        assert observations.observe(session, "u", f" {note}. ").action == "unchanged"
        observations.observe(session, "u", "something else entirely")
        assert note in str(machine.build_context(session, "u", message))
        entities.add(session, None, name, entity_type="person", name=name)
        found = entities.search_entities(session, None, said).entities
        assert next((one.name, one.is_named) for one in found) == (name, True)
        assert f"{name} (person)" in str(machine.build_context(session, "u", said))
        observations.forget(session, "u", kept.id)
        assert note not in str(machine.build_context(session, "u", message))
        entity_changes.remove(session, None, name)
        assert name not in str(machine.build_context(session, "u", said))
