"""Compares what a command said with what it said when somebody last read it.

A snapshot is a text file beside the test: the command, its exit code, stdout and stderr. What differs
from run to run (ids, times, ports, folders) is replaced by its name first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import CliResult

_FILTERS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d| UTC)?"), "<time>"),
    (re.compile(r"\d+(\.\d+)? ms\b"), "<n> ms"),
    (re.compile(r"/tmp/[^\s\"',:]*|/private/var/[^\s\"',:]*"), "<folder>"),
)


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of one test module, in the folder `snapshots` beside it."""

    folder: Path
    is_update: bool

    def check(self, name: str, *results: CliResult, hide: dict[str, str] | None = None) -> None:
        """Compare results with the snapshot `name`; `hide` maps texts of this run to their names."""
        text = "\n".join(_shown(result) for result in results)
        for found, label in (hide or {}).items():
            text = text.replace(found, label)
        for pattern, label in _FILTERS:
            text = pattern.sub(label, text)
        path = self.folder / f"{name}.txt"
        if self.is_update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is new: pytest --update-snapshots, then read it"
        assert text == path.read_text(encoding="utf-8")


def _shown(result: CliResult) -> str:
    parts = [f"$ negmem {' '.join(result.arguments)}\n", f"exit {result.code}\n"]
    for label, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text:
            parts.append(f"-- {label}\n{text if text.endswith(chr(10)) else text + chr(10)}")
    return "".join(parts)


@pytest.fixture
def snapshots(request: pytest.FixtureRequest) -> Snapshots:
    """The snapshots beside the test; `--update-snapshots` writes them anew."""
    folder = Path(request.path).parent / "snapshots"
    return Snapshots(folder, bool(request.config.getoption("--update-snapshots")))
