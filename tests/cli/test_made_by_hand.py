"""Core blocks, instructions, summaries and links from the shell: exit codes, text, JSON."""

from __future__ import annotations

import pytest

from tests.support.cli import CliRunner


@pytest.fixture
def shell(negmem: CliRunner) -> CliRunner:
    negmem("init", "--embedder", "none").ok()
    return negmem


def test_core_blocks_and_instructions(shell: CliRunner) -> None:
    assert (
        "would be written" in shell("core", "set", "home", "杭州", "-u", "ada", "--dry-run").stdout
    )
    assert shell("core", "show", "-u", "ada", "--json").ok().json["blocks"] == []
    made = shell("core", "set", "home", "住在[杭州]\x1b[31m", "-u", "ada", "--json").ok().json
    assert made["changed"] and made["block"]["version"] == 1
    shown = shell("core", "show", "-u", "ada").ok().stdout
    assert "住在[杭州]" in shown and "\x1b" not in shown
    cut = shell("core", "set", "home", "word " * 3000, "-u", "ada", "--json")
    assert cut.code == 3 and cut.json["cut"] and cut.json["block"]["metadata"]["truncated"] is True
    conflict = shell("core", "set", "home", "x", "-u", "ada", "--expected-version", "1", "--json")
    assert conflict.code == 1 and conflict.json["error"]["code"] == "version_conflict"
    history = shell("core", "show", "home", "-u", "ada", "--history", "--json").ok().json["history"]
    assert [version["version"] for version in history] == [1]
    assert shell("core", "set", "home", "x").code == 2, "nobody is named"
    shell("core", "set", "tone", "brief", "--scope", "app").ok()
    assert "tone  app" in shell("core", "show").ok().stdout
    assert shell("core", "rm", "nothing", "-u", "ada").code == 1
    shell("core", "rm", "home", "-u", "ada").ok()

    shell("instruction", "set", "tone", "简短", "--metadata", "by=ops").ok()
    assert "says so already" in shell("instruction", "set", "tone", "简短").ok().stdout
    shell("instruction", "set", "tone", "in full", "--expected-version", "1").ok()
    versions = shell("instruction", "show", "tone", "--history", "--json").ok().json["instructions"]
    assert [(one["content"], one["is_current"]) for one in versions] == [
        ("简短", False),
        ("in full", True),
    ]
    assert shell("instruction", "list").ok().stdout.split() == ["tone", "v2", "in", "full"]
    assert shell("instruction", "show", "nothing").code == 1


def test_links_and_summaries(shell: CliRunner) -> None:
    ids = []
    for text in (
        "I keep bees behind the house.",
        "The bees need load_config() first.",
        "养蜂很有趣。",
    ):
        added = shell("memory", "add", text, "-u", "ada", "--thread", "bees", "--json").ok().json
        ids.append(added["memory"]["id"])
    one, other, third = ids
    assert "would be linked" in shell("memory", "link", one, other, "--dry-run").ok().stdout
    linked = shell("memory", "link", one, other, "--type", "causes", "--weight", "0.8", "--json")
    assert linked.ok().json["links"][0]["weight"] == 0.8
    shell("memory", "link", other, third).ok()
    walked = shell("memory", "links", one, "--depth", "2", "--json").ok().json
    assert [(item["id"], item["depth"]) for item in walked["items"]] == [(other, 1), (third, 2)]
    assert walked["items"][0]["verify"] == ["function"]
    tight = shell("memory", "links", one, "--depth", "2", "--max-tokens", "1", "--json").ok().json
    assert tight["items"] == [] and len(tight["left_out"]) == 2
    assert shell("memory", "links", one, "--depth", "9").code == 2
    assert shell("memory", "link", one, other, "--type", "magic").code == 2
    assert shell("memory", "unlink", one, other, "-u", "bob").ok().stdout == "not linked\n"
    shell("memory", "unlink", one, other).ok()
    assert shell("memory", "links", one, "--json").ok().json["items"] == []
    assert shell("memory", "topics", "-u", "ada", "--json").ok().json["topics"] == []

    planned = shell("summary", "refresh", "-u", "ada", "--dry-run", "--json").ok().json
    assert [one["action"] for one in planned["refreshed"]] == ["written", "written"]
    assert shell("summary", "show", "-u", "ada", "--json").ok().json["summaries"] == []
    done = shell("summary", "refresh", "-u", "ada", "--json").ok().json
    assert {one["type"] for one in done["refreshed"]} == {"session", "user_profile"}
    assert done["model"] is None and not done["fell_back"]
    assert "bees" in shell("summary", "show", "-u", "ada", "--thread", "bees").ok().stdout
    assert "unchanged" in shell("summary", "refresh", "-u", "ada").ok().stdout
    assert shell("summary", "refresh", "-u", "ada", "--extractor", "llm").code == 2
    unknown = shell("summary", "show", "-u", "nobody", "--json").ok().json
    assert unknown["summaries"] == [] and unknown["warnings"][0]["code"] == "user_unknown"
