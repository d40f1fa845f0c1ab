"""docs/data-inventory.md: what is held about a person, where, and what becomes of it; from the registry."""

from __future__ import annotations

from negmem.core.governance.registry import ERASURES, KINDS, OWNERS, TABLES, Table

_HEAD = """# Data inventory

<!-- Written by `make generate` from negmem/core/governance/registry.py: edit that. -->

Every table of the schema, with each column that can hold personal data. A test holds the list to the catalog of
the database. `pii scan` reads the columns of the kinds text, texts, json, name, person and actor;
`pii fix` rewrites text, texts and json where
the table does not say otherwise.

## What becomes of a kind of column

| kind | what it is | anonymised | exported |
| --- | --- | --- | --- |
"""


def inventory() -> str:
    """The whole document."""
    rows = [
        f"| `{kind}` | {what} | {anonymised} | {'yes' if exported else 'no'} |"
        for kind, (what, anonymised, exported) in KINDS.items()
    ]
    personal = [one for one in TABLES if one.owner != "none"]
    others = [one for one in TABLES if one.owner == "none"]
    parts = [_HEAD + "\n".join(rows), "## Tables that hold rows of a person"]
    parts += [_section(one) for one in personal]
    parts += ["## Tables of the installation, of no person"]
    parts += [_section(one) for one in others]
    return "\n\n".join(parts) + "\n"


def _section(table: Table) -> str:
    lines = [
        f"### {table.name}",
        "",
        f"{table.holds[:1].upper()}{table.holds[1:]}. Owner: {OWNERS[table.owner]}. "
        f"Erasure: {ERASURES[table.erasure]}."
        + ("" if table.is_fixed else f" Not rewritten in place: {table.why_not}."),
    ]
    if table.columns:
        by_kind: dict[str, list[str]] = {}
        for name, kind in table.columns.items():
            by_kind.setdefault(kind, []).append(f"`{name}`")
        lines += ["", "| kind | columns |", "| --- | --- |"]
        lines += [f"| `{kind}` | {', '.join(names)} |" for kind, names in by_kind.items()]
    else:
        lines += ["", "No column holds personal data."]
    return "\n".join(lines)
