"""Reads a schema of the first design through views of one shape, and moves its rows into the present tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from negmem.db.connect import Connection, Database
from negmem.db.sqlfiles import blocks, fill, quote_identifier

if TYPE_CHECKING:
    from typing_extensions import LiteralString

_VIEW = "first_"


@dataclass(frozen=True)
class FoundTable:
    """A table or view that stands in the schema; `naive` columns hold times without a zone."""

    name: str
    is_table: bool
    columns: tuple[str, ...]
    naive: tuple[str, ...]


def found_tables(database: Database) -> dict[str, FoundTable]:
    """What stands in the schema, by name."""
    rows = database.rows("adoption", "tables", {"schema": database.schema})
    return {
        r["name"]: FoundTable(r["name"], r["is_table"], tuple(r["columns"]), tuple(r["naive"]))
        for r in rows
    }


def schema_exists(database: Database, name: str) -> bool:
    """Whether the database has a schema of this name."""
    return database.row("adoption", "schema_exists", {"name": name}) is not None


def grantees(database: Database) -> list[str]:
    """Who else may use the schema."""
    rows = database.rows("adoption", "grantees", {"schema": database.schema})
    return [row["grantee"] for row in rows]


def statement(database: Database, block: str, **values: str) -> LiteralString:
    """One block of adoption.sql with its own variables."""
    known = {
        "schema": database.schema,
        "vector_schema": database.facts.vector_schema or "public",
        **values,
    }
    return fill(blocks("adoption")[block], known)


def lock(database: Database, connection: Connection, tables: Mapping[str, FoundTable]) -> None:
    """Keep writers out of the old tables until the transaction ends; readers may go on."""
    for name in tables:
        connection.execute(statement(database, "lock", old=database.schema, table=name))


def make_views(
    database: Database,
    connection: Connection,
    shape: Mapping[str, Mapping[str, str]],
    standing: Mapping[str, FoundTable],
) -> None:
    """A temporary view for each table of the first design, with all of its columns.

    Args: shape, table → column → type, `vector` for pgvector's.
    """
    connection.execute(statement(database, "in_utc"))
    for table, columns in shape.items():
        found = standing.get(table)
        parts = [
            statement(
                database,
                "column" if found is not None and name in found.columns else "no_column",
                name=name,
                type=_type(database, kind),
            )
            for name, kind in columns.items()
        ]
        block = "view" if found is not None else "view_of_nothing"
        values = {"view": _VIEW + table, "columns": ", ".join(parts), "table": table}
        connection.execute(statement(database, block, old=database.schema, **values))


def _type(database: Database, kind: str) -> str:
    if kind != "vector":
        return kind
    return f"{quote_identifier(database.facts.vector_schema or 'public')}.vector"


def drop_views(database: Database, connection: Connection, tables: Mapping[str, Any]) -> None:
    """Take the views away: the connection lives on."""
    for table in tables:
        connection.execute(statement(database, "drop_view", view=_VIEW + table))


def count_of(database: Database, connection: Connection, table: str) -> int:
    """The rows of an old table."""
    return _count(connection, statement(database, "count", view=_VIEW + table))


def taken_of(database: Database, connection: Connection, table: str) -> int:
    """The rows of a present table."""
    return _count(connection, statement(database, "taken", table=table))


def _count(connection: Connection, text: LiteralString) -> int:
    row = connection.execute(text).fetchone()
    assert row is not None
    return int(row[0])


def rows(
    database: Database, connection: Connection, block: str, **params: Any
) -> list[dict[str, Any]]:
    """Run one block; the rows that it gives."""
    with connection.cursor(row_factory=dict_row) as cursor:
        # Without parameters the text goes as it stands: it may hold percent signs.
        cursor.execute(statement(database, block), params or None)
        return cursor.fetchall() if cursor.description else []
