"""`negmem fact`, `negmem conflict` and `negmem memory history` as they are typed."""

from __future__ import annotations

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase


def test_facts_from_setting_to_undo(negmem: CliRunner, database: TestDatabase) -> None:
    who = ("--user", "王芳")
    negmem("fact", "set", "profile", "city", "北京", *who, "--valid-from", "2024-01-01").ok()
    planned = negmem("fact", "set", "profile", "city", "上海", *who, "--dry-run").ok()
    assert "would take the place of what stands there" in planned.stdout
    moved = negmem(
        "fact", "set", "profile", "city", "上海", *who, "--valid-from", "2026-02-01", "--json"
    ).ok()
    assert moved.json["schema"] == "negmem.fact.set/1"
    assert (moved.json["action"], moved.json["previous"]["value"]) == ("superseded", "北京")

    listed = negmem("fact", "list", *who, "--json").ok().json
    fact = listed["facts"][0]
    assert {"id", "type", "key", "value", "confidence", "status", "valid_from"} <= set(fact)
    assert (fact["value"], fact["valid_until"], listed["total"]) == ("上海", None, 1)
    then = negmem("fact", "list", *who, "--as-of", "2025-01-01", "--json").ok().json
    assert [one["value"] for one in then["facts"]] == ["北京"]
    nothing = negmem("fact", "list", *who, "--believed-at", "2025-01-01", "--json").ok().json
    assert nothing["facts"] == []
    found = negmem("fact", "search", "city 北京", *who, "--as-of", "2025-01-01", "--json").ok()
    assert found.json["results"][0]["fact"]["value"] == "北京"
    assert (found.json["level"], bool(found.json["reason"])) == ("keyword", True)

    history = negmem("fact", "history", "city", *who).ok().stdout
    assert history.count("city: ") == 4 and "stands" in history
    conflict = negmem("conflict", "list", *who, "--json").ok().json["conflicts"][0]["id"]
    assert negmem("conflict", "resolve", conflict, "--json").code == 2
    negmem("conflict", "resolve", conflict, "keep_old").ok()
    assert "北京" in negmem("fact", "list", *who).ok().stdout
    negmem("conflict", "resolve", conflict, "--undo").ok()
    assert "上海" in negmem("fact", "list", *who).ok().stdout
    undone = negmem("conflict", "resolve", conflict, "--undo", "--json")
    assert (undone.code, undone.json["error"]["code"]) == (1, "conflict_not_decided")
    assert "decided" in negmem("conflict", "show", conflict).ok().stdout

    negmem("fact", "rm", fact["id"]).ok()
    assert negmem("fact", "list", *who, "--deleted", "--json").ok().json["total"] == 1
    negmem("fact", "restore", fact["id"], *who).ok()
    unknown = negmem("fact", "rm", "00000000-0000-0000-0000-000000000000", *who)
    assert unknown.code == 1
    nobody = negmem("fact", "list", "--user", "nobody", "--json").ok().json
    assert nobody["warnings"][0]["code"] == "user_unknown"


def test_the_history_of_a_memory(negmem: CliRunner, database: TestDatabase) -> None:
    added = negmem("memory", "add", "User likes tea", "--user", "ada", "--json").ok().json
    memory = added["memory"]["id"]
    negmem("memory", "edit", memory, "--content", "用户喜欢喝茶").ok()
    found = negmem("memory", "history", memory, "--json").ok().json
    assert [version["content"] for version in found["versions"]] == ["User likes tea"]
    assert found["content"] == "用户喜欢喝茶"
    assert "before: User likes tea" in negmem("memory", "history", memory).ok().stdout
