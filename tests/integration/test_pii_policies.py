"""Policies of personal data at the door, and on what stands: nothing of it is left where it should not be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from negmem.core import core_blocks, facts, memories, pii
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.governance.decisions import history
from negmem.core.governance.fix import fix
from negmem.core.governance.registry import SCANNED, TABLES
from negmem.core.governance.scan import scan
from negmem.core.governance.trail import verify
from negmem.core.learning import entities, learnings
from negmem.core.retrieval.context import assemble
from negmem.core.retrieval.search import search
from negmem.core.session import Session
from negmem.errors import UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on, write_lines
from tests.support.round_trips import round_trips

MAIL, PHONE, CARD = "zhang.wei@mail.example", "13812345678", "4111 1111 1111 1111"
SECRETS = (MAIL, PHONE, CARD)
TURNS = [
    {
        "thread": "t1",
        "user": "alice",
        "datetime": "2026-03-02T09:00:00Z",
        "turns": [
            {"role": "user", "text": f"我的邮箱是{MAIL}，电话{PHONE}", "metadata": {"cc": CARD}},
            {"role": "user", "text": "今天天气很好"},
        ],
    },
    {"thread": "t2", "user": "bob", "turns": [{"role": "user", "text": f"bob's card is {CARD}"}]},
]


LOGGED = "SELECT query FROM negentropy.memory_retrieval_logs"


def ingest(session: Session, folder: Any) -> None:
    path = write_lines(folder / "talk.jsonl", TURNS)
    Ingest(session, IngestOptions(path=str(path))).run()


def everything(database: TestDatabase, user: str | None = None) -> str:
    """All text of the schema, or of one user's rows."""
    parts = []
    for table in TABLES:
        columns = table.of_kind(*SCANNED, "terms")
        if not columns:
            continue
        owner = {"user": "user_id", "kind": "owner"}.get(table.owner)
        if user is not None and owner is None:
            continue
        where = "" if user is None else f" WHERE {owner} = '{user}'"
        wanted = ", ".join(f'"{column}"' for column in columns)
        parts += [
            str(row)
            for row in database.rows(f"SELECT {wanted} FROM negentropy.{table.name}{where}")
        ]
    return "\n".join(parts)


@pytest.mark.servers("embedded", "sixteen")
@pytest.mark.parametrize("policy", ["mask", "anonymize"])
def test_what_the_policy_takes_is_stored_nowhere(
    database: TestDatabase, tmp_path: Any, policy: str
) -> None:
    with session_on(database, FakeEmbedder(), **{"governance.pii.policy": policy}) as session:
        ingest(session, tmp_path)
        added = memories.add(session, "alice", f"mail {MAIL}", metadata={"tel": int(PHONE)}).memory
        assert added is not None and added.metadata is not None
        assert added.metadata["pii_flags"] == {"email": 1, "phone": 1}
        edited = memories.edit(session, "alice", added.id, content=f"其实是 {PHONE}")
        assert edited.metadata is not None and edited.metadata["pii_flags"] == {"phone": 1}
        facts.set_fact(session, "alice", "profile", f"mail {MAIL}", {"all": [MAIL, PHONE]})
        core_blocks.set_block(session, "alice", f"联系 {PHONE}", metadata={"from": MAIL})
        found = search(session, "alice", "电话", level="vector")
        assert found.results, "vectors are those of what is stored"
        asked = search(session, "alice", f"whose number is {PHONE}")
        again = search(session, "alice", f"whose number is {PHONE}")
        assert asked.retrieval_id is not None and again.retrieval_id is not None
        assert assemble(session, "alice", f"who is {MAIL}").retrieval_id is not None
        queries = {row[0] for row in database.rows(LOGGED)}
        assert not any(one in query for one in SECRETS for query in queries) and len(queries) == 3
    held = everything(database)
    assert not any(one in held for one in SECRETS)
    assert ("<PHONE>" in held) == (policy == "anonymize")
    assert ("138*****" not in held) and (("13*******78" in held) == (policy == "mask"))
    with session_on(database, **{"governance.pii.policy": policy}) as session:
        before = database.value("SELECT count(*) FROM negentropy.events")
        ingest(session, tmp_path)
        assert database.value("SELECT count(*) FROM negentropy.events") == before


@pytest.mark.servers("embedded")
def test_marks_stand_at_their_places_and_follow_an_edit(
    database: TestDatabase, tmp_path: Any
) -> None:
    kinds = {"governance.pii.policy": "mark", "governance.pii.kinds.credit_card": "anonymize"}
    marked = """
        SELECT p.kind, substr(m.content, p.span_start + 1, p.span_end - p.span_start)
        FROM negentropy.memory_pii AS p
        JOIN negentropy.memories AS m ON m.id = p.memory_id AND m.version = p.content_version
        WHERE m.user_id = 'alice' ORDER BY 1
    """
    with session_on(database, **kinds) as session:
        ingest(session, tmp_path)
        assert database.rows(marked) == [("email", MAIL), ("phone", PHONE)]
        held = everything(database)
        assert CARD not in held and "<CREDIT_CARD>" in held
        memory = next(
            m for m in memories.list_memories(session, "alice").memories if MAIL in m.content
        )
        memories.edit(session, "alice", memory.id, content=f"📞 {PHONE}")
        assert database.rows(marked) == [("phone", PHONE)]
        memories.edit(session, "alice", memory.id, metadata={"pii_flags": {}, "mood": "ok"})
        after = memories.show(session, "alice", memory.id)
        assert after.metadata is not None and after.metadata["pii_flags"] == {"phone": 1}


def test_without_a_policy_nothing_is_looked_for(
    database: TestDatabase, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(text: str) -> Any:
        raise AssertionError("nobody asked for it")

    def ask(session: Session) -> None:
        search(session, "alice", "电话")

    monkeypatch.setattr(pii, "find", never)
    with session_on(database, FakeEmbedder()) as session:
        ingest(session, tmp_path)
        search(session, "alice", "电话")
        plain = round_trips(session, tmp_path / "plain", ask)
        memories.list_memories(session, "alice")
    monkeypatch.undo()
    with session_on(database, FakeEmbedder(), **{"governance.pii.policy": "mark"}) as session:
        search(session, "alice", "电话")
        gated = round_trips(session, tmp_path / "gated", ask)
    assert plain == gated, "the gate asks nothing beside the search"


@pytest.mark.servers("embedded", "sixteen")
def test_a_scan_finds_every_place_and_goes_on_where_it_stopped(
    database: TestDatabase, tmp_path: Any
) -> None:
    with session_on(database, FakeEmbedder()) as session:
        ingest(session, tmp_path)
        memories.add(session, MAIL, "user by mail", thread=f"call {PHONE}")
        facts.set_fact(session, "alice", "profile", "card", CARD)
        whole = scan(session)
        places = {(one.kind, one.table, one.column) for one in whole.findings}
        assert {
            ("email", "memories", "content"),
            ("phone", "memories", "content"),
            ("credit_card", "memories", "metadata"),
            ("email", "events", "content"),
            ("credit_card", "facts", "value"),
            ("email", "users", "user_id"),
            ("phone", "threads", "external_id"),
        } <= places
        assert whole.next is None and not whole.skipped
        assert not any(one in whole.model_dump_json() for one in SECRETS)
        rows, findings, after = 0, 0, None
        for _ in range(1_000):
            part = scan(session, max_rows=7, after=after)
            rows += part.rows
            findings += sum(one.findings for one in part.findings)
            after = part.next
            if after is None:
                break
        assert rows == whole.rows
        assert findings == sum(one.findings for one in whole.findings)
        only = scan(session, "bob", kinds=["credit_card"], tables=["memories"])
        assert [(one.kind, one.rows) for one in only.findings] == [("credit_card", 1)]
        for wrong in (
            {"kinds": ["mood"]},
            {"tables": ["pg_class"]},
            {"after": "x"},
            {"max_rows": 0},
        ):
            with pytest.raises(UsageError):
                scan(session, **wrong)  # type: ignore[arg-type]


@pytest.mark.servers("embedded", "sixteen")
def test_a_fix_leaves_nothing_of_one_user_and_all_of_another(
    database: TestDatabase, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session_on(database, FakeEmbedder()) as session:
        ingest(session, tmp_path)
        memory = memories.add(session, "alice", f"老邮箱 {MAIL}").memory
        assert memory is not None
        memories.edit(session, "alice", memory.id, content=f"新电话 {PHONE}")
        facts.set_fact(session, "alice", "profile", f"mail {MAIL}", MAIL)
        facts.set_fact(session, "alice", "profile", f"mail 2 {MAIL}", PHONE)
        core_blocks.set_block(session, "alice", f"联系 {PHONE}")
        search(session, "alice", f"who is {MAIL}")
        own: Any = {"namespace": "user"}
        lesson = {"title": f"报销 {MAIL}", "learning": f"先打 {PHONE} 再写信", "tags": ["钱"]}
        saved = learnings.save(session, "alice", context=MAIL, **lesson, **own).learning
        learnings.save(
            session,
            "alice",
            **{**lesson, "learning": "先打 13912345678 再写信"},
            anyway=True,
            **own,
        )
        entities.add(session, "alice", "firm", entity_type="company", name=f"公司 {PHONE}", **own)
        entities.add_fact(session, "alice", "firm", f"前台 {PHONE}", **own)
        assert saved is not None
        bob = everything(database, "bob")
        planned = fix(session, "alice", policy="anonymize", dry_run=True)
        assert PHONE in everything(database, "alice")
        done = fix(session, "alice", policy="anonymize")
        assert {(one.table, one.rows) for one in planned.fixed} == {
            (one.table, one.rows) for one in done.fixed
        }
        assert done.embedded > 0 and not done.failed and not done.changed_meanwhile
        held = everything(database, "alice")
        assert not any(one in held for one in SECRETS), held
        assert everything(database, "bob") == bob
        assert done.left == [] and {"learnings", "entities", "entity_facts"} <= {
            one.table for one in done.fixed
        }
        again = fix(session, "alice", policy="anonymize")
        assert again.rows == 0 and again.fixed == []
        found = learnings.search_learnings(session, "alice", "先打 PHONE 再写信", **own).learnings
        assert found[0].learning == "先打 <PHONE> 再写信" and len(found) == 2
        assert entities.search_entities(session, "alice", "前台", **own).entities
        vectors = "SELECT count(*) FROM negentropy.shared_vectors WHERE live AND owner = 'alice'"
        assert database.value(vectors) == 3
        counted = (
            "SELECT count(DISTINCT item_id) FROM negentropy.shared_terms WHERE owner = 'alice'"
        )
        summed = "SELECT sum(documents) FROM negentropy.shared_term_stats WHERE owner = 'alice'"
        assert database.value(counted) == database.value(summed) == 3
        assert search(session, "alice", "新电话", level="vector").results
        assert search(session, "alice", "新电话", level="keyword").results[0].id == memory.id
        entries = database.value(
            "SELECT count(*) FROM negentropy.memory_audit_logs WHERE decision = 'anonymize'"
        )
        assert entries == done.rows
        stats = (
            "SELECT documents, total_len FROM negentropy.memory_term_stats WHERE user_id = 'alice'"
        )
        counted = database.rows(
            "SELECT count(DISTINCT memory_id), sum(len) FROM (SELECT DISTINCT memory_id, len"
            " FROM negentropy.memory_terms WHERE user_id = 'alice') AS t"
        )
        assert database.rows(stats) == counted

        shared = learnings.save(session, None, title="t", learning=f"打 {PHONE}").learning
        assert shared is not None
        fix(session, policy="mask", tables=["learnings"])
        (entry,) = history(session, None, namespace="global").entries
        assert (entry.subject, entry.note) == (f"learnings:{shared.id}", "pii fix --policy mask")
        assert verify(session).whole

        # Somebody else writes between reading and writing: the row stays theirs, and is told.
        import negmem.core.governance.fix as fixing

        other = memories.add(session, "carol", f"card {CARD}").memory
        assert other is not None
        embed = fixing.embed_texts

        def meanwhile(one: Session, texts: Any) -> Any:
            database.rows("UPDATE negentropy.memories SET content = 'mine' WHERE user_id = 'carol'")
            return embed(one, texts)

        monkeypatch.setattr(fixing, "embed_texts", meanwhile)
        raced = fix(session, "carol", policy="mask", tables=["memories"])
        assert (raced.rows, raced.changed_meanwhile) == (0, 1)
        assert memories.show(session, "carol", other.id).content == "mine"


@pytest.mark.servers("embedded")
def test_the_commands_ask_tell_and_exit_as_they_should(
    negmem: CliRunner, database: TestDatabase
) -> None:
    cli = CliRunner({**negmem.env, "NEGMEM_EMBEDDING__PROVIDER": "none"}, negmem.cwd)
    lines = "\n".join(json.dumps(one) for one in TURNS)
    cli("ingest", "-", stdin=lines).ok()
    shown = cli("pii", "scan").ok()
    assert "memories.content" in shown.stdout and MAIL not in shown.stdout + shown.stderr
    found = cli("pii", "scan", "--user", "bob", "--json").ok().json
    assert {one["kind"] for one in found["findings"]} == {"credit_card"}
    refused = cli("pii", "fix", "--policy", "anonymize")
    assert refused.code == 2 and "--yes" in refused.stderr
    assert MAIL in everything(database)
    plan = cli("pii", "fix", "--policy", "anonymize", "--dry-run", "--json").ok().json
    assert plan["dry_run"] and plan["rows"] > 0 and MAIL in everything(database)
    cli("pii", "fix", "--policy", "anonymize", "--user", "alice", "--yes").ok()
    assert MAIL not in everything(database) and CARD in everything(database, "bob")
    assert cli("pii", "fix", "--policy", "none", "--yes").code == 2
    assert cli("pii", "scan", "--user", "").code == 2
    unknown = cli("pii", "scan", "--user", "nobody", "--json").ok().json
    assert [one["code"] for one in unknown["warnings"]] == ["user_unknown"]
