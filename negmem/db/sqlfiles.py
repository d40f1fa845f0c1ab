"""Finds the SQL that ships with negmem and fills its psql-style variables.

A variable is written as psql would read it: `:"name"` is an identifier, `:'name'` a string literal and
`:name` bare text (numbers). Dollar-quoted bodies, string literals and comments are left as they stand, so
that a DBA who runs the same file with `psql -v name=value` gets the same statement.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from negmem.errors import NegmemError
from negmem.shipped import data_dir

if TYPE_CHECKING:
    from typing_extensions import LiteralString

_TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<dollar>\$(?P<tag>[A-Za-z_]\w*)?\$.*?\$(?P=tag)\$|\$\$.*?\$\$)
  | (?P<cast>::)
  | :"(?P<identifier>[A-Za-z_]\w*)"
  | :'(?P<literal>[A-Za-z_]\w*)'
  | (?<![:\w]):(?P<bare>[A-Za-z_]\w*)
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*")
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK = re.compile(r"^-- name: (?P<name>[a-z0-9_]+)[ \t]*$", re.MULTILINE)
_MIGRATION = re.compile(r"^(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql$")


@dataclass(frozen=True)
class Migration:
    """One forward-only step of the schema; `checksum` is the SHA-256 of the file as shipped."""

    version: int
    name: str
    text: str
    checksum: str


def quote_identifier(name: str) -> str:
    """`name` as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """`text` as a SQL string literal that does not depend on standard_conforming_strings."""
    quoted = "'" + text.replace("'", "''") + "'"
    return " E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted


def fill(text: str, variables: Mapping[str, Any]) -> LiteralString:
    """`text` with its psql variables filled.

    Raises: NegmemError `sql_variable_missing` for a variable that `variables` lacks.
    """

    def replace(match: re.Match[str]) -> str:
        for form, quote in (
            ("identifier", quote_identifier),
            ("literal", quote_literal),
            ("bare", str),
        ):
            name = match.group(form)
            if name is not None:
                if name not in variables:
                    raise NegmemError(
                        "sql_variable_missing",
                        f"no value for the SQL variable {name!r}",
                        why=f"known: {', '.join(sorted(variables))}",
                        hint="this is a bug of negmem; run again with -vv",
                    )
                return quote(str(variables[name]))
        return match.group(0)

    # The files ship with the program and the values are identifiers, numbers or quoted literals.
    return _TOKEN.sub(replace, text)


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, by version."""
    found = []
    for path in sorted((data_dir() / "sql" / "migrations").glob("*.sql")):
        match = _MIGRATION.match(path.name)
        if match is None:
            raise NegmemError(
                "installation_broken",
                f"{path.name} is no migration",
                why="a migration is named NNNN_name.sql",
                hint="pip install --force-reinstall negmem",
            )
        text = path.read_text(encoding="utf-8")
        checksum = hashlib.sha256(text.encode()).hexdigest()
        found.append(Migration(int(match["version"]), match["name"], text, checksum))
    return tuple(found)


# Made by a migration, for its trigger: negmem's, and not managed.
MIGRATION_FUNCTIONS = ("refuse_audit_change",)


@cache
def function_names() -> tuple[str, ...]:
    """The managed functions, one file each."""
    return tuple(sorted(p.stem for p in (data_dir() / "sql" / "functions").glob("*.sql")))


@cache
def function_text(name: str) -> str:
    """The template of one managed function."""
    return (data_dir() / "sql" / "functions" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def blocks(noun: str) -> Mapping[str, str]:
    """The named blocks of sql/queries/<noun>.sql, as templates."""
    text = (data_dir() / "sql" / "queries" / f"{noun}.sql").read_text(encoding="utf-8")
    starts = list(_BLOCK.finditer(text))
    ends = [m.start() for m in starts[1:]] + [len(text)]
    return {m["name"]: text[m.end() : end].strip() for m, end in zip(starts, ends, strict=True)}


@lru_cache(maxsize=512)
def _filled(noun: str, name: str, schema: str, vector_schema: str) -> LiteralString:
    try:
        template = blocks(noun)[name]
    except KeyError:
        raise KeyError(f"sql/queries/{noun}.sql has no block {name!r}") from None
    return fill(template, {"schema": schema, "vector_schema": vector_schema})


@dataclass(frozen=True)
class Queries:
    """The named queries for one schema: `queries("memories", "show")`."""

    schema: str
    vector_schema: str = "public"

    def __call__(self, noun: str, name: str) -> LiteralString:
        """The text of one named block of sql/queries/<noun>.sql."""
        return _filled(noun, name, self.schema, self.vector_schema)
