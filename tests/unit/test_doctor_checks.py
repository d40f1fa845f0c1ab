"""The registry of checks: codes, pages, what they need, and remedies that can be typed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import negmem.core.diagnostics as diagnostics
from negmem.cli.tree import whole_tree
from negmem.core.diagnostics.registry import AREAS, REGISTRY
from negmem.core.diagnostics.runner import describe

ROOT = Path(__file__).parents[2]
SOURCES = sorted(Path(diagnostics.__file__).parent.rglob("*.py"))
CHECKS = describe().checks


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_slug_is_check_is_page(check: object) -> None:
    from negmem.core.models.diagnosis import CheckDescription

    assert isinstance(check, CheckDescription)
    assert REGISTRY.checks[check.code].run.__name__ == check.code
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", check.code)
    assert check.area in AREAS
    text = (ROOT / check.page).read_text(encoding="utf-8")
    assert text.startswith(f"# {check.code}\n\nSeverity: ")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == ["What is looked at", "Why", "Remedy"]
    index = (ROOT / "docs" / "doctor" / "index.md").read_text(encoding="utf-8")
    assert f"[{check.code}]({check.code}.md)" in index


def test_what_a_check_needs_runs_before_it() -> None:
    order = [check.code for check in CHECKS]
    for check in CHECKS:
        for needed in check.needs:
            assert order.index(needed) < order.index(check.code), (check.code, needed)


def test_needs_are_followed_to_the_end() -> None:
    wanted = REGISTRY.with_needs(("search_fails",))
    assert {"search_fails", "function_missing", "schema_missing", "server_too_old"} <= wanted


def strings(path: Path) -> list[str]:
    """The string constants of a module, parts of f-strings joined by their neighbours."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            found.append(
                "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X"
                    for part in node.values
                )
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def test_every_command_in_a_remedy_exists() -> None:
    tree = whole_tree()
    names = {command.words[0] for command in tree.commands}
    seen = 0
    for path in SOURCES:
        for text in strings(path):
            for call in re.findall(r"\bnegmem ((?:[a-z-]+ ?)+(?:[-A-Za-z_. ]+)?)", text):
                words = call.split()
                if words[0] not in names:
                    continue
                command = tree.find(words)
                seen += 1
                assert command.words, call
                assert not command.commands, f"{call}: a group is no command"
                flags = {flag for option in command.options for flag in option.flags}
                wrong = [w for w in words if w.startswith("--") and w not in flags]
                assert not wrong, call
    assert seen > 10
