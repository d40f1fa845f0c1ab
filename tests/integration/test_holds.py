"""Legal hold: whatever command is called, nothing that was said by the person, or of them, goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from negmem.cli.tree import whole_tree
from negmem.core import associations, core_blocks, facts, memories
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.governance.registry import TABLES, owner_column
from negmem.core.learning import decision_log
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, session_on, write_lines

USER = "被保留的人"
MAIL = "zhang@mail.example"
# Made anew from what stands, or counted: none of it is what anybody said.
DERIVED = frozenset(
    (
        *("memory_preload_cache", "memory_terms", "memory_term_stats", "fact_terms", "tool_calls"),
        *("fact_term_stats", "shared_terms", "shared_term_stats", "memory_formation", "users"),
        *("memory_vectors", "fact_vectors", "shared_vectors", "consolidation_jobs", "audit_keys"),
    )
)
# What each command answers: refused, or done to nothing of the person; MEMORY and the like stand for ids.
REFUSED = (
    "memory rm MEMORY",
    "memory unlink MEMORY OTHER",
    "fact rm FACT",
    "profile unset preferred_name",
    "core rm persona",
    "learn rm LEARNING",
    "decision rm DECISION",
    "entity rm firm-a --namespace user",
    "audit delete MEMORY",
    "audit anonymize MEMORY",
    "audit apply decisions.json",
    "audit erase",
    "curator prune --max-count 1",
    "curator dedup",
    "curator dedup --store fact",
    "curator prune --store learning --namespace user --max-count 1",
    "curator dedup --store entity --namespace user",
    "uninstall",
)
HARMLESS = (
    "retention run",
    "retention purge",
    "pii fix --policy anonymize",
    "pii fix --policy mask --no-user",
    "summary refresh",
    "consolidate --job full_consolidation",
    "memory edit MEMORY --content 改过的话",
    "memory add 又一句话",
    "core set persona 新的指示",
    "fact set profile city 上海",
    "profile set language 中文",
    "learn edit LEARNING --title 别的题目",
    "learn undo LEARNING",
    "entity add firm --type organization --name 公司 --namespace user",
    "ingest talk.jsonl",
    "import export.jsonl --no-user",
    "audit replay erased.jsonl --no-user",
)
# What removes nothing of one person: it adds, marks, or is about the installation.
OTHERS = """
    audit retain, automation disable, automation enable, automation purge, automation reconcile, automation run,
    completions install, config set, conflict resolve, db migrate, db start, db stop, db upgrade, demo, doctor,
    decision add, decision outcome, decision undo, embed migrate, entity event, entity fact, entity relate, entity replace, entity undo, fact restore, feedback, init, instruction set, learn save,
    memory link, memory pin, memory restore, memory undo, memory unpin, metrics, namespace create, namespace grant, namespace revoke,
    profile undo, proposals approve, proposals approve-all, proposals edit, proposals reject, proposals reject-all, sync, tools call, user hold, user pause, user release, user resume
"""


def said(database: TestDatabase) -> set[str]:
    """Every text of the person, wherever it stands: in a row, in its JSON, in a version of it."""
    found: set[str] = set()
    for table in TABLES:
        if table.owner not in ("user", "kind") or table.name in DERIVED:
            continue
        rows = database.rows(
            f"SELECT to_jsonb(t) FROM negentropy.{table.name} AS t WHERE {owner_column(table)} = %s",
            (USER,),
        )
        for (row,) in rows:
            for name in table.of_kind("text", "json", "texts", "name"):
                found |= set(texts_of(row[name]))
    return found


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_of(one)


def live(database: TestDatabase) -> dict[str, int]:
    """How many rows are not removed, by table."""
    counts = {}
    for table in TABLES:
        if table.owner in ("user", "kind") and table.name not in DERIVED:
            gone = " AND deleted_at IS NULL" if "deleted_at" in table.plain else ""
            counts[table.name] = database.value(
                f"SELECT count(*) FROM negentropy.{table.name} WHERE {owner_column(table)} = %s{gone}",
                (USER,),
            )
    return counts


def fill(database: TestDatabase, negmem: CliRunner, folder: Path) -> dict[str, str]:
    """Something of the person in every store; ids by name."""
    lines = [
        conversation("谈话", f"我住在杭州 {MAIL}", "好的", "same words", "same words", user=USER)
    ]
    with session_on(database, **{"learning.decision_log.enabled": "true"}) as session:
        decided = decision_log.log_decision(session, USER, f"先退款 {MAIL}").decision
        Ingest(session, IngestOptions(path=str(write_lines(folder / "talk.jsonl", lines)))).run()
        first = memories.add(session, USER, f"第一句 {MAIL}").memory
        other = memories.add(session, USER, "第二句").memory
        fact = facts.set_fact(session, USER, "profile", "city", "杭州").fact
        assert first is not None and other is not None and fact is not None and decided is not None
        associations.link(session, USER, first.id, other.id)
        core_blocks.set_block(session, USER, f"总是说中文 {MAIL}")
        facts.set_fact(session, USER, "profile", "preferred_name", "张伟")
    search = negmem("search", "杭州", "--user", USER, "--json").ok().json
    assert search["results"]
    saved = negmem(
        "learn", "save", "--title", "旅行", "--learning", f"早点出发 {MAIL}", "--namespace", "user",
        "--user", USER, "--json",
    ).ok().json  # fmt: skip
    for name in ("firm-a", "firm-b"):
        negmem(
            "entity", "add", name, "--type", "organization", "--name", "同一家公司", "--namespace",
            "user", "--user", USER,
        ).ok()  # fmt: skip
    negmem("summary", "refresh", "--user", USER).ok()
    negmem("audit", "export", "--user", USER, "--output", folder / "export.jsonl").ok()
    negmem("audit", "head", "--erasures", folder / "erased.jsonl").ok()
    ids = {
        "MEMORY": first.id,
        "OTHER": other.id,
        "FACT": fact.id,
        "LEARNING": UUID(saved["learning"]["id"]),
        "DECISION": decided.id,
    }
    wanted: list[dict[str, Any]] = [{"memory_id": str(first.id), "decision": "delete"}]
    (folder / "decisions.json").write_text(json.dumps(wanted), encoding="utf-8")
    # Old enough that each sweep would take it.
    database.rows(
        "UPDATE negentropy.memories SET deleted_at = now() - interval '1 year' WHERE content = '好的'"
    )
    database.rows(
        "UPDATE negentropy.memory_retrieval_logs SET created_at = '2020-01-01', applied_at = now()"
    )
    return {name: str(value) for name, value in ids.items()}


def test_nothing_of_a_person_goes_by_whatever_command(
    database: TestDatabase, negmem: CliRunner, tmp_path: Path
) -> None:
    writing = {
        " ".join(command.words)
        for command in whole_tree().walk()
        if not command.commands and any("--dry-run" in option.flags for option in command.options)
    }
    tried = {" ".join(words.split()[:n]) for words in (*REFUSED, *HARMLESS) for n in (1, 2)}
    named = {name.strip() for name in OTHERS.replace("\n", " ").split(",")}
    assert writing <= tried | named, "a command that writes: say here what it does under a hold"
    ids = fill(database, negmem, tmp_path)
    negmem("user", "hold", "--user", USER, "--reason", "案件 7").ok()
    before, counts = said(database), live(database)

    def run(words: str) -> Any:
        arguments = [ids.get(word, word) for word in words.split()]
        if "--no-user" in arguments:
            arguments.remove("--no-user")
        elif words != "uninstall":
            arguments += ["--user", USER]
        return negmem(*arguments, "--yes", "--json")

    for words in REFUSED:
        done = run(words)
        assert done.code == 1 and done.json["error"]["code"] == "user_on_hold", (words, done)
        assert said(database) == before, words
    for words in HARMLESS:
        done = run(words)
        assert done.code in (0, 3), (words, done)
        assert before <= said(database), (words, before - said(database))
        now = live(database)
        assert all(now[table] >= count for table, count in counts.items()), words
    negmem("user", "release", "--user", USER).ok()
    assert run("core rm persona").code == 0 and run("memory unlink MEMORY OTHER").code == 0
