"""Deduplication and pruning of learnings and entities: the same rules, by namespace, all of it taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from negmem.core.evolution import dedup, prune
from negmem.core.evolution.dedup_options import options
from negmem.core.evolution.stores import store_of
from negmem.core.governance.decisions import history
from negmem.core.learning import entities, learnings, namespaces
from negmem.core.models.dedup import Deduplicated
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase

TABLES = (
    "learnings",
    "entities",
    "entity_facts",
    "entity_events",
    "entity_relations",
    "shared_terms",
)
PASSING = ["version", "updated_at", "metadata", "tf", "live", "bits", "embedding"]


def learn(session: Session, title: str, learning: str, **more: Any) -> UUID:
    saved = learnings.save(session, None, title=title, learning=learning, anyway=True, **more)
    assert saved.learning is not None
    return saved.learning.id


def run(session: Session, store: str, *, dry_run: bool = False, **asked: Any) -> Deduplicated:
    return dedup.deduplicate(
        session, store_of(session, None, store), options(**asked), dry_run=dry_run
    )


def held(database: TestDatabase) -> dict[str, list[str]]:
    """All rows but for what counts changes."""
    said = "SELECT (to_jsonb(t) - %s::text[])::text FROM negentropy.{} AS t ORDER BY 1"
    return {
        table: [row[0] for row in database.rows(said.format(table), (PASSING,))] for table in TABLES
    }


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_learnings_go_by_the_rules_and_come_back(session: Session, database: TestDatabase) -> None:
    learn(session, "Deploys", "Deploys happen at 23:00 on Fridays", tags=["ops"])
    learn(session, "Deploys", "On Fridays deploys happen at 11 p.m.", tags=["release"])
    learn(session, "Deploys", "Deploys happen at 22:00 on Fridays")
    learn(session, "Deploys", "Deploys never happen at 23:00 on Fridays")
    learn(session, "上线", "每天早上六点半检查备份", context="生产")
    learn(session, "上线", "每天早上6点半检查备份", context="测试")
    namespaces.create(session, "sales", admin="amy")
    learnings.save(
        session, "amy", title="Deploys", learning="Deploys happen at 23:00 each Friday",
        namespace="sales", anyway=True,
    )  # fmt: skip
    before = held(database)
    planned = run(session, "learning", semantic=True, dry_run=True)
    assert held(database) == before
    done = run(session, "learning", semantic=True)
    assert done.run_id is not None and (done.groups, done.removed, done.kept) == (1, 1, 5)
    assert (done.pairs, done.vetoed) == (planned.pairs, planned.vetoed)
    assert {"amount", "negation"} <= {veto.guard for veto in done.vetoed_pairs}
    [pair] = done.pairs
    stays = learnings.show(session, None, pair.survivor)
    assert sorted(stays.tags) == ["ops", "release"]
    found = learnings.search_learnings(session, None, "release deploys Fridays")
    assert pair.survivor in {one.id for one in found.learnings}
    assert pair.removed not in {one.id for one in found.learnings}
    assert run(session, "learning", semantic=True).removed == 0
    chosen = store_of(session, None, "learning")
    assert dedup.undo(session, chosen, done.run_id).restored == 1
    assert held(database) == before
    assert dedup.undo(session, chosen, done.run_id).restored == 0
    assert run(session, "learning", semantic=True).removed == 0  # told apart from now on

    planned_prune = prune.plan(session, None, max_count=2, store="learning")
    pruned = prune.apply(session, planned_prune)
    assert (pruned.removed, pruned.kept) == (4, 2) and pruned.run_id is not None
    assert learnings.undo(session, None, pruned.items[0].id).action == "undone"
    assert prune.undo(session, chosen, pruned.run_id).restored == 3
    assert held(database)["shared_terms"] == before["shared_terms"]
    with pytest.raises(NegmemError, match="may not write"):
        store_of(session, "bob", "learning", namespace="sales")


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_entities_give_over_what_they_have_and_get_it_back(
    session: Session, database: TestDatabase
) -> None:
    def add(id: str, name: str, kind: str = "company", **more: Any) -> None:
        entities.add(session, None, id, entity_type=kind, name=name, **more)

    add("acme", "Acme", description="a maker of anvils in 杭州")
    add("acme_inc", "ACME", description="A maker of anvils in 杭州.", aliases=["Acme Inc"])
    add("zhang_1", "张伟", "person")
    add("zhang_2", "张伟", "person")
    add("wei_1", "Wei", "person", description="an engineer in Berlin")
    add("wei_2", "Wei", "person", description="an engineer in Berlin")
    add("lu", "陆", "person")
    for id, fact in (
        ("acme", "Ships anvils on Mondays"), ("acme_inc", "ships anvils on Mondays!"),
        ("acme_inc", "Has 12 trucks"), ("wei_1", "plays chess"), ("wei_2", "sails"),
    ):  # fmt: skip
        entities.add_fact(session, None, id, fact)
    entities.add_event(session, None, "acme", "签约", date="2026-03-01")
    entities.add_event(session, None, "acme_inc", "签约。", date="2026-03-01")
    entities.add_event(session, None, "acme_inc", "签约", date="2026-04-01")
    entities.relate(session, None, "lu", "works_at", "acme_inc")
    entities.relate(session, None, "lu", "works_at", "acme")
    entities.relate(session, None, "acme_inc", "is_part_of", "acme")
    entities.relate(session, None, "acme_inc", "employs", "zhang_1")
    before = held(database)
    planned = run(session, "entity", dry_run=True)
    assert held(database) == before
    done = run(session, "entity")
    assert done.run_id is not None
    assert done.model_copy(update={"dry_run": True, "run_id": None}) == planned
    assert (done.removed, {veto.guard for veto in done.vetoed_pairs}) == (1, {"identity"})
    shown = entities.show(session, None, "acme_inc").entity
    assert len(shown.facts) == 3 and {"works_at", "employs"} == {
        one.relation for one in shown.relationships
    }
    assert [one.entity_id for one in entities.list_entities(session, None).entities].count(
        "zhang_1"
    ) == 1
    # What came together by that is looked at by the next run.
    parts = run(session, "entity")
    assert (parts.removed, parts.kept) == (2, done.kept - 2) and parts.run_id is not None
    assert len(entities.show(session, None, "acme").entity.events) == 2
    found = entities.search_entities(session, None, "Acme Inc").entities
    assert found[0].id == shown.id

    chosen = store_of(session, None, "entity")
    assert dedup.undo(session, chosen, parts.run_id).restored == 2
    assert dedup.undo(session, chosen, done.run_id).restored == 1
    assert held(database) == before
    assert run(session, "entity").removed == 0

    pruned = prune.apply(session, prune.plan(session, None, max_count=3, store="entity"))
    assert pruned.removed == 5 and pruned.run_id is not None
    assert {item.type for item in pruned.items} <= {"fact", "event"}
    assert len(entities.list_entities(session, None).entities) == 7
    assert prune.undo(session, chosen, pruned.run_id).restored == 5
    assert held(database) == before


def test_parts_that_an_undo_keeps_apart_stay_apart_when_a_third_comes(
    session: Session, database: TestDatabase
) -> None:
    entities.add(session, None, "lu", entity_type="person", name="陆")

    def live(table: str, content: str, is_live: bool) -> None:
        at = "NULL" if is_live else "now()"
        database.rows(
            f"UPDATE negentropy.{table} SET deleted_at = {at} WHERE content = %s", (content,)
        )

    adders: dict[str, Callable[[str], object]] = {
        "entity_facts": lambda text: entities.add_fact(session, None, "lu", text),
        "entity_events": lambda text: entities.add_event(
            session, None, "lu", text, date="2026-03-01"
        ),
    }
    for table, adder in adders.items():

        def add(text: str, table: str = table, adder: Callable[[str], object] = adder) -> None:
            adder("to be put in other words")  # what is alike is not added twice
            said = f"UPDATE negentropy.{table} SET content = %s WHERE content LIKE 'to be put%%'"
            database.rows(said, (text,))

        for text in ("喜欢绿茶", "喜欢绿茶。"):
            add(text)
        apart = run(session, "entity")
        assert apart.removed == 1 and apart.run_id is not None
        dedup.undo(session, store_of(session, None, "entity"), apart.run_id)
        add("喜欢绿茶！")
        database.rows(
            f"UPDATE negentropy.{table} SET created_at = '2020-01-01' WHERE content = '喜欢绿茶！'"
        )
        live(table, "喜欢绿茶", False)
        taken = run(session, "entity").pairs
        assert [pair.removed_content for pair in taken] == ["喜欢绿茶。"]
        live(table, "喜欢绿茶", True)
        later = run(session, "entity")
        assert later.removed == 0 and "kept_apart" in {v.guard for v in later.vetoed_pairs}


def test_an_id_that_was_merged_away_can_be_given_again(session: Session) -> None:
    for id in ("a", "b"):
        entities.add(session, "amy", id, entity_type="tool", name="Anvil", description="heavy, of iron",
                     namespace="user")  # fmt: skip
    chosen = store_of(session, "amy", "entity", namespace="user")
    done = dedup.deduplicate(session, chosen, options())
    assert done.removed == 1 and done.run_id is not None
    gone = "b" if done.pairs[0].survivor == entities.show(
        session, "amy", "a", namespace="user").entity.id else "a"  # fmt: skip
    (entry,) = history(session, "amy").entries
    assert entry.subject == f"entities:{done.pairs[0].removed}" and entry.decision == "delete"
    again = entities.add(session, "amy", gone, entity_type="tool", name="Other", namespace="user")
    assert again.action == "added"
    assert dedup.undo(session, chosen, done.run_id).restored == 1
    kept = {
        one.entity_id for one in entities.list_entities(session, "amy", namespace="user").entities
    }
    assert len(kept) == 3 and {"a", "b"} < kept


def test_as_it_is_typed(negmem: CliRunner, session: Session, database: TestDatabase) -> None:
    learn(session, "Retries", "Retry a deadlock every five seconds")
    learn(session, "retries", "Retry a deadlock each five seconds")
    line = ("curator", "dedup", "--store", "learning", "--semantic", "--threshold", "0")
    done = negmem(*line, "--yes").ok()
    assert "removed 1 for 1 that stay" in done.stdout and "--store learning --undo" in done.stderr
    pruned = negmem(
        "curator", "prune", "--store", "learning", "--max-age-days", "0.0000001", "--yes", "--json"
    ).ok()
    assert (pruned.json["removed"], pruned.json["store"]) == (1, "learning")
    back = negmem("curator", "prune", "--store", "learning", "--undo", pruned.json["run_id"]).ok()
    assert back.stdout.strip() == "brought back 1 · 1 are live"
    for wrong in (
        ("curator", "dedup", "--store", "memory"),
        ("curator", "dedup", "--store", "memory", "--user", "amy", "--namespace", "global"),
        ("curator", "dedup", "--store", "entity", "--namespace", "all"),
        ("curator", "prune", "--user", "amy", "--undo", pruned.json["run_id"]),
    ):
        assert negmem(*wrong).code == 2
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name, held_at) VALUES ('eve', 'negmem', now())"
    )
    with pytest.raises(NegmemError, match="may not be removed"):
        store_of(session, "eve", "entity", namespace="user")
    with pytest.raises(UsageError):
        store_of(session, None, "profile")
