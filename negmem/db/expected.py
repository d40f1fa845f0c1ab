"""What the migrations make, read from their text: tables with their columns, and indexes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from negmem.db.sqlfiles import blocks, migrations

_STATEMENT = re.compile(
    r"""
    ^CREATE\ TABLE\ (?:IF\ NOT\ EXISTS\ )?:"schema"\.(?P<table>\w+)\ \((?P<body>.*?)^\)
  | ^CREATE\ (?:UNIQUE\ )?INDEX\ (?:CONCURRENTLY\ )?(?:IF\ NOT\ EXISTS\ )?(?P<index>\w+)\s+
        ON\ (?:ONLY\ )?:"schema"\.(?P<on>\w+)[^;]*
  | ^ALTER\ TABLE\ :"schema"\.(?P<altered>\w+)\s+(?P<act>ADD|DROP)\ COLUMN\s+
        (?:IF\ (?:NOT\ )?EXISTS\ )?(?P<column>\w+)
  | ^DROP\ (?P<kind>TABLE|INDEX)\ (?:CONCURRENTLY\ )?(?:IF\ EXISTS\ )?:"schema"\.(?P<dropped>\w+)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_COLUMN = re.compile(r"^    ([a-z_][a-z0-9_]*) ", re.MULTILINE)


@dataclass
class ExpectedSchema:
    """Tables with their columns; indexes that have a name of their own, with table and statement."""

    tables: dict[str, list[str]] = field(default_factory=dict)
    indexes: dict[str, str] = field(default_factory=dict)
    statements: dict[str, str] = field(default_factory=dict)

    def drop_index(self, name: str) -> None:
        """Forget one index."""
        del self.indexes[name], self.statements[name]


@cache
def expected_schema() -> ExpectedSchema:
    """The schema as it stands after the last migration that ships."""
    found = ExpectedSchema()
    for text in (blocks("ledger")["create_ledger"], *(m.text for m in migrations())):
        for match in _STATEMENT.finditer(text):
            _apply(found, match)
    return found


def _apply(found: ExpectedSchema, match: re.Match[str]) -> None:
    if match["table"]:
        found.tables[match["table"]] = _COLUMN.findall(match["body"])
    elif match["index"]:
        found.indexes[match["index"]] = match["on"]
        found.statements[match["index"]] = match[0].strip()
    elif match["altered"]:
        columns = found.tables[match["altered"]]
        if match["act"] == "ADD":
            columns.append(match["column"])
        else:
            columns.remove(match["column"])
    elif match["kind"] == "TABLE":
        del found.tables[match["dropped"]]
        for name in [i for i, table in found.indexes.items() if table == match["dropped"]]:
            found.drop_index(name)
    else:
        found.drop_index(match["dropped"])
