"""`negmem ingest` as it is typed."""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation, many_conversations, write_lines

KEYS = ("sessions", "events", "memories", "rejected", "duplicates")


@pytest.fixture
def ingest(negmem: CliRunner) -> CliRunner:
    """`negmem` by keyword only: no model is loaded."""
    config = negmem.cwd / "negmem.yaml"
    config.write_text("embedding:\n  provider: none\n")
    return CliRunner({**negmem.env, "NEGMEM_CONFIG": str(config)}, negmem.cwd)


def sample(folder: Path) -> Path:
    return write_lines(
        folder / "talk.jsonl",
        [conversation("t1", "我家的猫叫年糕", "记住了"), conversation("t2", "port 8081", "ok")],
    )


def test_json_tells_what_was_added_and_what_was_not(ingest: CliRunner) -> None:
    path = sample(ingest.cwd)
    first = ingest("ingest", path, "--user", "ada", "--json").ok()
    assert first.stdout.startswith('{\n  "schema": "negmem.ingest/1"')
    assert [first.json[key] for key in KEYS] == [2, 4, 4, 0, 0]
    assert (first.json["format"], first.json["users"]) == ("jsonl", ["ada"])
    assert [warning["code"] for warning in first.json["warnings"]] == ["embedder_disabled"]
    assert first.stderr == ""
    second = ingest("ingest", path, "--user", "ada", "--json").ok()
    assert [second.json[key] for key in KEYS] == [0, 0, 0, 0, 4]


def test_text_is_short_and_says_where_things_went(ingest: CliRunner) -> None:
    path = sample(ingest.cwd)
    first = ingest("ingest", path.name, "--user", "ada").ok()
    assert first.stdout == (
        "read      4 turns in 2 sessions from talk.jsonl (jsonl)\n"
        "added     4 events · 4 memories in 2 sessions\n"
    )
    assert first.stderr == (
        "warning[embedder_disabled]: stored without vectors: embedding is switched off: "
        "search works by keyword\n"
    )
    second = ingest("ingest", path.name, "--user", "ada", "-q").ok()
    assert second.stdout == (
        "read      4 turns in 2 sessions from talk.jsonl (jsonl)\n"
        "added     nothing new\n"
        "known     4 turns stored already\n"
    )
    assert second.stderr == ""


def test_rejects_end_with_3_and_stand_in_a_file(ingest: CliRunner) -> None:
    path = sample(ingest.cwd)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"thread": "t3", "turns": [{"role": "user", "text": 5}]}\nnot json\n')
    done = ingest("ingest", path.name, "--user", "ada")
    assert done.code == 3
    assert done.stdout.splitlines()[2:] == [
        "rejected  2 records, kept in talk.jsonl.rejects.jsonl",
        "          line 3, turn 1: text_invalid: the text is a number, not a string",
        "          line 4: not_json: Expecting value at character 0",
    ]
    kept = (ingest.cwd / "talk.jsonl.rejects.jsonl").read_text().splitlines()
    assert [json.loads(line)["line"] for line in kept] == [3, 4]
    again = ingest("ingest", path.name, "--user", "ada", "--json", "--rejects", "other.jsonl")
    assert (again.code, again.json["rejected"], again.json["reject_file"]) == (3, 2, "other.jsonl")
    assert [fault["reason"] for fault in again.json["rejects"]] == ["text_invalid", "not_json"]


def test_standard_input_and_gzip(ingest: CliRunner) -> None:
    data = sample(ingest.cwd).read_bytes()
    piped = ingest("ingest", "-", "--user", "ada", "--json", stdin=data).ok()
    assert (piped.json["memories"], piped.json["source"]) == (4, "standard input")
    (ingest.cwd / "talk.gz").write_bytes(gzip.compress(data))
    packed = ingest("ingest", "talk.gz", "--user", "ada", "--json").ok()
    assert (packed.json["memories"], packed.json["duplicates"]) == (0, 4)
    broken = ingest("ingest", "-", "--user", "ada", "--json", stdin=data + b"\n{oops\n")
    assert broken.code == 3
    assert broken.json["reject_file"] == str(ingest.cwd / "negmem.rejects.jsonl")


def test_a_dry_run_touches_nothing(ingest: CliRunner, database: TestDatabase) -> None:
    shown = ingest("ingest", sample(ingest.cwd).name, "--user", "ada", "--dry-run").ok()
    assert "would add 4 events · 4 memories in 2 sessions" in shown.stdout
    assert database.value("SELECT count(*) FROM negentropy.threads") == 0
    assert database.value("SELECT count(*) FROM negentropy.users") == 0


def test_formats_speakers_threads_and_zones(ingest: CliRunner, database: TestDatabase) -> None:
    talk = "**Ann:** 早\n\n**Bo:** good morning\n"
    (ingest.cwd / "talk.md").write_text(f"---\ndate: 2026-03-02 09:00\n---\n{talk}")
    done = ingest(
        *("ingest", "talk.md", "--user", "ada", "--me", "Ann", "--thread", "standup"),
        *("--timezone", "Asia/Shanghai", "--json"),
    ).ok()
    assert done.json["format"] == "markdown"
    assert database.rows(
        "SELECT t.external_id, m.content, m.metadata ->> 'role', m.metadata ->> 'speaker', "
        "m.occurred_at::text FROM negentropy.memories AS m "
        "JOIN negentropy.threads AS t ON t.id = m.thread_id ORDER BY m.position"
    ) == [
        ("standup", "早", "user", "Ann", "2026-03-02 01:00:00+00"),
        ("standup", "good morning", "other", "Bo", "2026-03-02 01:00:00+00"),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["absent.jsonl"], "input_missing", 1),
        (["."], "input_is_directory", 1),
        (["empty"], "input_empty", 1),
        (["binary"], "input_binary", 1),
        (["utf16"], "input_not_utf8", 1),
        (["prose"], "input_format_unclear", 1),
        (["talk.jsonl", "--format", "yaml"], "input_format_unknown", 2),
        (["talk.jsonl"], "user_missing", 2),
        (["talk.jsonl", "--user", ""], "user_empty", 2),
        (["talk.jsonl", "--user", "  "], "user_empty", 2),
        (["talk.jsonl", "--user", "ada", "--timezone", "Mars/Base"], "time_zone_unknown", 2),
        ([], "usage", 2),
    ],
)
def test_what_cannot_be_read_is_an_error_of_three_lines(
    ingest: CliRunner, database: TestDatabase, arguments: list[str], code: str, exit_code: int
) -> None:
    sample(ingest.cwd)
    (ingest.cwd / "empty").write_bytes(b"")
    (ingest.cwd / "binary").write_bytes(bytes(range(256)) * 4)
    (ingest.cwd / "utf16").write_bytes("你好，世界".encode("utf-16"))
    (ingest.cwd / "prose").write_text("Nobody says anything here.\n")
    failed = ingest("ingest", *arguments)
    assert failed.code == exit_code
    lines = failed.stderr.splitlines()
    assert [line.split(":")[0].strip() for line in lines] == [f"error[{code}]", "why", "fix"]
    document = ingest("ingest", *arguments, "--json")
    assert (document.code, document.json["error"]["code"]) == (exit_code, code)
    assert database.value("SELECT count(*) FROM negentropy.events") == 0


def test_a_pipe_that_is_closed_ends_quietly_and_all_is_stored(
    ingest: CliRunner, database: TestDatabase
) -> None:
    path = write_lines(ingest.cwd / "many.jsonl", many_conversations(60))
    process = subprocess.Popen(
        [sys.executable, "-m", "negmem.cli", "ingest", str(path), "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ingest.environment(),
        cwd=ingest.cwd,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (0, b"")
    process.stderr.close()
    assert database.value("SELECT count(*) FROM negentropy.memories") == 600


def test_progress_is_drawn_on_a_terminal_alone(ingest: CliRunner) -> None:
    path = write_lines(ingest.cwd / "many.jsonl", many_conversations(60))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "negmem.cli", "ingest", str(path)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=ingest.environment(),
        cwd=ingest.cwd,
    )
    out, _ = process.communicate()
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert process.returncode == 0
    assert "turns · 256 memories" in drawn and "\r\x1b[K" in drawn
    assert b"\x1b" not in out and b"added     600 events" in out


def test_json_stays_one_document_whatever_the_text(ingest: CliRunner) -> None:
    path = ingest.cwd / "odd.jsonl"
    path.write_bytes(b'{"thread": "t", "turns": ["\x1b[31m\xc3\xa9 [bold]", 7]}\nnot\x00json\xff\n')
    done = ingest("ingest", path, "--user", "ada", "--json", "--format", "jsonl")
    assert (done.code, done.json["rejected"]) == (3, 3)
    text = ingest("ingest", path, "--user", "ada", "--format", "jsonl")
    assert "\x1b" not in text.stdout and "\x00" not in text.stdout
