"""docs/learning-machine-checks.md names all seventy points, and only tests that there are."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "learning-machine-checks.md"


@cache
def named_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def rows() -> dict[str, str]:
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"\| (A?\d+) \| [^|]+ \| ([^|]+) \|", line)
        if match:
            assert match[1] not in found, match[1]
            found[match[1]] = match[2]
    return found


def test_all_seventy_are_held_or_can_not_occur() -> None:
    found = rows()
    assert list(found) == [f"A{n}" for n in range(1, 11)] + [str(n) for n in range(1, 61)]
    for number, held in found.items():
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", held)
        assert named or held.startswith("Can't occur"), number
        for path, name in named:
            assert (ROOT / path).exists() and name in named_in(path), f"{number}: {path}::{name}"
