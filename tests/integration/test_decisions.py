"""Decisions about memories: exactly what came from them, all or nothing, once, and on the trail."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from negmem.core import associations, memories, summaries
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.governance.decision_files import read_decisions
from negmem.core.governance.decisions import decide, history
from negmem.core.models.audit import Decided, Decision
from negmem.core.retrieval.search import search
from negmem.core.review import Acting, acting
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import conversation, ingest_file, session_on, write_lines

SOMEBODY = "0b9e3c55-6d1f-4a0e-9a60-3f1f7c1f2a11"
TABLES = (
    *("users", "threads", "events", "memories", "memory_versions", "item_sources", "facts"),
    *("fact_vectors", "memory_vectors", "memory_associations", "memory_summaries", "memory_terms"),
    *("memory_retrieval_logs", "memory_term_stats", "fact_term_stats"),
)


def filled(session: Session, folder: Path) -> dict[str, UUID]:
    """Five turns of alice in one thread and the same of bob; alice's memories by their first word."""
    turns = ["zebra 我住在杭州西湖边", "yes zebra", "walrus I like tea", "好的", "otter 我住在北京"]
    lines = [conversation("旅行", *turns, user=user) for user in ("alice", "bob")]
    ingest_file(session, write_lines(folder / "talk.jsonl", lines), user=None)
    found = {}
    for user in ("bob", "alice"):
        rows = memories.list_memories(session, user, newest_first=False).memories
        found = {one.content.split()[0]: one.id for one in rows}
        events = {name: sources(session, user, one)[0] for name, one in found.items()}
        facts = [
            ("city", "西湖边", ["zebra"]),
            ("drink", "tea", ["walrus", "zebra"]),
            ("pet", "cat", []),
        ]
        write_facts(
            session,
            user,
            [
                FactWrite(
                    type="profile", key=key, value=value, confidence=0.9,
                    event_ids=tuple(events[name] for name in names), extractor="pattern",
                )
                for key, value, names in facts
            ],
        )  # fmt: skip
        associations.link(session, user, found["zebra"], found["walrus"])
        associations.link(session, user, found["walrus"], found["otter"])
        with acting(session, Acting("bot", agent="bot")):
            memories.edit(session, user, found["zebra"], content="zebra 我住在杭州西湖旁")
        search(session, user, "zebra")
        search(session, user, "北京", level="keyword")
        summaries.refresh_changed(session, user)
    return found


def sources(session: Session, user: str, item: UUID) -> list[UUID]:
    database = session.database
    rows = database.connection.execute(
        "SELECT event_id FROM negentropy.item_sources WHERE user_id = %s AND item_id = %s",
        (user, item),
    )
    return [row[0] for row in rows]


def one(memory_id: UUID, decision: str = "delete", **more: Any) -> Decision:
    return Decision.model_validate({"memory_id": memory_id, "decision": decision, **more})


def of(database: TestDatabase, user: str) -> dict[str, list[Any]]:
    return {
        table: database.rows(
            f"SELECT t::text FROM negentropy.{table} AS t WHERE user_id = '{user}' ORDER BY 1"
        )
        for table in TABLES
    }


def dump(database: TestDatabase) -> str:
    """Every row of every table, as text."""
    names = database.rows(
        "SELECT c.oid::regclass::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind = 'r'"
    )
    return "\n".join(
        row[0] for (name,) in names for row in database.rows(f"SELECT t::text FROM {name} AS t")
    )


def reach(done: Decided) -> dict[str, int]:
    return {part.table: part.rows for part in done.reach}


@pytest.mark.servers("embedded", "sixteen")
@pytest.mark.parametrize("decision", ["delete", "anonymize"])
def test_exactly_what_came_from_it_goes(
    database: TestDatabase, tmp_path: Path, decision: str
) -> None:
    with session_on(database, FakeEmbedder()) as session:
        found = filled(session, tmp_path)
        bob, before = of(database, "bob"), of(database, "alice")
        database.rows(
            "UPDATE negentropy.events SET author = 'zebra' WHERE user_id = 'alice' AND position = 1"
        )
        before = of(database, "alice")
        planned = decide(session, "alice", [one(found["zebra"], decision)], dry_run=True)
        assert of(database, "alice") == before and planned.dry_run
        done = decide(
            session, "alice", [one(found["zebra"], decision, note="她要求的")], actor="dpo"
        )
        assert reach(done) == reach(planned)
        assert reach(done)["facts"] == 1 and reach(done)["memories"] == 1
        assert reach(done)["memory_associations"] == 1 and reach(done)["events"] == 1
        assert done.summaries_rebuilt >= 1 and done.records[0].version == 1
        assert of(database, "bob") == bob, "another person's rows are as they were"
        text = "\n".join(row[0] for rows in of(database, "alice").values() for row in rows)
        assert "西湖" not in text and "zebra 我" not in text and '"zebra"' not in text
        assert "walrus" in text and "北京" in text and "tea" in text
        held = database.rows(
            "SELECT key, value::text FROM negentropy.facts WHERE user_id = 'alice' ORDER BY created_at, key"
        )
        assert ("drink", '"tea"') in held and ("pet", '"cat"') in held
        assert all("西湖" not in value for _, value in held)
        assert len(sources(session, "alice", found["walrus"])) == 1
        stats = (
            "SELECT documents, total_len FROM negentropy.memory_term_stats WHERE user_id = 'alice'"
        )
        counted = (
            "SELECT count(*), sum(len) FROM (SELECT DISTINCT memory_id, len"
            " FROM negentropy.memory_terms WHERE user_id = 'alice') AS d"
        )
        assert database.rows(stats) == database.rows(counted)
        taken = ingest_file(session, tmp_path / "talk.jsonl", user=None)
        assert taken.memories == 0, "the same input does not bring it back"
        entries = history(session, "alice", memory_id=found["zebra"]).entries
        assert [(e.decision, e.note, e.actor, e.actor_verified) for e in entries] == [
            (decision, "她要求的", "dpo", True)
        ]
        left = memories.list_memories(session, "alice", limit=50)
        assert left.total == (5 if decision == "anonymize" else 4)
        if decision == "delete":
            again = decide(session, "alice", [one(found["zebra"])])
            assert again.records[0].replayed and again.reach == []


def test_what_merged_goes_with_it_and_the_survivor_stays(
    database: TestDatabase, tmp_path: Path
) -> None:
    with session_on(database, FakeEmbedder()) as session:
        lines = [conversation(name, "我每天早上喝绿茶") for name in ("一", "二", "三")]
        ingest_file(session, write_lines(tmp_path / "t.jsonl", lines))
        rows = memories.list_memories(session, "alice").memories
        survivor, loser, other = (row.id for row in rows)
        merge = (
            "SELECT * FROM negentropy.merge_memories('alice', 'negmem', jsonb_build_array(jsonb_build_object("
            "'survivor', %s::text, 'loser', %s::text, 'similarity', 1, 'survivor_hash', md5(%s), 'loser_hash',"
            " md5(%s))), gen_random_uuid())"
        )
        text = rows[0].content
        for gone in (loser, other):
            assert database.rows(merge, (str(survivor), str(gone), text, text))
        done = decide(session, "alice", [one(loser)])
        assert reach(done)["memories"] == 1
        kept = memories.show(session, "alice", survivor)
        assert [taken["id"] for taken in (kept.metadata or {})["merged_from"]] == [str(other)]
        assert len(sources(session, "alice", survivor)) == 2
        done = decide(session, "alice", [one(survivor)])
        assert reach(done)["memories"] == 2, "what it took in says the same"
        assert "绿茶" not in dump(database)


def test_all_or_nothing_once_and_by_version(database: TestDatabase, tmp_path: Path) -> None:
    with session_on(database, FakeEmbedder()) as session:
        found = filled(session, tmp_path)
        before = of(database, "alice")
        strange = uuid4()
        wrong = {
            "memory_unknown": [one(found["zebra"]), one(strange)],
            "version_conflict": [one(found["zebra"], expected_version=1), one(found["otter"])],
        }
        for code, decisions in wrong.items():
            with pytest.raises(NegmemError) as refused:
                decide(session, "alice", decisions, idempotency_key="k1")
            assert refused.value.code == code and "item" in refused.value.why
        assert str(strange) in dumped_why(session, strange)
        with pytest.raises(UsageError):
            decide(session, "alice", [one(found["zebra"]), one(found["zebra"], "retain")])
        assert of(database, "alice") == before
        keep = [one(found["zebra"], "retain", expected_version=0), one(found["otter"], "retain")]
        first = decide(session, "alice", keep, idempotency_key="k1")
        again = decide(session, "alice", keep[::-1], idempotency_key="k1")
        assert not any(r.replayed for r in first.records)
        assert {(r.memory_id, r.version, r.replayed) for r in again.records} == {
            (found["zebra"], 1, True),
            (found["otter"], 1, True),
        }
        for other in (keep[:1], [*keep, one(found["walrus"], "retain")]):
            with pytest.raises(NegmemError) as refused:
                decide(session, "alice", other, idempotency_key="k1")
            assert refused.value.code == "idempotency_conflict"
        assert decide(session, "bob", bobs(session), idempotency_key="k1").records
        database.rows("UPDATE negentropy.users SET held_at = now() WHERE user_id = 'alice'")
        for decision in ("delete", "anonymize"):
            with pytest.raises(NegmemError) as refused:
                decide(session, "alice", [one(found["zebra"], decision)])
            assert refused.value.code == "user_on_hold"
        assert decide(session, "alice", [one(found["zebra"], "retain")]).records[0].version == 2


def bobs(session: Session) -> list[Decision]:
    return [one(memories.list_memories(session, "bob").memories[0].id, "retain")]


def dumped_why(session: Session, strange: UUID) -> str:
    with pytest.raises(NegmemError) as refused:
        decide(session, "alice", [one(strange)])
    return refused.value.why


def test_two_at_once_take_different_versions_and_one_key_acts_once(
    database: TestDatabase, tmp_path: Path
) -> None:
    with session_on(database) as session:
        ids = [memories.add(session, "alice", f"记住 {n}").memory.id for n in range(4)]  # type: ignore[union-attr]
    outcomes: list[str] = []

    def act(number: int) -> None:
        with session_on(database) as mine:
            decisions = [one(i, "retain", expected_version=0) for i in ids[number % 2 :]]
            try:
                done = decide(mine, "alice", decisions)
                outcomes.append("done" if done.records else "empty")
            except NegmemError as error:
                outcomes.append(error.code)

    def same(_: int) -> None:
        with session_on(database) as mine:
            done = decide(mine, "alice", [one(i) for i in ids], idempotency_key="once")
            outcomes.append(f"replayed {done.records[0].replayed}")

    for work in (act, same):
        outcomes.clear()
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if work is act:
            assert sorted(outcomes) == ["done", *["version_conflict"] * 3]
        else:
            assert sorted(outcomes) == ["replayed False", *["replayed True"] * 3]


FILES = {
    "json": lambda i: json.dumps([{"memory_id": i, "decision": "delete", "expected_version": 3}]),
    "wrapped": lambda i: json.dumps({"decisions": [{"memory_id": i, "decision": "delete"}]}),
    "lines": lambda i: (
        f'{{"memory_id": "{i}", "decision": "retain"}}\n\n{{"memory_id": "{uuid4()}", "decision": "delete"}}\n'
    ),
    "csv": lambda i: f'\ufeffmemory_id,decision,expected_version,note\n{i},delete,3,"说, 过"\n',
}
BAD = (
    *("", "x", "[1]", "{}", '[{"memory_id": "a", "decision": "delete"}]', "memory_id\n1\n"),
    f'[{{"memory_id": "{SOMEBODY}", "decision": "destroy"}}]',
    f'[{{"memory_id": "{SOMEBODY}", "decision": "delete", "expected_version": -1}}]',
    f'[{{"memory_id": "{SOMEBODY}", "decision": "delete", "expected": 1}}]',
    f"memory_id,decision,expected_version\n{SOMEBODY},delete,three\n",
    f"memory_id,decision\n{SOMEBODY}\n",
    f'memory_id,decision\n{SOMEBODY},"delete\n',
)


@pytest.mark.parametrize("name", list(FILES))
def test_files_of_decisions(tmp_path: Path, name: str) -> None:
    wanted = uuid4()
    path = tmp_path / "d"
    path.write_text(FILES[name](str(wanted)), encoding="utf-8")
    read = read_decisions(str(path))
    assert read[0].memory_id == wanted
    assert read[0].expected_version == (3 if name in ("json", "csv") else None)
    assert read[0].note == ("说, 过" if name == "csv" else None)


@pytest.mark.parametrize("text", BAD)
def test_files_that_are_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "d"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_decisions(str(path))
    assert refused.value.code == "decisions_unreadable"


def test_as_typed(database: TestDatabase, tmp_path: Path, negmem: CliRunner) -> None:
    with session_on(database) as session:
        ids = [memories.add(session, "alice", f"记住 {n}").memory.id for n in range(3)]  # type: ignore[union-attr]

    kept = negmem("audit", "retain", str(ids[0]), "--user", "alice", "--note", "合同", "--json")
    assert kept.code == 0 and kept.json["records"][0] == {
        "memory_id": str(ids[0]), "decision": "retain", "version": 1,
        "at": kept.json["records"][0]["at"], "by": "negmem/root", "replayed": False,
    }  # fmt: skip
    refused = negmem("audit", "delete", str(ids[1]), "--user", "alice")
    assert refused.code == 2 and "--yes" in refused.stderr
    assert negmem("audit", "delete", str(ids[1]), "--user", "alice", "--dry-run").code == 0
    several = negmem("audit", "delete", *map(str, ids), "-u", "alice", "--expected-version", "1")
    assert several.code == 2
    for user in ("", " "):
        assert negmem("audit", "delete", str(ids[1]), "--user", user, "--yes").code == 2
    assert negmem("audit", "delete", str(ids[1]), "--yes").code == 2
    file = tmp_path / "d.csv"
    file.write_text(f"memory_id,decision\n{ids[1]},delete\n{ids[2]},anonymize\n", encoding="utf-8")
    done = negmem("audit", "apply", str(file), "--user", "alice", "--yes", "--json")
    assert done.code == 0 and len(done.json["records"]) == 2
    again = negmem("audit", "apply", str(file), "--user", "alice", "--yes", "--json").ok().json
    assert [(one["replayed"], one["at"]) for one in again["records"]] == [
        (True, one["at"]) for one in done.json["records"]
    ]
    told = negmem("audit", "history", "--user", "alice", "--limit", "2", "--json")
    assert [e["decision"] for e in told.json["entries"]] == ["anonymize", "delete"]
    page = negmem("audit", "history", "--user", "alice", "--before", str(told.json["next"]))
    assert "retain" in page.stdout and "合同" in page.stdout and "unverified" in page.stdout


def test_the_same_file_twice(database: TestDatabase, tmp_path: Path, negmem: CliRunner) -> None:
    with session_on(database) as session:
        ids = [str(memories.add(session, "alice", f"记住 {n}").memory.id) for n in range(3)]  # type: ignore[union-attr]
        memories.remove(session, "alice", [UUID(ids[2])])
    kinds = ("delete", "anonymize", "delete")
    rows = [
        {"memory_id": one, "decision": kind, "note": "第一次"}
        for one, kind in zip(ids, kinds, strict=True)
    ]
    (tmp_path / "d.json").write_text(json.dumps(rows), encoding="utf-8")
    apply = ("audit", "apply", "d.json", "--user", "alice", "--actor", "dpo", "--yes", "--json")
    first, second = negmem(*apply).ok().json, negmem(*apply, "--idempotency-key", "k").ok().json
    assert [one["replayed"] for one in first["records"]] == [False] * 3
    assert second["records"] == [{**one, "replayed": True} for one in first["records"]]
    assert second["reach"] == [] and second["records"][0]["by"] == "dpo"
    assert negmem(*apply, "--idempotency-key", "k").ok().json == second, "the key stands for it too"
    more = str(
        negmem("memory", "add", "新的", "--user", "alice", "--json").ok().json["memory"]["id"]
    )
    (tmp_path / "d.json").write_text(json.dumps([*rows, {"memory_id": more, "decision": "delete"}]))
    assert [one["replayed"] for one in negmem(*apply).ok().json["records"]] == [*[True] * 3, False]
    for wrong in ("retain", "anonymize"):
        refused = negmem("audit", wrong, ids[0], more, "--user", "alice", "--yes", "--json")
        assert refused.code == 1 and refused.json["error"]["code"] == "memory_decided"
        assert "dpo" in refused.json["error"]["why"] and ids[0] in refused.json["error"]["why"]
    assert len(negmem("audit", "history", "--user", "alice", "--json").ok().json["entries"]) == 5


def test_what_is_put_right_by_hand_is_on_the_trail(
    database: TestDatabase, negmem: CliRunner, tmp_path: Path
) -> None:
    who = ("--user", "alice")
    negmem("fact", "set", "profile", "city", "北京", *who).ok()
    old = negmem("memory", "add", "王芳住在北京", *who, "--json").ok().json["memory"]["id"]
    assert trail(negmem) == [], "first values are no rectification"
    negmem("memory", "edit", old, *who, "--content", "王芳住在上海", "--dry-run").ok()
    assert negmem("memory", "edit", old, *who, "--content", "x", "--note", " ").code == 2
    negmem("memory", "edit", old, *who, "--content", "王芳住在上海", "--note", "ticket 12").ok()
    negmem("memory", "edit", old, *who, "--content", "王芳住在上海").ok()
    negmem("profile", "set", "city", "上海", *who, "--note", "她来信").ok()
    negmem("core", "set", "persona", "calm", *who).ok()
    negmem("core", "rm", "persona", *who, "--yes").ok()
    lesson = negmem(
        "learn",
        "save",
        "--title",
        "t",
        "--learning",
        "先看日志",
        "--namespace",
        "user",
        *who,
        "--json",
    )
    negmem("learn", "edit", lesson.ok().json["learning"]["id"], "--learning", "先看监控", *who).ok()
    assert trail(negmem) == [
        ("rectify", "memory edit, version 1 to 2: ticket 12"),
        ("rectify", "fact set, in place of …: 她来信"),
        ("delete", "core rm"),
        ("rectify", "learning edited"),
    ]
    # What an agent or an extractor writes is in the versions, and not here.
    by_tool = {"memory_id": old, "content": "王芳住在广州"}
    negmem("tools", "call", "memory_update", *who, "--arguments", json.dumps(by_tool)).ok()
    extracted = [FactWrite(type="preference", key="tea", value=one) for one in ("绿茶", "红茶")]
    with session_on(database, FakeEmbedder()) as session:
        write_facts(session, "alice", extracted)
    assert len(trail(negmem)) == 4
    assert negmem("audit", "verify").ok()
    negmem("audit", "disclose", *who, "-o", "page.html").ok()
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "rectify" in page and "ticket 12" in page and f'href="#i{old}"' in page


def trail(negmem: CliRunner) -> list[tuple[str, str]]:
    """What was done and why, the oldest first, without ids."""
    found = negmem("audit", "history", "--user", "alice", "--json").ok().json["entries"]
    return [(e["decision"], re.sub("[0-9a-f-]{36}", "…", e["note"])) for e in reversed(found)]
