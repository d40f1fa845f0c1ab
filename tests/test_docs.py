"""The documents agree with the program: commands, error codes, checks, links, generated files."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from negmem.cli.tree import whole_tree
from negmem.config.keys import all_keys
from tools.generate import generated
from tools.generators.documents import DOCUMENTS, schemas

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "negmem"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
WRITTEN = [page for page in PAGES if page.name != "CHANGELOG.md" and page.name != "cli.md"]
_FENCE = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_CALLED = re.compile(r"(?:^|[|;&(]\s*|\$ )negmem((?: +[^\s|;&<>()`#]+)*)", re.MULTILINE)


# sections that stand in the YAML before what reads them: the README says that it is not there yet
AHEAD = ("learning.", "retention.")
# commands that hand stdout to another program
WITHOUT_DOCUMENT = {"db.psql/1", "mcp.serve/1"}


commands_there = cache(whole_tree)


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def commands_in(page: Path) -> list[list[str]]:
    """The words after `negmem` of every command that a page shows in code."""
    text = page.read_text(encoding="utf-8")
    code = _FENCE.findall(text) + _SPAN.findall(_FENCE.sub("", text))
    return [match.split() for part in code for match in _CALLED.findall(part.replace("\\\n", " "))]


@pytest.mark.parametrize("path", list(generated()), ids=lambda path: page_name(path))
def test_what_is_generated_is_current(path: Path) -> None:
    assert path.exists(), "make generate"
    assert path.read_text(encoding="utf-8") == generated()[path], "make generate"


def test_no_generated_file_is_left_over() -> None:
    for folder in ("completions", "docs/schemas"):
        found = {path for path in (ROOT / folder).iterdir() if path.is_file()}
        assert found <= set(generated()), "delete it"


def unknown_in(commands: list[list[str]]) -> list[str]:
    """What of the commands shown does not exist: a command, or an option of one."""
    tree = commands_there()
    wrong = []
    for words in commands:
        plain = [word for word in words if word not in ("…", "...")]
        if not plain or plain[0].startswith("-") or not plain[0].islower():
            continue
        command = tree.find(plain)
        rest = plain[len(command.words) :]
        flags = {flag for option in command.options for flag in option.flags} | {"--help", "-h"}
        if not command.words or (command.commands and rest and not rest[0].startswith("-")):
            wrong.append(" ".join(words))
        wrong += [
            f"{' '.join(words)}: {word}"
            for word in rest
            if word.startswith("--") and word.partition("=")[0].rstrip(".,:") not in flags
        ]
    return wrong


@pytest.mark.parametrize("page", WRITTEN, ids=page_name)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    assert unknown_in(commands_in(page)) == []


def told(node: ast.expr) -> str:
    """The text of an expression as far as it stands there; what is filled in is X."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(told(value) for value in node.values)
    if isinstance(node, ast.BinOp):
        return told(node.left) + told(node.right)
    if isinstance(node, ast.IfExp):
        return f"{told(node.body)} | {told(node.orelse)}"
    return "X"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=page_name)
def test_every_command_that_a_remedy_names_exists(path: Path) -> None:
    texts = [
        told(keyword.value)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in ("hint", "remedy")
    ]
    called = re.compile(r"\bnegmem((?: +[a-z0-9_=.-]+)+)")
    prose = ("as", "there", "makes")
    commands = [match.split() for text in texts for match in called.findall(text)]
    commands = [words for words in commands if words[0] not in prose]
    assert unknown_in(commands) == []


def test_every_command_is_in_the_reference_and_the_common_ones_in_the_readme() -> None:
    reference = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for command in whole_tree().walk():
        if command.words:
            assert f"# {command.path}\n" in reference
            assert command.help or command.summary, command.path
            for option in command.options:
                assert option.help, f"{command.path} {option.name}"
    for readme in ("README.md", "README.zh-CN.md"):
        text = (ROOT / readme).read_text(encoding="utf-8")
        for command in whole_tree().commands:
            assert f"negmem {command.words[0]}" in text, f"{readme}: {command.path}"


def test_both_readmes_say_the_same() -> None:
    shapes = []
    for name in ("README.md", "README.zh-CN.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        lines = [line for block in _FENCE.findall(text) for line in block.splitlines()]
        code = [line.partition("  #")[0].rstrip() for line in lines]
        prose = _FENCE.sub("", text)
        levels = re.findall(r"^#+ ", prose, re.MULTILINE)
        links = [link for link in re.findall(r"\]\(([^)]+)\)", prose) if "README" not in link]
        rows = len(re.findall(r"^\|", prose, re.MULTILINE))
        shapes.append((code, levels, links, rows, prose.count("\n\n")))
    assert shapes[0] == shapes[1]


@cache
def all_calls() -> list[tuple[str, str, ast.Call]]:
    """Every call in negmem/: in which file, of which function or method."""
    return [
        (page_name(path), ast.unparse(node.func).rpartition(".")[2], node)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def calls(name: str) -> list[tuple[str, ast.Call]]:
    """Every call of a function or method of this name in negmem/."""
    return [(place, node) for place, called, node in all_calls() if called == name]


def raised_codes() -> set[str]:
    """The codes that stand literally in calls that make errors and warnings."""
    found = set()
    for maker in ("NegmemError", "UsageError", "Problem", "warn", "EmbedderAbsent"):
        for _, call in calls(maker):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.add(first.value)
    return {code for code in found if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", code)}


def string_constants() -> set[str]:
    return {
        node.value
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_error_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "errors").glob("*.md")} - {"index"}
    assert raised_codes() - pages == set(), "a code without a page in docs/errors"
    known = string_constants() | {
        word
        for path in (ROOT / "sql").rglob("*.sql")
        for word in re.findall(r"\w+", path.read_text())
    }
    assert pages - known == set(), "a page whose code nobody raises"


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "errors").glob("*.md")), ids=page_name)
def test_an_error_page_says_what_why_and_remedy(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {path.stem}\n\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Why", "Remedy"]
    assert 5 <= len(text.splitlines()) <= 40


def test_every_check_of_doctor_has_its_page() -> None:
    from negmem.core.diagnostics.runner import describe

    checks = describe().checks
    pages = {path.stem for path in (ROOT / "docs" / "doctor").glob("*.md")} - {"index"}
    assert {check.code for check in checks} == pages
    for check in checks:
        assert (ROOT / check.page).exists()


def test_every_document_has_its_schema_and_nothing_else_has() -> None:
    firsts = [call.args[0] for _, call in calls("answer") if call.args]
    named = {one.value for one in firsts if isinstance(one, ast.Constant)}
    leaves = (command for command in commands_there().walk() if not command.commands)
    of_commands = {f"{'.'.join(command.words)}/1" for command in leaves}
    assert named | of_commands - WITHOUT_DOCUMENT == set(DOCUMENTS)
    for name, schema in schemas().items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert re.fullmatch(r"[a-z]+([.-][a-z]+)*/[0-9]+", name)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
            assert anchor in slugs, target


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, queue = set(), [ROOT / "README.md"]
    while queue:
        page = queue.pop()
        if page in seen:
            continue
        seen.add(page)
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            file = (page.parent / target).resolve()
            if not re.match(r"[a-z]+:", target) and file.suffix == ".md":
                queue.append(file)
            elif not re.match(r"[a-z]+:", target) and file.is_dir():
                queue += file.glob("*.md")
    assert set(PAGES) - seen == set()


def test_every_key_that_a_page_names_exists() -> None:
    sections = {key.partition(".")[0] for key in all_keys()}
    pattern = re.compile(rf"`((?:{'|'.join(sections)})(?:\.[a-z_]+)+)`")
    known = set(all_keys()) | {key.rpartition(".")[0] for key in all_keys()}
    for page in WRITTEN:
        for key in pattern.findall(page.read_text(encoding="utf-8")):
            assert key in known, f"{page_name(page)}: {key}"


def test_every_key_is_read_by_something() -> None:
    """A key that nothing reads promises what does not happen."""
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if PACKAGE / "config" not in path.parents
    ) + "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "sql").rglob("*.sql"))
    unread = [
        key.path
        for key in all_keys().values()
        if not key.path.startswith(AHEAD) and not re.search(rf"\b{key.attribute}\b", source)
    ]
    assert unread == []
