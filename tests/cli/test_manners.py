"""Manners that every command keeps: help, errors, pipes, JSON, colour."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from negmem.cli.tree import Command, whole_tree
from tests.support.cli import CliRunner

ROOT = Path(__file__).parents[2]
COMMANDS = [command for command in whole_tree().walk() if command.words]
LEAVES = [command for command in COMMANDS if not command.commands]
ERROR = json.loads((ROOT / "docs" / "schemas" / "error.v1.json").read_text())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.path)
def test_help_needs_nothing_and_fits_the_screen(run_cli: CliRunner, command: Command) -> None:
    (run_cli.cwd / "negmem.yaml").write_text("curator: [broken\n")
    result = run_cli(*command.words, "--help")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.startswith("Usage: negmem ")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("command", LEAVES, ids=lambda command: command.path)
def test_a_wrong_option_is_a_usage_error_in_text_and_json(
    run_cli: CliRunner, command: Command
) -> None:
    text = run_cli(*command.words, "--no-such-option")
    assert text.code == 2
    assert text.stdout == ""
    lines = text.stderr.splitlines()
    assert lines[0].startswith("error[usage]: no such option: --no-such-option")
    assert [line[:6] for line in lines[1:]] == ["  why:", "  fix:"]
    document = run_cli(*command.words, "--no-such-option", "--json")
    assert document.code == 2
    jsonschema.validate(document.json, ERROR)


@pytest.mark.parametrize("command", LEAVES, ids=lambda command: command.path)
def test_every_command_takes_the_shared_options(command: Command) -> None:
    flags = {flag for option in command.options for flag in option.flags}
    assert flags >= {
        "--dsn", "--config", "--schema", "--app", "--json", "--no-color", "-q", "-v", "--wait",
    }  # fmt: skip
    assert ("--dry-run" in flags) == ("--yes" in flags)


def test_no_command_is_a_usage_error(run_cli: CliRunner) -> None:
    assert run_cli("nothing").code == 2
    unknown = run_cli("nothing", "--json")
    assert unknown.json["error"]["code"] == "usage"
    assert run_cli("memory").code == 2


def test_json_is_plain_utf8_with_the_schema_first(run_cli: CliRunner) -> None:
    (run_cli.cwd / "negmem.yaml").write_text("connection: {app: 客户 😀}\n", encoding="utf-8")
    result = run_cli("config", "show", "connection.app", "--json", subprocess=True)
    assert "客户 😀" in result.stdout
    assert next(iter(result.json)) == "schema"
    assert list(result.json)[-1] == "warnings"


def test_a_pipe_is_not_cut_at_the_width_of_a_screen(run_cli: CliRunner) -> None:
    prefix = "很长的前缀 " * 40
    (run_cli.cwd / "negmem.yaml").write_text(f'embedding: {{query_prefix: "{prefix}x"}}\n')
    env = {"COLUMNS": "40"}
    shown = run_cli("config", "show", "embedding.query_prefix", env=env, subprocess=True)
    assert prefix + "x" in shown.stdout
    assert len(shown.stdout.splitlines()) == 1
    document = run_cli("config", "show", "embedding", "--json", env=env, subprocess=True)
    assert document.json["schema"] == "negmem.config.show/1"


@pytest.mark.parametrize("words", ["config schema", "config show", "--help", "config show --json"])
def test_a_reader_that_leaves_early_is_no_failure(tmp_path: Path, words: str) -> None:
    code = f'set -o pipefail; {sys.executable} -m negmem {words} | head -c 1 >/dev/null; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.stdout, done.stderr.replace("no YAML file: defaults, variables and flags\n", "")
            .replace("automation is what the database stores: negmem config show --stored\n", "")
            ) == ("0\n", "")  # fmt: skip


def test_a_closed_standard_output_is_no_traceback(tmp_path: Path) -> None:
    code = f"{sys.executable} -m negmem config show >&-"
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}])
def test_there_is_no_colour_in_a_pipe(run_cli: CliRunner, env: dict[str, str]) -> None:
    for words in (
        ("config", "show"),
        ("config", "set", "retrieval.limit", "0"),
        ("doctor", "--list"),
    ):
        result = run_cli(*words, env={**env, "FORCE_COLOR": "1"}, subprocess=True)
        assert "\x1b" not in result.stdout + result.stderr


def test_a_full_disk_under_the_output_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m negmem config show >/dev/full"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 1
    assert "error[system_error]" in done.stderr
    assert "No space left on device" in done.stderr
