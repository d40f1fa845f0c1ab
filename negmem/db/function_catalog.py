"""What the catalog holds of functions, in a form in which equal definitions are equal."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from negmem.db.connect import Connection, Database
from negmem.db.observed import catalog_rows
from negmem.db.sqlfiles import quote_identifier

_VOLATILITY = {"i": "immutable", "s": "stable", "v": "volatile"}
_PARALLEL = {"s": "safe", "r": "restricted", "u": "unsafe"}
_STAMP = re.compile(
    r"\[negmem (?P<version>\S+) template (?P<template>[0-9a-f]{16})"
    r" definition (?P<definition>[0-9a-f]{16})\]\s*\Z"
)
_VECTOR_TYPE = re.compile(r"(?:\"(?:[^\"]|\"\")+\"|\b\w+)\.(vector|halfvec|sparsevec)\b")
_TYPED = ("argument_types", "identity", "arguments", "result")
_HEAD = re.compile(r"\A(?P<act>[A-Z ]+ FUNCTION )(?:\"(?:[^\"]|\"\")+\"|\w+)\.")


@dataclass(frozen=True)
class Definition:
    """One function as the server understands it: what must be equal for two to be the same.

    `identity` has names and types of the parameters, `arguments` their defaults too.
    """

    name: str
    argument_types: str
    identity: str
    arguments: str
    default_count: int
    result: str
    language: str
    volatility: str
    parallel: str
    is_strict: bool
    is_security_definer: bool
    is_leakproof: bool
    settings: tuple[str, ...]
    cost: float
    rows: float
    body: str

    @property
    def signature(self) -> str:
        """Name and parameter types, which tell overloads apart."""
        return f"{self.name}({self.argument_types})"

    @property
    def digest(self) -> str:
        """Sixteen hex digits that change with anything that counts.

        Not with the schema of pgvector's types: who moves the extension has edited no function.
        """
        values = vars(self) | {
            field: _VECTOR_TYPE.sub(r"\1", vars(self)[field]) for field in _TYPED
        }
        text = json.dumps(values, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Stamp:
    """What negmem wrote at the end of a function's comment when it last wrote the function."""

    version: str
    template: str
    definition: str

    def comment(self, purpose: str) -> str:
        """The whole comment: what the function is for, then the stamp."""
        return (
            f"{purpose} [negmem {self.version} template {self.template}"
            f" definition {self.definition}]"
        )


@dataclass(frozen=True)
class LiveFunction:
    """A function that stands in the schema (or, while expectations are made, in pg_temp).

    `grants`: who else may call it, `PUBLIC` or a role, with ` WITH GRANT OPTION` where that is so.
    The owner stands there as `OWNER`.
    """

    oid: int
    definition: Definition
    text: str
    comment: str | None
    owner: str
    grants: tuple[str, ...]

    @property
    def stamp(self) -> Stamp | None:
        """The stamp in its comment, None where there is none."""
        found = _STAMP.search(self.comment or "")
        return Stamp(**found.groupdict()) if found else None

    @property
    def is_as_written(self) -> bool:
        """Whether nobody changed it since negmem wrote it."""
        return self.stamp is not None and self.stamp.definition == self.definition.digest


def live_functions(database: Database, connection: Connection) -> list[LiveFunction]:
    """The functions of the schema, within the caller's transaction."""
    return _read(database, connection, database.schema)


def expected_functions(
    database: Database, connection: Connection, statements: Sequence[str]
) -> list[LiveFunction]:
    """What the server makes of these CREATE statements: tried in pg_temp, and rolled back.

    Raises: psycopg.Error where the server refuses one (no right to make temporary objects, a
    read-only transaction, a body in standard SQL that names what is missing).
    """
    own = quote_identifier(database.schema)
    made = [s.replace(f"FUNCTION {own}.", "FUNCTION pg_temp.", 1) for s in statements]
    connection.execute(database.queries("functions", "savepoint"))
    try:
        connection.execute(database.queries("session", "bodies_unchecked"))
        # The files ship with the program; only the schema of the first name is another.
        connection.execute(";\n".join(s.rstrip("; \n") for s in made))
        return _read(database, connection, None)
    finally:
        connection.execute(database.queries("functions", "rollback_to_savepoint"))
        connection.execute(database.queries("functions", "release_savepoint"))


def _read(database: Database, connection: Connection, schema: str | None) -> list[LiveFunction]:
    rows = catalog_rows(database, connection, "functions", "definitions", {"schema": schema})
    return [_function(database, row) for row in rows]


def _function(database: Database, row: dict[str, Any]) -> LiveFunction:
    own = quote_identifier(database.schema)
    text = _HEAD.sub(lambda found: f"{found['act']}{own}.", _lines(row["definition"]))
    definition = Definition(
        name=row["name"],
        argument_types=row["argument_types"],
        identity=row["identity"],
        arguments=row["arguments"],
        default_count=row["default_count"],
        result=row["result"],
        language=row["language"],
        volatility=_VOLATILITY[row["volatility"]],
        parallel=_PARALLEL[row["parallel"]],
        is_strict=row["is_strict"],
        is_security_definer=row["is_security_definer"],
        is_leakproof=row["is_leakproof"],
        settings=tuple(row["settings"] or ()),
        cost=row["cost"],
        rows=row["rows"],
        body=_lines(row["body"]),
    )
    return LiveFunction(
        row["oid"], definition, text, row["comment"], row["owner"], tuple(row["grants"])
    )


def _lines(text: str) -> str:
    """The text with the line ends of Unix: a file saved elsewhere is no other function."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


REFUSED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.ReadOnlySqlTransaction,
)
"""Why expectations can't be made at all: no TEMP privilege, or a server that takes no writes."""
