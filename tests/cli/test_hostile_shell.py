"""What a shell can do to a program: closed streams, bytes that are no text."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from negmem.core import memories
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.signals import hear_interrupts

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", ["uninstall", "ingest - --user ada", "memory list --user ada"])
def test_a_closed_standard_input_is_no_bug(
    database: TestDatabase, tmp_path: Path, words: str
) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m negmem {words} <&-"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NEGMEM_DSN": database.dsn},
    )  # fmt: skip
    code, error = {
        "uninstall": (2, "confirmation_needed"),
        "ingest - --user ada": (1, "input_empty"),
        "memory list --user ada": (0, ""),
    }[words]
    assert done.returncode == code
    assert error in done.stderr and "internal_error" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("search", "猫", "--user", "{}"),
        ("search", "猫", "--user", "ada", "--thread", "{}"),
        ("search", "猫", "--user", "ada", "--type", "{}"),
        ("search", "猫", "--user", "ada", "--app", "{}"),
        ("context", "猫", "--user", "ada", "--thread", "{}"),
        ("memory", "add", "猫", "--user", "ada", "--thread", "{}"),
        ("memory", "list", "--user", "ada", "--thread", "{}"),
        ("memory", "list", "--user", "ada", "--type", "{}"),
        ("ingest", "talk.jsonl", "--user", "ada", "--thread", "{}"),
        ("curator", "prune", "--user", "{}", "--max-count", "1", "--yes"),
    ],
    ids=lambda words: " ".join(words),
)
def test_bytes_that_are_no_text_are_a_usage_error(
    negmem: CliRunner, words: tuple[str, ...]
) -> None:
    talk = '{"turns": [{"role": "user", "text": "猫"}]}\n'
    (negmem.cwd / "talk.jsonl").write_text(talk, encoding="utf-8")
    no_text = b"a\xff".decode("utf-8", "surrogateescape")
    done = negmem(*(no_text if word == "{}" else word for word in words), subprocess=True)
    assert done.code == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("target:")]
    assert lines[0].startswith("error[") and len(lines) == 3


@pytest.mark.parametrize("module", ["negmem", "negmem.cli"])
def test_ctrl_c_while_the_program_loads_leaves_no_trace(tmp_path: Path, module: str) -> None:
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}, cwd=tmp_path,
        preexec_fn=hear_interrupts,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_in_a_command_is_told_in_text_and_json(
    negmem: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(memories, "list_memories", interrupt)
    text = negmem("memory", "list", "--user", "ada")
    assert (text.code, text.stdout) == (130, "")
    assert text.stderr.startswith("error[interrupted]")
    document = negmem("memory", "list", "--user", "ada", "--json")
    assert (document.code, document.json["error"]["code"]) == (130, "interrupted")
