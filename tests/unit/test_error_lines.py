"""Every error says what failed, why, and what to do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "negmem"
NOTHING_TO_DO = {"not_confirmed"}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_error_has_its_three_lines(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id not in ("NegmemError", "UsageError") or len(node.args) < 2:
            continue
        code = node.args[0]
        if isinstance(code, ast.Constant) and code.value in NOTHING_TO_DO:
            continue
        given = {keyword.arg for keyword in node.keywords}
        assert given >= {"why", "hint"} or None in given, (
            f"line {node.lineno}: {sorted(map(str, given))}"
        )
