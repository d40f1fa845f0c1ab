"""Completions: in a real bash from the shipped file, and by asking negmem itself."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from negmem.cli.completion import SCRIPTS, offers
from negmem.cli.tree import root_commands, whole_tree
from negmem.config.keys import all_keys
from tests.support.cli import CliRunner

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "completions" / "negmem.bash"
BASH = ["bash", "--noprofile", "--norc"]


def in_bash(*words: str, cwd: Path | None = None) -> list[str]:
    """What a real bash offers for the last word."""
    line = " ".join(shlex.quote(word) for word in ("negmem", *words))
    code = (
        f"source {shlex.quote(str(SCRIPT))}; COMP_WORDS=({line}); COMP_CWORD={len(words)};"
        ' _negmem; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run([*BASH, "-c", code], capture_output=True, text=True, check=True, cwd=cwd)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["co"], {"config", "completions"}),
        (["config", ""], {"show", "set", "export", "validate", "schema", "path"}),
        (["config", "set", "retrieval.l"], {"retrieval.limit"}),
        (["doctor", "--format", "n"], {"nagios"}),
        (["doctor", "--format", "nagios", "--on"], {"--only"}),
        (["memory", "add", "--type", "e"], {"episodic"}),
        (["memory", "add", "text", "--us"], {"--user"}),
        (["completions", "show", ""], {"bash", "zsh", "fish"}),
        (["completions", "show", "--json", "z"], {"zsh"}),
        (["completions", "show", "--schema", "s", "z"], {"zsh"}),
        (["memory", "list", "--user", "l"], set()),
    ],
)
def test_bash_offers_what_may_stand_there(words: list[str], expected: set[str]) -> None:
    found = set(in_bash(*words))
    assert expected <= found
    assert all(word.startswith(words[-1]) for word in found)
    if not expected:
        assert found == set()


def test_bash_offers_every_command_and_every_key() -> None:
    assert set(in_bash("")) == set(root_commands())
    assert set(in_bash("config", "set", "")) == set(all_keys())


def test_bash_offers_files_where_a_file_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").touch()
    assert in_bash("doctor", "--config", "mi", cwd=tmp_path) == ["mine.yaml"]


def test_every_option_of_every_command_is_offered_by_bash() -> None:
    for command in whole_tree().walk():
        offered = set(in_bash(*command.words, "--"))
        wanted = {flag for option in command.options for flag in option.flags if flag[:2] == "--"}
        assert offered == wanted | {"--help"}, command.path


def test_bash_and_negmem_offer_the_same() -> None:
    asked = (
        ["co"], ["config", ""], ["memory", "add", "--t"], ["doctor", "--format", ""],
        ["doctor", "--only", "emb"], ["config", "set", ""], ["config", "show", "ret"],
        ["automation", "enable", ""],
    )  # fmt: skip
    for words in asked:
        assert in_bash(*words)
        assert sorted(in_bash(*words)) == sorted(word for word, _ in offers(words[:-1], words[-1]))


def read_until(descriptor: int, mark: bytes) -> bytes:
    """What the terminal shows up to a mark; fails after 20 s."""
    seen, deadline = b"", time.monotonic() + 20
    while mark not in seen:
        assert time.monotonic() < deadline, seen
        if select.select([descriptor], [], [], 0.1)[0]:
            seen += os.read(descriptor, 4096)
    return seen


def test_tab_works_in_an_interactive_bash(tmp_path: Path) -> None:
    child, descriptor = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.environ.update(PS1="ready> ", TERM="dumb", PATH="/usr/bin:/bin", INPUTRC="/dev/null")
        os.execvp("bash", [*BASH, "-i"])
    try:
        read_until(descriptor, b"ready> ")
        os.write(descriptor, f"source {shlex.quote(str(SCRIPT))}\n".encode())
        read_until(descriptor, b"\nready> ")
        os.write(descriptor, b"negmem uninst\t--dry\t")
        read_until(descriptor, b"negmem uninstall --dry-run ")
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(descriptor)
        os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"_NEGMEM_COMPLETE": "complete_bash", "COMP_WORDS": "negmem uninst", "COMP_CWORD": "1"},
         "uninstall\n"),
        ({"_NEGMEM_COMPLETE": "complete_bash", "COMP_WORDS": "negmem doctor --format j",
          "COMP_CWORD": "3"}, "json\njunit\n"),
        ({"_NEGMEM_COMPLETE": "complete_bash", "COMP_WORDS": "negmem search 'open", "COMP_CWORD": "2"},
         ""),
        ({"_NEGMEM_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "negmem doctor --format j"},
         "json\njunit\n"),
        ({"_NEGMEM_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "negmem nothing x"}, "_files"),
        ({"_NEGMEM_COMPLETE": "nonsense"}, ""),
        ({"_NEGMEM_COMPLETE": "complete_bash"}, None),
    ],
)  # fmt: skip
def test_negmem_answers_a_shell_without_config_or_database(
    run_cli: CliRunner, env: dict[str, str], expected: str | None
) -> None:
    (run_cli.cwd / "negmem.yaml").write_text("curator: [broken\n")
    nowhere = {"NEGMEM_DSN": "postgresql://nobody@127.0.0.1:1/none", "NEGMEM_CONFIG": "absent.yaml"}
    result = run_cli(env={**env, **nowhere}, subprocess=True)
    assert (result.code, result.stderr) == (0, "")
    if expected is not None:
        assert result.stdout == expected


def test_answering_loads_no_heavy_module() -> None:
    code = (
        "import sys; from negmem.cli.completion import offers; offers(['memory', 'add'], '--');"
        " assert offers(['doctor', '--only'], 'emb'); assert offers(['config', 'set'], 'ret');"
        " print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    assert not {"psycopg", "numpy", "yaml", "pydantic", "rich", "litellm"} & set(loaded)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_show_prints_the_shipped_script(run_cli: CliRunner, shell: str) -> None:
    shipped = (ROOT / "completions" / SCRIPTS[shell]).read_text(encoding="utf-8")
    assert run_cli("completions", "show", shell).ok().stdout == shipped
    assert run_cli("completions", "show", shell, "--json").ok().json["script"] == shipped


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_install_writes_one_file_of_the_users_own(run_cli: CliRunner, shell: str) -> None:
    home = run_cli.cwd / "home"
    env = {"HOME": str(home), "XDG_DATA_HOME": None, "XDG_CONFIG_HOME": None}
    planned = run_cli("completions", "install", shell, "--dry-run", "--json", env=env).ok().json
    assert not home.exists()
    done = run_cli("completions", "install", shell, "--json", env=env).ok().json
    assert done["path"] == planned["path"]
    shipped = (ROOT / "completions" / SCRIPTS[shell]).read_text(encoding="utf-8")
    assert Path(done["path"]).read_text(encoding="utf-8") == shipped
    assert [path for path in home.rglob("*") if path.is_file()] == [Path(done["path"])]
    assert run_cli("completions", "install", shell, "--json", env=env).ok().json["changed"] is False


def test_an_unknown_shell_is_named(run_cli: CliRunner) -> None:
    result = run_cli("completions", "install", "tcsh")
    assert result.code == 2
    assert "known: bash, zsh, fish" in result.stderr
