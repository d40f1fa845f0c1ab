"""docs/role-matrix.md: what each role answers to each command, and what it may do to each table; from what tests hold."""

from __future__ import annotations

import shlex

from negmem.cli.tree import whole_tree
from negmem.core.models.grants import ROLE_KEYS, SCHEMA_OWNED, TABLES
from tools.role_matrix import MATRIX, REFUSED, WITHOUT_ROLE, YES

_HEAD = f"""# Who may do what

<!-- Written by `make generate` from tools/role_matrix.py and negmem/core/models/grants.py: edit those. -->

The four roles of `negmem init --roles` ([roles.md](roles.md)), each command and each table. Two tests call every command
under every role and try every kind of statement on every table, and hold the program to these answers.

## Commands

`{YES}`, or `{REFUSED}` with an error that names what is lacking and the role that has it; else the code of the warning
with which it is done, or of another error.

| command | owner | app | reader | auditor |
| --- | --- | --- | --- | --- |
"""
_TABLES = """## Tables

R reads, W writes (INSERT, UPDATE, DELETE), `-` neither. Nobody but the owner may TRUNCATE, and nobody at all changes or
removes an entry of `memory_audit_logs`, which is written by `record_audit_entries()`.

| table | owner | app | reader | auditor |
| --- | --- | --- | --- | --- |
"""


def role_matrix() -> str:
    """The whole document."""
    tree = whole_tree()
    answers: dict[str, list[set[str]]] = {}
    for case in MATRIX:
        name = " ".join(tree.find(shlex.split(case.line)).words)
        cells = answers.setdefault(name, [set() for _ in ROLE_KEYS])
        for cell, said in zip(cells, case[1:], strict=True):
            cell.add(said)
    commands = "\n".join(
        f"| `{name}` | {' | '.join(_answer(cell) for cell in cells)} |"
        for name, cells in answers.items()
    )
    without = "\n".join(f"| `{name}` | {why} |" for name, why in WITHOUT_ROLE.items())
    tables = "\n".join(
        f"| `{name}` | {' | '.join((SCHEMA_OWNED.get(name, 'RW'), *map(_may, given)))} |"
        for name, given in TABLES.items()
    )
    return (
        f"{_HEAD}{commands}\n\nOf no database role:\n\n| command | because |\n| --- | --- |\n{without}\n\n"
        f"{_TABLES}{tables}\n"
    )


def _answer(said: set[str]) -> str:
    """Where several lines of one command answer differently, all of them."""
    return " or ".join(one if one in (YES, REFUSED) else f"`{one}`" for one in sorted(said))


def _may(privileges: str) -> str:
    if "(" in privileges:
        return "R, not its key"
    words = privileges.split()
    return ("R" if "SELECT" in words else "") + ("W" if "INSERT" in words else "") or "-"
