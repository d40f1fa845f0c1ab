"""Stores that wait for a person: what is new is proposed with all that is known of it, and nothing slips past."""

from __future__ import annotations

import json
from typing import Any

import pytest

from negmem.core import conflicts, fact_names, facts
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.learning import entities, profile, proposals
from negmem.core.learning.processing import process
from negmem.errors import NegmemError
from tests.support.chat_server import chat_server, said
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on

WORDS = "张三 leads the payment system at Globex in 杭州. The payment system of 张三 was delayed last week. Acme buys it."


def op(op: str, **more: Any) -> dict[str, Any]:
    names = ("id", "text", "title", "name", "type", "date", "relation", "other")
    given = {"store": "entity", "op": op, "confidence": 0.9, "turns": ["t1"]}
    return given | {name: more.get(name) for name in names}


OPERATIONS = [
    op("relate", name="张三", type="person", relation="works_at", other="Globex"),
    op("add", name="张三", type="person", text="leads the payment system"),
    op("fact", name="张三", type="Person", text="leads the payment system"),
    op("event", name="张三", type="person", text="payment system was delayed", date="2026年3月"),
    op("fact", name="Globex", type="company", text="is in 杭州"),
    op("relate", id="e1", relation="buys_from", other="Globex"),
    op("relate", name="Globex", type="company", relation="sells_to", other="Nobody Inc"),
]


def counted(database: TestDatabase) -> dict[str, int]:
    cited = "SELECT item_kind, count(*) FROM negentropy.item_sources GROUP BY 1"
    return {str(kind): int(number) for kind, number in database.rows(cited)}


def test_a_new_entity_is_proposed_with_its_parts(database: TestDatabase) -> None:
    modes: dict[str, Any] = {
        "learning.entity.mode": "propose",
        "llm.model": "openai/test-model",
        "llm.api_key_env": "K",
        "formation.steps": "learn",
    }
    with session_on(database, FakeEmbedder()) as session:
        entities.add(session, "王芳", "acme", entity_type="company", name="Acme", namespace="user")
    with (
        chat_server() as server,
        session_on(
            database, FakeEmbedder(), **modes, **{"llm.api_base": server.base_url}
        ) as session,
    ):
        session.env = {"K": "sk-test"}
        server.mood = lambda body: said(json.dumps({"operations": OPERATIONS}))
        turn = [{"role": "user", "content": WORDS}]
        done = process(session, "王芳", turn, thread="早会", wait=True)
        assert done.worked is not None
        counts = done.worked.steps["learn"].counts
        assert counts["proposed"] == 2 and counts["rejected_entity_unknown"] == 1, counts
        waiting = proposals.list_proposals(session, status="pending").proposals
        assert [(one.act, one.arguments["name"]) for one in waiting] == [
            ("entity.introduce", "张三"),
            ("entity.introduce", "Globex"),
        ]
        assert WORDS in waiting[0].evidence[0]["quote"]
        assert len(entities.list_entities(session, "王芳", namespace="user").entities) == 1
        assert len(proposals.show(session, None, waiting[1].id).changes) >= 4
        for one in waiting:
            assert proposals.approve(session, one.id, actor="judge").status == "applied"
        shown = entities.show(session, "王芳", "张三", namespace="user")
        person = shown.entity
        assert [fact.content for fact in person.facts] == ["leads the payment system"]
        assert [(e.content, e.date) for e in person.events] == [
            ("payment system was delayed", "2026年3月")
        ]
        (edge,) = person.relationships
        assert (edge.relation, edge.name, edge.direction) == ("works_at", "Globex", "outgoing")
        assert person.description == "leads the payment system" and shown.origins
        globex = entities.show(session, "王芳", "Globex", namespace="user").entity
        assert {(r.relation, r.name, r.direction) for r in globex.relationships} == {
            ("works_at", "张三", "incoming"),
            ("buys_from", "Acme", "incoming"),
        }
        assert counted(database) == {
            "memory": 1,
            "entity": 2,
            "entity_event": 1,
            "entity_fact": 2,
        }
        # What stands by now gets a proposal a part, and cites what it rests on, once approved.
        more = op("fact", name="张三", type="person", text="likes Acme") | {"turns": ["t2"]}
        server.mood = lambda body: said(json.dumps({"operations": [more]}))
        turn.append({"role": "user", "content": "张三 really likes Acme and its people"})
        process(session, "王芳", turn, thread="早会", wait=True)
        (later,) = proposals.list_proposals(session, status="pending").proposals
        assert later.act == "entity.add_fact"
        proposals.approve(session, later.id)
        assert counted(database)["entity_fact"] == 3


def test_a_profile_is_not_written_by_the_way(database: TestDatabase) -> None:
    """Deciding conflicts, and bringing names together, are writes too."""
    with session_on(database) as session:
        profile.set_field(session, "ada", "city", "Paris")
        (outcome,) = write_facts(session, "ada", [FactWrite("profile", "city", "Oslo")])
        write_facts(
            session, "ada", [FactWrite("profile", name, "x") for name in ("home town", "home-town")]
        )
        assert outcome.conflict_id is not None
    everything = "SELECT md5(string_agg(f::text, '' ORDER BY f::text)) FROM negentropy.facts f"
    before = database.value(everything)
    waits: dict[str, Any] = {"learning.profile.mode": "propose"}
    with session_on(database, **waits) as session:
        with pytest.raises(NegmemError) as resolving:
            conflicts.resolve(session, "ada", outcome.conflict_id, "keep_new")
        with pytest.raises(NegmemError) as undoing:
            conflicts.undo(session, "ada", outcome.conflict_id)
        assert (resolving.value.code, undoing.value.code) == ("review_required",) * 2
        assert fact_names.unify(session, "ada").keys == 0
        assert database.value(everything) == before
    with session_on(database) as session:
        assert fact_names.unify(session, "ada").keys == 1
        assert conflicts.resolve(session, "ada", outcome.conflict_id, "keep_new").conflict
        assert {fact.value for fact in facts.list_facts(session, "ada").facts} == {"Oslo", "x"}
