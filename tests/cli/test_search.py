"""`negmem search` as it is typed: text, JSON, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase


@pytest.fixture
def search(negmem: CliRunner) -> CliRunner:
    """By keyword only: no model is loaded."""
    config = negmem.cwd / "negmem.yaml"
    config.write_text("embedding:\n  provider: none\n")
    runner = CliRunner({**negmem.env, "NEGMEM_CONFIG": str(config)}, negmem.cwd)
    for text in ("用户喜欢喝咖啡", "the espresso machine needs a repair", "Transatlantic cable"):
        runner("memory", "add", text, "--user", "ada").ok()
    return runner


def test_json_has_the_keys_of_the_contract(search: CliRunner) -> None:
    found = search("search", "咖啡 espresso", "--user", "ada", "--explain", "--json").ok()
    document = found.json
    assert list(document)[:5] == ["schema", "retrieval_id", "level", "fallbacks", "took_ms"]
    assert document["level"] == "keyword"
    (step,) = document["fallbacks"]
    assert (step["from"], step["to"], step["code"]) == ("hybrid", "keyword", "embedder_disabled")
    assert set(document["took_ms"]) == {"embed", "database", "total"}
    assert {r["content"] for r in document["results"]} == {
        "用户喜欢喝咖啡",
        "the espresso machine needs a repair",
    }
    for result in document["results"]:
        assert {"id", "content", "type", "score", "search_level", "score_type", "raw_score"} <= set(
            result
        )
        assert {"created_at", "thread_id", "metadata", "kind"} <= set(result)
        explain = result["explain"]
        assert round(sum(explain["contributions"].values()), 6) == explain["sum"] == result["score"]
        assert {"semantic", "keyword", "retention", "importance", "relevance", "graph"} <= set(
            explain
        )
    assert {"strategy", "reason", "index", "rows_scanned", "sql"} <= set(document["plan"])
    assert "咖啡" in found.stdout


def test_without_explain_there_is_no_working(search: CliRunner) -> None:
    document = search("search", "咖啡", "--user", "ada", "--json").ok().json
    assert document["plan"] is None and document["results"][0]["explain"] is None


def test_text_in_a_pipe_is_whole(search: CliRunner) -> None:
    long = "word " * 60 + "end"
    search("memory", "add", long, "--user", "ada").ok()
    for flags in ((), ("--explain",)):
        found = search("search", "word", "--user", "ada", *flags, env={"COLUMNS": "40"}).ok()
        assert long in found.stdout
        assert re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found.stdout)
        assert "\x1b" not in found.stdout


def test_a_fallback_is_the_first_line(search: CliRunner) -> None:
    found = search("search", "咖啡", "--user", "ada").ok()
    first = found.stdout.splitlines()[0]
    assert first.startswith('"咖啡"   user ada · level keyword (fell from hybrid: ')


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["咖啡", "--level", "auto"], 0),
        (["咖啡", "--level", "keyword"], 0),
        (["satlant", "--level", "keyword"], 0),
        (["satlant", "--level", "ilike", "--strict"], 0),
        (["咖啡", "--strict"], 3),
        (["咖啡", "--level", "hybrid"], 3),
        (["咖啡", "--level", "vector"], 3),
        (["satlant", "--level", "keyword", "--strict"], 3),
        (["咖啡", "--level", "best"], 2),
        (["", "--level", "keyword"], 2),
        (["咖啡", "--kind", "nothing"], 2),
        (["咖啡", "--since", "yesterday-ish"], 2),
        (["咖啡", "--where", "novalue"], 2),
        (["咖啡", "--limit", "0"], 2),
        (["咖啡", "--why-not", "no-id"], 2),
        (["--", "-dash"], 0),
    ],
)
def test_exit_codes(search: CliRunner, arguments: list[str], code: int) -> None:
    found = search("search", "--user", "ada", *arguments)
    assert found.code == code, found.stderr


@pytest.mark.parametrize("user", [None, "", "  "])
def test_an_empty_user_never_means_everyone(search: CliRunner, user: str | None) -> None:
    flags = [] if user is None else ["--user", user]
    assert search("search", "咖啡", *flags).code == 2


def test_an_unknown_user_is_an_empty_answer(search: CliRunner) -> None:
    found = search("search", "咖啡", "--user", "nobody", "--json").ok()
    assert found.json["results"] == [] and found.json["retrieval_id"] is None
    assert [w["code"] for w in found.json["warnings"]] == ["user_unknown"]


def test_why_not_says_where_a_memory_stands(search: CliRunner, database: TestDatabase) -> None:
    ids = {
        row[1]: str(row[0]) for row in database.rows("SELECT id, content FROM negentropy.memories")
    }
    coffee, cable = ids["用户喜欢喝咖啡"], ids["Transatlantic cable"]
    search("memory", "add", "咖啡 coffee", "--user", "ada", "--type", "preference").ok()

    def state(memory: str, *flags: str) -> str:
        found = search(
            "search", "咖啡", "--user", "ada", "--json", "--why-not", memory, *flags
        ).ok()
        assert found.json["retrieval_id"] is None
        return str(found.json["why_not"]["state"])

    assert state(coffee) == "found"
    assert state(coffee, "--limit", "1") == "ranked_below"
    assert state(coffee, "--type", "core,fact") == "filtered"
    assert state(cable) == "not_matched"
    assert state("00000000-0000-0000-0000-000000000000") == "unknown"
    search("memory", "rm", coffee, "--user", "ada", "--yes").ok()
    assert state(coffee) == "deleted"
    assert database.rows("SELECT 1 FROM negentropy.memory_retrieval_logs") == []


def test_no_record_leaves_no_trace(search: CliRunner, database: TestDatabase) -> None:
    search("search", "咖啡", "--user", "ada", "--no-record").ok()
    assert database.value("SELECT count(*) FROM negentropy.memory_retrieval_logs") == 0
    search("search", "咖啡", "--user", "ada").ok()
    assert database.value("SELECT count(*) FROM negentropy.memory_retrieval_logs") == 1


def test_control_characters_do_not_reach_the_terminal(search: CliRunner) -> None:
    search("memory", "add", "green \x1b[31m tea [x]", "--user", "ada").ok()
    found = search("search", "tea \x1b[2J", "--user", "ada", "--explain").ok()
    assert "\x1b" not in found.stdout and "[x]" in found.stdout


def test_as_of_and_until_are_the_earlier_of_both(search: CliRunner) -> None:
    search("memory", "add", "early tea", "--user", "ada", "--occurred-at", "2020-01-01").ok()
    search("memory", "add", "later tea", "--user", "ada", "--occurred-at", "2024-01-01").ok()

    def found(*flags: str) -> list[str]:
        document = search("search", "tea", "--user", "ada", "--json", *flags).ok().json
        return sorted(r["content"] for r in document["results"])

    assert found() == ["early tea", "later tea"]
    assert found("--as-of", "2022-01-01") == ["early tea"]
    assert found("--since", "2022-01-01") == ["later tea"]
    assert found("--until", "2025-01-01", "--as-of", "2019-01-01") == []


def test_bench_on_a_set_of_ones_own(search: CliRunner, database: TestDatabase) -> None:
    folder = Path(search.cwd) / "set"
    folder.mkdir()
    turns = [
        {"turn_id": f"t{n}", "speaker": name, "text": text}
        for n, (name, text) in enumerate([("小明", "我养了一只猫"), ("Bo", "I play the violin")])
    ]
    session = {"conversation_id": "c", "session_id": "s", "turns": turns}
    asked = [
        {"question_id": "1", "question": "谁养猫", "evidence": ["t0"], "category": "zh"},
        {"question_id": "2", "question": "who plays violin", "evidence": ["t1"], "category": "en"},
        {"question_id": "3", "question": "zeppelin", "evidence": ["t1"], "category": "en"},
    ]
    common = {"conversation_id": "c", "evidence_sessions": ["s"]}
    (folder / "sessions.jsonl").write_text(json.dumps(session))
    (folder / "qa.jsonl").write_text("\n".join(json.dumps({**q, **common}) for q in asked))
    base = ("bench", "retrieval", "--dataset", "own", "--data", folder)
    run = (*base, "--level", "keyword")
    document = search(*run, "--json", "--fail-under", "recall@5=0.6").ok().json
    assert document["questions"] == 3
    assert document["metrics"]["recall@1"] == pytest.approx(2 / 3, abs=1e-5)
    assert document["session_metrics"]["recall@1"] == pytest.approx(2 / 3, abs=1e-5)
    assert document["by_category"]["zh"]["metrics"]["recall@1"] == 1
    assert set(document["latency_ms"]) == {"p50", "p95"} and document["config"]["memories"] == 2
    assert {"negmem", "postgresql"} <= set(document["versions"])
    missed = search(*run, "--fail-under", "recall@5=0.9")
    assert missed.code == 3 and "FAIL  recall@5 0.6667, at least 0.9 wanted" in missed.stdout
    both = search(*base, "--compare", "keyword,ilike", "--json").ok().json
    assert [r["config"]["name"] for r in both["compared"]] == ["ilike"]
    for name in ("github", "junit"):
        report = search(*run, "--format", name, "--fail-under", "recall@5=0.9")
        assert report.code == 3 and "recall@5" in report.stdout
    wrong = search(*run, "--fail-under", "recall@7=0.9")
    assert wrong.code == 2 and "bench_bar_malformed" in wrong.stderr
    assert search(*base, "--compare", "keyword,best").code == 2
    schemas = database.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'negmem_bench%'")
    assert schemas == []
    assert database.value("SELECT count(*) FROM negentropy.memory_retrieval_logs") == 0


def test_as_of_finds_what_was_true_and_is_no_more(
    search: CliRunner, database: TestDatabase
) -> None:
    for city, day in (("Kyoto 京都", "2024-01-01"), ("Lisbon 里斯本", "2026-02-01")):
        search("fact", "set", "profile", "city", city, "--user", "ada", "--valid-from", day).ok()
    metadata = 'UPDATE negentropy.facts SET metadata = \'{"source": "form", "page": 2}\''
    database.rows(metadata)

    def found(*more: str) -> list[str]:
        answer = search("search", "city 京都", "--user", "ada", "--json", "--explain", *more).ok()
        for result in answer.json["results"]:
            assert round(sum(result["explain"]["contributions"].values()), 6) == result["score"]
        return [result["content"] for result in answer.json["results"]]

    assert found() == ["city: Lisbon 里斯本"]
    assert found("--as-of", "2025-01-01") == ["city: Kyoto 京都"]
    assert found("--as-of", "2026-03-01") == ["city: Lisbon 里斯本"]
    assert found("--as-of", "2025-01-01", "--type", "preference") == []
    assert found("--as-of", "2025-01-01", "--thread", "elsewhere") == []
    where = ("--as-of", "2025-01-01", "--where", "source=form", "--where")
    assert found(*where, "page=2", "--level", "keyword") == ["city: Kyoto 京都"]
    assert found(*where, "page=3") == []
    assert found("--as-of", "2025-01-01", "--kind", "memory") == []
    assert found("--as-of", "2025-01-01", "--offset", "1") == []
