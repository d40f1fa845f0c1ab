"""docs/cli.md: every command with its arguments and options, as the program itself declares them."""

from __future__ import annotations

from negmem.cli.exits import ExitCode
from negmem.cli.tree import Command, Parameter
from tools.generators.documents import DOCUMENTS

_HEAD = """\
# Command line

Generated from the program (`make generate`); `negmem COMMAND --help` says the same.

Options stand after the command. What every command takes is told once, here:

{shared}

Commands that write also take `--dry-run` (say what would happen, touch nothing) and `--yes` (do not ask).

## Exit codes

| code | meaning |
| --- | --- |
{codes}

An error is three short lines on stderr: what failed, why, what to do. Its code has a page in
[errors](errors/). With `--json` it is one document, [error.v1.json](schemas/error.v1.json), on stdout.

## Commands

"""
_CODES = {
    ExitCode.DONE: "done, and all is as it should be",
    ExitCode.FAILED: "failed",
    ExitCode.USAGE: "the command line or the YAML is wrong; nothing was tried",
    ExitCode.ATTENTION: "done, but it needs attention",
    ExitCode.INTERRUPTED: "interrupted; nothing was left half done",
}
_WRITING = {"--dry-run", "--yes"}


def reference(root: Command) -> str:
    """The text of docs/cli.md."""
    leaves = [command for command in root.walk() if not command.commands]
    names = set.intersection(*({option.name for option in leaf.options} for leaf in leaves))
    shared = [option for option in leaves[0].options if option.name in names]
    codes = "\n".join(f"| {code.value} | {text} |" for code, text in _CODES.items())
    text = _HEAD.format(shared=_table(shared, "option"), codes=codes)
    text += "\n".join(f"- [`{c.path}`](#{_anchor(c)}): {c.summary}" for c in root.commands) + "\n"
    for command in root.commands:
        text += "\n" + "\n".join(_chapter(command, names))
    return text


def _anchor(command: Command) -> str:
    return command.path.replace(" ", "-")


def _chapter(command: Command, shared: set[str]) -> list[str]:
    lines = [f"## {command.path}", ""]
    if command.commands:
        lines += [command.summary or command.help, ""]
        for inner in command.commands:
            lines += _section(inner, shared)
        return lines
    return lines + _body(command, shared)


def _section(command: Command, shared: set[str]) -> list[str]:
    return [f"### {command.path}", "", *_body(command, shared)]


def _body(command: Command, shared: set[str]) -> list[str]:
    words = [command.path]
    for argument in command.arguments:
        name = argument.metavar.strip("[]")
        words.append(name if argument.is_required else f"[{name}]")
    own = [option for option in command.options if option.name not in shared]
    writes = {flag for option in own for flag in option.flags} >= _WRITING
    own = [option for option in own if not set(option.flags) & _WRITING]
    lines = ["```", " ".join(words) + (" [OPTIONS]" if own else ""), "```", "", command.help, ""]
    if command.arguments and any(argument.help for argument in command.arguments):
        lines += [_table(list(command.arguments), "argument"), ""]
    if own:
        lines += [_table(own, "option"), ""]
    if writes:
        lines += ["Writes: takes `--dry-run` and `--yes`.", ""]
    schemas = [name for name in DOCUMENTS if name.partition("/")[0] == ".".join(command.words)]
    if schemas:
        links = ", ".join(f"[{name}](schemas/{schema_file(name)})" for name in schemas)
        lines += [f"`--json`: {links}", ""]
    return lines


def schema_file(name: str) -> str:
    """The file in docs/schemas of a document such as `memory.list/1`."""
    return name.replace("/", ".v") + ".json"


def _table(parameters: list[Parameter], kind: str) -> str:
    rows = [f"| {kind} | meaning |", "| --- | --- |"]
    for parameter in parameters:
        names = ", ".join(f"`{flag}`" for flag in parameter.flags) or f"`{parameter.metavar}`"
        if parameter.flags and parameter.metavar:
            names += f" `{parameter.metavar}`"
        said = parameter.help + (" May be given several times." if _repeats(parameter) else "")
        rows.append(f"| {names} | {said} |".replace("|`", "\\|`"))
    return "\n".join(_escaped(row) for row in rows)


def _repeats(parameter: Parameter) -> bool:
    known = ("several times", "repeated", "more than one")
    return parameter.is_repeatable and not any(word in parameter.help for word in known)


def _escaped(row: str) -> str:
    """A bar inside code would end the cell."""
    cells = row.strip("| ").split(" | ")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
