"""What the catalog and negmem's own records hold of managed things besides functions: one round trip."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import dict_row

from negmem.db.connect import Connection, Database


@dataclass(frozen=True)
class Record:
    """One row of managed_objects: what negmem wrote, and may therefore change or remove."""

    kind: str
    name: str
    app_name: str | None
    database_name: str
    owner_name: str
    job_id: int | None
    fingerprint: str
    definition: str


@dataclass(frozen=True)
class LiveIndex:
    """One index of the schema; `definition` names everything with its schema."""

    name: str
    table: str
    definition: str
    is_valid: bool
    is_constraint: bool


@dataclass(frozen=True)
class LiveExtension:
    """pgvector: what this database has and what the server's files offer."""

    installed: str | None
    available: str | None
    schema: str | None
    is_ours: bool


@dataclass(frozen=True)
class ActiveModel:
    """The embedding model whose vectors the app's searches read."""

    provider: str
    model: str
    version: str
    dims: int


@dataclass(frozen=True)
class Observed:
    """Everything of one moment."""

    records: list[Record] = field(default_factory=list)
    indexes: list[LiveIndex] = field(default_factory=list)
    vector: LiveExtension = field(default_factory=lambda: LiveExtension(None, None, None, False))
    model: ActiveModel | None = None
    roles_requested: bool = False
    row_security_requested: bool = False

    def record(self, kind: str, name: str) -> Record | None:
        """What negmem recorded of one thing of the whole schema."""
        return next((r for r in self.records if (r.kind, r.name) == (kind, name)), None)


def observe(database: Database, connection: Connection, *, app: str) -> Observed:
    """Read it, inside the caller's transaction. `app`: whose embedding model."""
    params = {"schema": database.schema, "app_name": app}
    row = catalog_rows(database, connection, "drift", "observed", params)[0]
    model = row["model"]
    return Observed(
        records=[Record(**r) for r in row["records"]],
        indexes=[LiveIndex(**r) for r in row["indexes"]],
        vector=LiveExtension(**row["vector"]),
        model=None if model is None else ActiveModel(**model),
        roles_requested=row["roles_requested"],
        row_security_requested=row["row_security_requested"],
    )


def catalog_rows(
    database: Database, connection: Connection, noun: str, name: str, params: dict[str, Any]
) -> list[dict[str, Any]]:
    """The rows of a query that reads definitions, printed the same whatever the session's path is.

    Path and query go as one string: one round trip, and the path is the session's own again.
    """
    query = database.queries(noun, name).rstrip().rstrip(";")
    start = database.queries("drift", "catalog_path")
    end = database.queries("drift", "own_path")
    with psycopg.ClientCursor(connection, row_factory=dict_row) as cursor:
        cursor.execute(f"{start}\n{query};\n{end}", params)
        rows: list[dict[str, Any]] = []
        while True:
            if cursor.description is not None:
                rows = cursor.fetchall()
            if not cursor.nextset():
                return rows
