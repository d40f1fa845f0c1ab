"""Runs the command line as a person would, and keeps what came out."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

import jsonschema

_SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


@functools.cache
def _validator(schema_path: Path) -> Any:
    """Of a schema that is one: tests/test_docs.py checks each, which takes longer than most commands."""
    schema = json.loads(schema_path.read_text(encoding="utf-8"))
    return jsonschema.validators.validator_for(schema)(schema)


@dataclass(frozen=True)
class CliResult:
    """How a command ended; `code` is the exit code."""

    arguments: tuple[str, ...]
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout, checked against its schema."""
        document = json.loads(self.stdout)
        name = str(document["schema"]).removeprefix("negmem.").replace("/", ".v")
        path = _SCHEMAS / f"{name}.json"
        assert path.exists(), f"{path} is missing: tools/generators/documents.py, make generate"
        _validator(path).validate(document)
        return document

    def ok(self) -> CliResult:
        """This result, if the command ended with 0."""
        assert self.code == 0, f"exit {self.code}: {self.arguments}\n{self.stdout}\n{self.stderr}"
        return self


@dataclass(frozen=True)
class CliRunner:
    """`negmem` with a fixed environment and folder.

    A call runs in this process, or with `subprocess=True` as a program of its own (slower; needed
    for signals, closed pipes and start-up).
    """

    env: Mapping[str, str]
    cwd: Path

    def __call__(
        self,
        *arguments: str | Path,
        stdin: str | bytes | None = None,
        env: Mapping[str, str | None] | None = None,
        subprocess: bool = False,
    ) -> CliResult:
        """Run `negmem ARGUMENTS`; `env` adds to the environment, None removes a variable."""
        words = tuple(str(word) for word in arguments)
        merged = self.environment(env)
        data = stdin.encode() if isinstance(stdin, str) else stdin or b""
        return (_in_subprocess if subprocess else _in_process)(words, data, merged, self.cwd)

    def environment(self, extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """The environment that a command gets."""
        merged = {**self.env, **(extra or {})}
        return {name: value for name, value in merged.items() if value is not None}


def _in_subprocess(
    words: tuple[str, ...], stdin: bytes, env: Mapping[str, str], cwd: Path
) -> CliResult:
    done = subprocess.run(
        [sys.executable, "-m", "negmem.cli", *words],
        input=stdin,
        capture_output=True,
        env=dict(env),
        cwd=cwd,
        check=False,
    )
    return CliResult(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def _in_process(
    words: tuple[str, ...], stdin: bytes, env: Mapping[str, str], cwd: Path
) -> CliResult:
    from negmem.cli.main import main

    with (
        mock.patch.dict(os.environ, env, clear=True),
        _working_in(cwd),
        _captured("stdout") as out,
        _captured("stderr") as err,
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
    ):
        code = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
        return CliResult(words, code, out.getvalue().decode(), err.getvalue().decode())


@contextlib.contextmanager
def _captured(stream: str) -> Iterator[io.BytesIO]:
    raw = io.BytesIO()
    replacement: TextIO = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with mock.patch.object(sys, stream, replacement):
        yield raw


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
