"""`negmem ingest` with files and paths that mean harm: nothing that stands on disk is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cli import CliRunner
from tests.support.ingesting import conversation, write_lines


@pytest.fixture
def ingest(negmem: CliRunner) -> CliRunner:
    """`negmem` by keyword only: no model is loaded."""
    config = negmem.cwd / "negmem.yaml"
    config.write_text("embedding:\n  provider: none\n")
    return CliRunner({**negmem.env, "NEGMEM_CONFIG": str(config)}, negmem.cwd)


def broken(folder: Path, name: str = "talk.jsonl") -> Path:
    path = write_lines(folder / name, [conversation("t1", "我家的猫叫年糕")])
    with path.open("a", encoding="utf-8") as file:
        file.write('{"thread": "t2", "turns":\n')
    return path


@pytest.mark.parametrize("link", ["itself", "symbolic", "hard"])
def test_rejects_never_overwrite_the_input(ingest: CliRunner, link: str) -> None:
    path = broken(ingest.cwd)
    before = path.read_bytes()
    other = ingest.cwd / "other.jsonl"
    if link == "symbolic":
        other.symlink_to(path)
    elif link == "hard":
        os.link(path, other)
    named = path if link == "itself" else other
    done = ingest("ingest", path, "--user", "ada", "--rejects", named, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "reject_file_is_input")
    assert path.read_bytes() == before


def test_a_file_that_nobody_named_overwrites_nothing_of_others(ingest: CliRunner) -> None:
    path = broken(ingest.cwd)
    precious = ingest.cwd / "talk.jsonl.rejects.jsonl"
    precious.write_text("precious\n")
    first = ingest("ingest", path.name, "--user", "ada", "--json")
    assert (first.code, first.json["reject_file"]) == (3, "talk.jsonl.rejects.2.jsonl")
    assert precious.read_text() == "precious\n"
    again = ingest("ingest", path.name, "--user", "ada", "--json")
    assert again.json["reject_file"] == "talk.jsonl.rejects.2.jsonl"
    assert len((ingest.cwd / "talk.jsonl.rejects.2.jsonl").read_text().splitlines()) == 1


def test_rejects_of_two_piped_inputs_are_both_kept(ingest: CliRunner) -> None:
    for number, line in enumerate(('{"one":', '{"two":')):
        given = json.dumps(conversation(f"t{number}", "猫")) + f"\n{line}\n"
        assert ingest("ingest", "-", "--user", "ada", stdin=given).code == 3
    kept = sorted(path.name for path in ingest.cwd.glob("*rejects*"))
    assert kept == ["negmem.rejects.2.jsonl", "negmem.rejects.jsonl"]
    texts = [(ingest.cwd / name).read_text() for name in kept]
    assert "two" in texts[0] and "one" in texts[1]


@pytest.mark.parametrize("named", [".", "no/such/folder.jsonl", "/dev/full"])
def test_rejects_that_cannot_be_kept_are_told(ingest: CliRunner, named: str) -> None:
    path = broken(ingest.cwd)
    done = ingest("ingest", path, "--user", "ada", "--rejects", named)
    assert done.code == 1
    lines = [line for line in done.stderr.splitlines() if not line.startswith("stored before")]
    assert lines[0].startswith("error[reject_file_unusable]: ")
    assert [line[:6] for line in lines[1:]] == ["  why:", "  fix:"]
    assert ingest("ingest", path, "--user", "ada").code == 3


def test_what_hints_name_can_be_pasted(ingest: CliRunner) -> None:
    unclear = ingest("ingest", "-", "--user", "ada", stdin="no structure at all\n", env={})
    assert "fix: negmem ingest - --format" in unclear.stderr
    utf16 = ingest("ingest", "-", "--user", "ada", stdin="你好 hello there".encode("utf-16"))
    assert "iconv -f UTF-16 -t UTF-8 - | negmem ingest -" in utf16.stderr


def test_a_reject_keeps_what_stood_in_the_line(ingest: CliRunner) -> None:
    path = write_lines(
        ingest.cwd / "blank.jsonl",
        [conversation("t", "猫", user="ok"), conversation("t", "猫", user=" ")],
    )
    done = ingest("ingest", path, "--json")
    assert (done.code, done.json["rejects"][0]["reason"]) == (3, "user_empty")
    kept = json.loads((ingest.cwd / "blank.jsonl.rejects.jsonl").read_text())
    assert json.loads(kept["raw"])["turns"][0]["text"] == "猫"


def test_a_number_without_end_is_a_reject_in_plain_words(ingest: CliRunner) -> None:
    path = ingest.cwd / "digits.jsonl"
    path.write_text(
        '{"thread": "t", "turns": [{"role": "user", "text": "猫", "id": ' + "9" * 5000 + "}]}\n"
    )
    done = ingest("ingest", path, "--user", "ada", "--format", "jsonl", "--json")
    assert done.code == 3
    assert done.json["rejects"][0]["detail"] == "a whole number of too many digits"
