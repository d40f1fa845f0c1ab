"""`negmem context` as it is typed."""

from __future__ import annotations

import pytest

from negmem.core.models.context import SECTIONS
from tests.support.cli import CliRunner
from tests.support.contexts import add_core, add_event
from tests.support.databases import TestDatabase


@pytest.fixture
def keyword_only(negmem: CliRunner) -> CliRunner:
    """`negmem` without an embedding model."""
    (negmem.cwd / "negmem.yaml").write_text("embedding:\n  provider: none\n", encoding="utf-8")
    return negmem


def test_the_context_is_the_answer_and_its_account_a_note(
    keyword_only: CliRunner, database: TestDatabase
) -> None:
    keyword_only("memory", "add", "喜欢喝乌龙茶，不加糖", "--user", "ada").ok()
    add_core(database, "简短回答")
    add_event(database, "早上好\x1b[31m")
    done = keyword_only("context", "乌龙茶", "--user", "ada", "--max-tokens", "400").ok()
    lines = done.stdout.splitlines()
    assert lines[0] == "[CoreBlock:user:persona] 简短回答"
    assert lines[1].endswith("] 喜欢喝乌龙茶，不加糖")
    assert lines[2].startswith("[History")
    assert "\x1b" not in done.stdout
    assert "level keyword (fell from hybrid: embedding is switched off" in done.stderr
    assert "of 400 tokens (o200k_base): core" in done.stderr


def test_json_tells_what_is_in_and_what_is_not(keyword_only: CliRunner) -> None:
    for n in range(20):
        keyword_only("memory", "add", f"coffee number {n} " + "word " * 30, "--user", "ada").ok()
    done = keyword_only("context", "coffee", "--user", "ada", "--max-tokens", "300", "--json").ok()
    document = done.json
    assert document["schema"] == "negmem.context/1"
    assert document["tokens"] <= 240
    assert document["max_tokens"] == 300
    by_name = {section["name"]: section for section in document["sections"]}
    assert list(by_name) == list(SECTIONS)
    assert by_name["memories"]["tokens"] > 0
    assert {item["reason"] for item in document["left_out"]} == {"budget"}
    assert len(by_name["memories"]["items"]) + len(document["left_out"]) == 20
    assert document["fallbacks"][0]["from"] == "hybrid"
    assert document["retrieval_id"]


def test_strict_makes_a_fall_an_exit_code(keyword_only: CliRunner) -> None:
    keyword_only("memory", "add", "coffee", "--user", "ada").ok()
    assert keyword_only("context", "coffee", "--user", "ada", "--strict").code == 3
    assert keyword_only("context", "coffee", "--user", "ada", "--level", "keyword").code == 0


def test_an_unknown_user_is_an_empty_answer(keyword_only: CliRunner) -> None:
    done = keyword_only("context", "coffee", "--user", "nobody", "--json").ok()
    assert (done.json["text"], done.json["tokens"]) == ("", 0)
    assert done.json["warnings"][0]["code"] == "user_unknown"


def test_bad_calls_end_with_two(keyword_only: CliRunner) -> None:
    for arguments in (
        ("context", "coffee"),
        ("context", "coffee", "--user", ""),
        ("context", " ", "--user", "ada"),
        ("context", "coffee", "--user", "ada", "--max-tokens", "0"),
        ("context", "coffee", "--user", "ada", "--blocks", "weather"),
    ):
        assert keyword_only(*arguments).code == 2, arguments
