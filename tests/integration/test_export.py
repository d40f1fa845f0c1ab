"""One person out of a database and into another: whole, with the same ids, nothing of anybody else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from negmem.core import associations, core_blocks, facts, memories
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.governance.bring_back import bring_back
from negmem.core.governance.export import LEFT_OUT, TRAIL, export_to_file
from negmem.core.governance.registry import TABLES
from negmem.core.learning import entities, learnings
from negmem.core.retrieval.search import search
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError
from tests.support import databases
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on, write_lines

TURNS = [
    {
        "thread": "旅行",
        "user": user,
        "datetime": "2026-03-02T09:00:00Z",
        "turns": [
            {"role": "user", "text": f"{user}: 我下个月去杭州出差"},
            {"role": "assistant", "text": "住在西湖边吗？"},
            {"role": "user", "text": f"{user} marker, yes"},
        ],
    }
    for user in ("alice", "bob")
]
STATE = """
SELECT to_jsonb(m) - 'updated_at' - 'fades_at' - 'fades_basis' - 'due_at' - 'retention_score'
FROM negentropy.memories AS m WHERE m.user_id = 'alice' ORDER BY m.id
"""
FACTS = "SELECT to_jsonb(f) FROM negentropy.facts AS f WHERE f.user_id = 'alice' ORDER BY f.id"
EVENTS = """
SELECT to_jsonb(e) - 'sequence_num' FROM negentropy.events AS e WHERE e.user_id = 'alice' ORDER BY e.sequence_num
"""


def fill(session: Session, folder: Path) -> None:
    path = write_lines(folder / "talk.jsonl", TURNS)
    Ingest(session, IngestOptions(path=str(path))).run()
    for user in ("alice", "bob"):
        found = memories.list_memories(session, user).memories
        associations.link(session, user, found[0].id, found[1].id)
        memories.edit(session, user, found[0].id, content=f"{user} 改过的话")
        memories.remove(session, user, [found[2].id])
        memories.restore(session, user, [found[2].id])
        facts.set_fact(session, user, "profile", "城市", "北京")
        facts.set_fact(session, user, "profile", "城市", {"name": f"上海 {user}"})
        core_blocks.set_block(session, user, f"{user} 喜欢茶")
        own: Any = {"namespace": "user"}
        learnings.save(session, user, title="报销", learning=f"{user} 先打电话", **own)
        entities.add(session, user, "firm", entity_type="company", name="公司", **own)
        entities.add_fact(session, user, "firm", f"{user} 在前台", **own)
        search(session, user, "杭州")


@pytest.mark.servers("embedded", "sixteen")
def test_there_and_back_again(database: TestDatabase, tmp_path: Path) -> None:
    file = tmp_path / "alice.jsonl"
    with session_on(database, FakeEmbedder()) as session:
        fill(session, tmp_path)
        done = export_to_file(session, "alice", file)
        before = [database.rows(statement) for statement in (STATE, FACTS, EVENTS)]
        with pytest.raises(UsageError):
            export_to_file(session, "alice", file)
    assert file.stat().st_mode & 0o077 == 0
    text = file.read_text(encoding="utf-8")
    assert "bob" not in text and "alice 改过的话" in text and "我下个月去杭州出差" in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0]["format"] == "negmem.export" and lines[0]["version"] == 1
    assert lines[-1]["manifest"]["rows"] == done.rows == len(lines) - 2
    exported = {one.table for one in done.tables}
    assert exported <= {one.name for one in TABLES} | {TRAIL} and not exported & LEFT_OUT
    assert {
        "memories",
        "memory_versions",
        "events",
        "facts",
        "memory_core_blocks",
        TRAIL,
    } <= exported
    assert {"memory_associations", "item_sources", "memory_retrieval_logs"} <= exported

    template = databases.migrated_template(database.server)
    other = databases.create(database.server, template=template)
    try:
        with session_on(other, FakeEmbedder()) as session:
            planned = bring_back(session, file, dry_run=True)
            assert planned.added == 0 and other.value("SELECT count(*) FROM negentropy.users") == 0
            came = bring_back(session, file)
            assert came.added > 0 and came.stood == 0 and came.embedded > 0
            assert [other.rows(statement) for statement in (STATE, FACTS, EVENTS)] == before
            assert search(session, "alice", "杭州 出差", level="hybrid").results
            assert search(session, "alice", "上海", level="keyword").results[0].kind == "fact"
            for level in ("keyword", "vector"):
                kinds = ("learning", "entity")
                found = search(session, "alice", "电话 前台", level=level, kinds=kinds, limit=9)
                assert {one.kind for one in found.results} == set(kinds), level
            again = bring_back(session, file)
            assert (again.added, again.embedded) == (0, 0) and again.stood == came.added
            path = write_lines(tmp_path / "more.jsonl", TURNS[:1])
            Ingest(session, IngestOptions(path=str(path))).run()
            assert other.value("SELECT count(*) FROM negentropy.events") == 3, "known again"
        with session_on(other, **{"governance.pii.policy": "mask"}) as session:
            assert memories.list_memories(session, "alice").total == 3
    finally:
        databases.drop(other)


def broken(lines: list[str], how: str) -> list[str]:
    if how == "changed":
        return [line.replace("杭州", "苏州") for line in lines]
    if how == "lost":
        return [*lines[:3], *lines[4:]]
    if how == "cut":
        return lines[:-1]
    if how == "foreign":
        return [line.replace('"user_id":"alice"', '"user_id":"bob"') for line in lines]
    if how == "newer":
        return [lines[0].replace('"version":1', '"version":2'), *lines[1:]]
    if how == "column":
        return [lines[0], lines[1].replace('"user_id"', '"oid":1,"user_id"', 1), *lines[2:]]
    return ["{}\n"]


def test_a_file_that_is_not_as_it_was_written_writes_nothing(
    database: TestDatabase, tmp_path: Path
) -> None:
    file = tmp_path / "alice.jsonl"
    with session_on(database, FakeEmbedder()) as session:
        fill(session, tmp_path)
        export_to_file(session, "alice", file)
        database.rows("DELETE FROM negentropy.users WHERE user_id = 'alice'")
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        codes = {
            "changed": "import_damaged",
            "lost": "import_damaged",
            "cut": "import_damaged",
            "column": "import_damaged",
            "foreign": "import_foreign",
            "newer": "import_newer",
            "other": "import_unreadable",
        }
        for how, code in codes.items():
            bad = tmp_path / f"{how}.jsonl"
            bad.write_text("".join(broken(lines, how)), encoding="utf-8")
            with pytest.raises(NegmemError) as refused:
                bring_back(session, bad)
            assert refused.value.code == code, how
        assert database.value("SELECT count(*) FROM negentropy.users WHERE user_id = 'alice'") == 0


@pytest.mark.servers("embedded")
def test_the_commands(negmem: CliRunner, database: TestDatabase, tmp_path: Path) -> None:
    cli = CliRunner({**negmem.env, "NEGMEM_EMBEDDING__PROVIDER": "none"}, negmem.cwd)
    cli("ingest", "-", stdin="\n".join(json.dumps(one) for one in TURNS)).ok()
    streamed = cli("audit", "export", "--user", "alice").ok()
    documents: list[dict[str, Any]] = [json.loads(line) for line in streamed.stdout.splitlines()]
    assert documents[-1]["manifest"]["user"] == "alice" and "bob" not in streamed.stdout
    told = cli("audit", "export", "--user", "alice", "--output", "a.jsonl", "--json").ok().json
    assert told["rows"] == documents[-1]["manifest"]["rows"]
    assert cli("audit", "export", "--user", "alice", "--json").code == 2
    assert cli("audit", "export", "--user", "").code == 2
    assert cli("audit", "export").code == 2
    assert cli("import", "a.jsonl", "--dry-run", "--json").ok().json["added"] == 0
    assert cli("import", "a.jsonl", "--json").ok().json["stood"] > 0
    assert cli("import", "missing.jsonl").code == 1


def test_a_page_for_the_person(negmem: CliRunner, database: TestDatabase, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e"
    with session_on(database) as session:
        fill(session, tmp_path)
        memories.add(session, "alice", hostile)
        search(session, "alice", f"杭州 {hostile}")
    negmem("user", "pause", "--user", "alice", "--reason", hostile, "--actor", "dpo").ok()
    told = negmem("audit", "disclose", "--user", "alice", "--json").ok().json
    page = (tmp_path / told["path"]).read_text(encoding="utf-8")
    assert (tmp_path / told["path"]).stat().st_mode & 0o077 == 0
    assert told["reads"] == 2 and {"memories", "facts", "events"} <= {
        t["table"] for t in told["tables"]
    }
    for said in ("alice 改过的话", "alice 喜欢茶", "上海 alice", "dpo", "&lt;script&gt;alert(1)"):
        assert said in page, said
    account = database.value("SELECT session_user")
    assert "takes no writes" in page and "--no-record" in page, "the reads that nobody recorded"
    assert page.count(f"<dt>by</dt><dd><bdi>{account}</bdi>") == 2, "the account that searched"
    assert (
        "<script" not in page and "<img" not in page and "\u202e" not in page and "bob" not in page
    )
    assert set(re.findall(r"(?:src|href)=[\"']?([^\"' >]{2})", page)) <= {"#i"}, (
        "nothing from outside"
    )
    assert all(f'id="i{id}"' in page for id in re.findall(r'href="#i([0-9a-f-]{36})"', page))
    assert negmem("audit", "disclose", "--user", "alice").code == 2, "it replaces no file"
    gone = negmem("audit", "disclose", "--user", "nobody", "-o", "x.html", "--json").ok().json
    assert gone["warnings"][0]["code"] == "user_unknown"


def test_who_was_erased_comes_back_by_a_word_only_and_the_trail_says_so(
    negmem: CliRunner, database: TestDatabase, tmp_path: Path
) -> None:
    file = str(tmp_path / "王.jsonl")
    negmem("memory", "add", "喜欢绿茶", "--user", "王").ok()
    negmem("audit", "export", "--user", "王", "--output", file).ok()
    assert "person_erased" not in negmem("import", file).ok().stderr, "nobody was erased yet"
    negmem("audit", "erase", "--user", "王", "--yes").ok()
    tried = negmem("import", file, "--dry-run", "--json").ok().json
    assert [one["code"] for one in tried["warnings"]] == ["person_erased"]
    refused = negmem("import", file, "--json")
    assert refused.code == 2 and refused.json["error"]["code"] == "confirmation_needed"
    assert "王, who was erased here" in refused.json["error"]["message"]
    with session_on(database) as session, pytest.raises(NegmemError) as raised:
        bring_back(session, Path(file))
    assert raised.value.code == "person_erased"
    assert database.value("SELECT count(*) FROM negentropy.memories") == 0
    trail = "SELECT count(*) FROM negentropy.memory_audit_logs WHERE decision = 'import'"
    assert database.value(trail) == 0
    for _ in (1, 2):
        done = negmem("import", file, "--yes")
        assert "warning[person_erased]" in done.ok().stderr
        assert database.value(trail) == 1
    assert "import" in negmem("audit", "history", "--user", "王").ok().stdout
    negmem("audit", "verify").ok()
