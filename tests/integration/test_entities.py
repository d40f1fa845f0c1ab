"""Entities on a real database: never merged, found inside running text, dated, directed, never leaked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import negmem
from negmem.core import memories
from negmem.core.learning import entities, entity_changes, learnings, namespaces
from negmem.core.retrieval.search import Filters, search
from negmem.core.text.said_dates import said_date
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on


def code_of(act: object) -> str:
    with pytest.raises(NegmemError) as raised:
        act()  # type: ignore[operator]
    return raised.value.code


@pytest.mark.parametrize(
    ("text", "begins", "precision"),
    [
        ("2026", "2026-01-01", "year"),
        ("2026-03", "2026-03-01", "month"),
        ("2026年3月5日", "2026-03-05", "day"),
        ("2026年第二季度", "2026-04-01", "quarter"),
        ("Q4 2025", "2025-10-01", "quarter"),
        ("2026-03-05T10:00:00+08:00", "2026-03-05", "moment"),
        ("last spring", None, None),
        ("2026-13", None, None),
    ],
)
def test_a_date_is_read_where_it_can_be(
    text: str, begins: str | None, precision: str | None
) -> None:
    found, exact = said_date(text)
    assert (None if found is None else found.date().isoformat(), exact) == (begins, precision)


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_people_stay_apart_and_are_found_by_name(database: TestDatabase) -> None:
    with session_on(database, FakeEmbedder()) as session:

        def add(id: str, name: str, kind: str = "person", **more: object) -> str:
            return entities.add(session, None, id, entity_type=kind, name=name, **more).action  # type: ignore[arg-type]

        assert add("zhang_san", "张三", aliases=["老张"]) == "added"
        assert add("Zhang_San", "张三") == "unchanged"
        assert code_of(lambda: add("zhang_san", "张珊")) == "entity_exists"
        assert [add(one, one) for one in ("パン", "ハン", "राम", "रीम")] == ["added"] * 4
        add("zhang_wei_1", "张伟", description="sales")
        add("zhang_wei_2", "张伟", description="law")
        add("acme", "Acme", "company", properties={"city": "杭州"})
        add("acme", "Acme project", "project")
        assert code_of(lambda: entities.add_fact(session, None, "张伟", "x")) == "entity_ambiguous"
        assert code_of(lambda: entities.add_fact(session, None, "acme", "x")) == "entity_ambiguous"
        assert code_of(lambda: entities.add_fact(session, None, "王五", "x")) == "entity_unknown"

        first = entities.add_fact(session, None, "老张", "在杭州负责支付系统")
        assert first.action == "fact_added" and first.entity is not None
        assert first.entity.entity_id == "zhang_san" and first.entity.version == 2
        assert (
            entities.add_fact(session, None, "zhang_san", "在杭州负责支付系统。").action
            == "unchanged"
        )
        entities.add_event(session, None, "company/acme", "签约", date="2026年3月")
        entities.add_event(session, None, "company/acme", "founded", date="long ago")
        assert (
            entities.relate(session, None, "zhang_san", "works_at", "company/acme").action
            == "related"
        )
        again = entities.relate(
            session, None, "company/acme", "works_at", "张三", direction="incoming", dry_run=True
        )
        assert again.action == "unchanged"
        with pytest.raises(UsageError):
            entities.relate(session, None, "张三", "knows", "老张")
        firm = entities.show(session, None, "company/acme", history=True)
        assert [(e.content, e.date) for e in firm.entity.events] == [
            ("founded", "long ago"),
            ("签约", "2026年3月"),
        ]
        edge = firm.entity.relationships[0]
        assert (edge.entity_id, edge.relation, edge.direction) == (
            "zhang_san",
            "works_at",
            "incoming",
        )
        assert (
            firm.versions is not None and [v.reason for v in firm.versions] == ["event_added"] * 2
        )

        def named(text: str) -> set[str]:
            found = entities.search_entities(session, None, text)
            return {one.entity_id for one in found.entities if one.is_named}

        assert named("昨天张三说项目延期") == {"zhang_san"}
        assert named("我们和Acme公司签约") == {"acme"}
        assert named("老张来电") == {"zhang_san"} and named("Acmeology") == set()
        assert named("问张伟") == {"zhang_wei_1", "zhang_wei_2"}
        assert entities.search_entities(session, None, "谁负责支付系统").entities[0].name == "张三"
        changed = add("zhang_san", "张三丰", update=True)
        assert changed == "updated" and named("张三丰来了") == {"zhang_san"}
    orphans = """
        SELECT (SELECT count(DISTINCT item_id) FROM negentropy.shared_terms),
            (SELECT sum(documents) FROM negentropy.shared_term_stats), (SELECT count(*) FROM negentropy.entities)"""
    assert database.rows(orphans) == [(9, 9, 9)]


def test_private_entities_of_two_users_are_two(database: TestDatabase) -> None:
    with session_on(database) as session:
        namespaces.create(session, "法务", admin="alice")
        for user, fact in (("alice", "is my sister"), ("bob", "sold me a car")):
            entities.add(
                session, user, "sarah", entity_type="person", name="Sarah", namespace="user"
            )
            entities.add_fact(session, user, "sarah", fact, namespace="user")
        entities.add(session, "alice", "case", entity_type="project", name="案子", namespace="法务")
        for user, fact in (("alice", "is my sister"), ("bob", "sold me a car")):
            shown = entities.show(session, user, "Sarah", namespace="user").entity
            assert ([f.content for f in shown.facts], shown.user_id) == ([fact], user)
        assert (
            entities.search_entities(session, "mallory", "Sarah 案子", namespace="all").total == 0
        )
        assert entities.list_entities(session, None).total == 0
        found = entities.search_entities(
            session, "bob", "Sarah sister 案子", namespace="all"
        ).entities
        assert [one.user_id for one in found] == ["bob"]
        for act in (
            lambda: entities.show(session, "bob", "case", namespace="法务"),
            lambda: entities.add_fact(session, "bob", "case", "x", namespace="法务"),
        ):
            assert code_of(act) == "namespace_denied"


@pytest.mark.servers("embedded", "pooled")
def test_a_search_finds_what_is_shared_beside_memories(database: TestDatabase) -> None:
    kinds = ("memory", "fact", "entity", "learning")
    for embedder in (FakeEmbedder(), None):
        with session_on(database, *([embedder] if embedder else [])) as session:
            if embedder:
                memories.add(session, "alice", "昨天和张三谈了延期")
                entities.add(
                    session, "alice", "zs", entity_type="person", name="张三", namespace="user"
                )
                learnings.save(session, None, title="延期", learning="延期要先告诉张三。")
            found = search(session, "alice", "张三 延期", kinds=kinds, explain=True)
            assert {one.kind for one in found.results} == {"memory", "entity", "learning"}
            assert found.retrieval_id is not None
            for one in found.results:
                assert one.explain is not None and one.explain.sum == pytest.approx(one.score)
            scores = [one.score for one in found.results]
            assert scores == sorted(scores, reverse=True)
            paged = [
                search(session, "alice", "张三 延期", kinds=kinds, limit=1, offset=n).results[0].id
                for n in range(3)
            ]
            assert paged == [one.id for one in found.results]
            only = search(
                session, "alice", "张三", kinds=["entity"], filters=Filters(types=["person"])
            )
            assert [one.type for one in only.results] == ["person"]
            others = search(session, "mallory", "张三 延期", kinds=kinds).results
            assert {one.kind for one in others} == {"learning"}
            none = search(session, "alice", "张三", kinds=["entity"], filters=Filters(thread="t"))
            assert none.results == []


def test_many_writers_on_one_entity(database: TestDatabase) -> None:
    def write(number: int) -> None:
        with session_on(database) as session:
            entities.add(session, None, "acme", entity_type="company", name="Acme")
            entities.add_fact(session, None, "acme", f"has building {number}")
            entities.add_fact(session, None, "acme", "在杭州")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(32)))
    with session_on(database) as session:
        one = entities.show(session, None, "acme").entity
        assert (len(one.facts), one.version) == (33, 34)
        assert {f.content for f in one.facts} == {
            "在杭州",
            *(f"has building {n}" for n in range(32)),
        }


def test_as_typed_and_in_python(negmem: CliRunner, database: TestDatabase) -> None:
    negmem("entity", "add", "li_lei", "--type", "person", "--name", "李雷", "--alias", "小李").ok()
    negmem("entity", "add", "ops", "--type", "team", "--name", "Ops").ok()
    assert (
        "would be fact added" in negmem("entity", "fact", "小李", "喜欢茶", "--dry-run").ok().stdout
    )
    negmem("entity", "fact", "小李", "喜欢茶").ok()
    negmem("entity", "event", "li_lei", "入职", "--date", "2026-Q1").ok()
    negmem("entity", "relate", "li_lei", "leads", "ops").ok()
    found = negmem("entity", "search", "明天问问李雷吧", "--json").ok().json
    assert found["schema"] == "negmem.entity.search/1"
    one = found["entities"][0]
    assert {"entity_id", "entity_type", "name", "facts", "events", "relationships"} <= set(one)
    assert (
        one["events"][0]["date"] == "2026-Q1" and one["relationships"][0]["direction"] == "outgoing"
    )
    assert "-> leads Ops (team/ops)" in negmem("entity", "show", "李雷", "--history").ok().stdout
    assert "<- leads" in negmem("entity", "show", "ops").ok().stdout
    assert negmem("entity", "list", "--type", "person", "--json").ok().json["total"] == 1
    assert negmem("entity", "show", "nobody").code == 1
    with _connected(database) as mem:
        assert mem.entity.show("小李").entity.facts[0].content == "喜欢茶"


def _connected(database: TestDatabase) -> negmem.api.Memory:
    return negmem.connect(database.dsn, embedder=FakeEmbedder())


def test_what_was_done_is_taken_back(database: TestDatabase, negmem: CliRunner) -> None:
    """A part, a correction, a removal: undone to what stood before, and found or not found accordingly."""
    with session_on(database) as session:

        def look() -> tuple[str, list[str], list[str], list[str], bool]:
            one = entities.show(session, None, "acme").entity
            found = entities.search_entities(session, None, "anvils").entities
            return (
                one.name,
                [fact.content for fact in one.facts],
                [event.content for event in one.events],
                [edge.relation for edge in one.relationships],
                bool(found),
            )

        entities.add(session, None, "acme", entity_type="company", name="Acme")
        entities.add(session, None, "zhang", entity_type="person", name="张三")
        fact = entities.add_fact(session, None, "acme", "sells anvils").entity
        assert fact is not None
        states = [look()]
        entities.add_event(session, None, "acme", "签约", date="2026年3月")
        states.append(look())
        entities.relate(session, None, "acme", "employs", "zhang")
        states.append(look())
        entity_changes.replace_fact(session, None, "acme", fact.facts[0].id, "sells rockets")
        states.append(look())
        assert states[-1][1] == ["sells rockets"] and not states[-1][4]
        entities.add(session, None, "acme", entity_type="company", name="ACME", update=True)
        states.append(look())
        entity_changes.remove(session, None, "acme", reason="merged away")
        with pytest.raises(NegmemError):
            look()
        assert entities.search_entities(session, None, "rockets").entities == []
        assert entity_changes.undo(session, None, "acme").action == "undone"
        assert look() == states[-1]
        # A second undo takes back the first: the entity is removed again, and comes back.
        entity_changes.undo(session, None, "acme")
        assert entities.list_entities(session, None).total == 1
        entity_changes.undo(session, None, "company/acme")
        assert look() == states[-1]
        with pytest.raises(NegmemError) as absent:
            entity_changes.remove(session, None, "acme", part=fact.id)
        assert absent.value.code == "part_unknown"
        # Under the id of a removed entity another one may stand, and knows nothing of the first.
        entity_changes.remove(session, None, "acme")
        entities.add(session, None, "acme", entity_type="company", name="Other")
        assert look() == ("Other", [], [], [], False)
        assert entity_changes.undo(session, None, "acme").action == "undone"
        entities.add(session, None, "bob", entity_type="person", name="Bob")
        edge = entities.relate(session, None, "zhang", "knows", "bob").entity
        assert edge is not None
        knows = [one.id for one in edge.relationships if one.relation == "knows"]
        entity_changes.remove(session, None, "zhang", part=knows[0])
        again = entities.relate(session, None, "zhang", "knows", "bob").entity
        assert again is not None and "knows" in [one.relation for one in again.relationships]
    assert negmem("entity", "rm", "bob", "--dry-run").ok().stdout.count("would be removed")
    negmem("entity", "rm", "bob").ok()
    assert negmem("entity", "undo", "bob", "--json").ok().json["action"] == "undone"
    assert negmem("entity", "undo", "nobody").code == 1
