"""The managed indexes: what the server makes of a statement, and building one without blocking writers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from negmem import __version__
from negmem.db.connect import Connection, Database
from negmem.db.expected import expected_schema
from negmem.db.failures import DatabaseError, translate
from negmem.db.observed import catalog_rows, observe
from negmem.db.sqlfiles import blocks, fill, quote_identifier
from negmem.errors import NegmemError

_SUFFIX = "_negmem_new"
_TEMPORARY = re.compile(r" ON pg_temp(?:_\d+)?\.")
_STORAGE = re.compile(r" WITH \([^()]*\)")
_HEAD = re.compile(r"\ACREATE (?P<unique>UNIQUE )?INDEX (?P<name>\w+)\s+ON ")
_TABLE = re.compile(r'\A(?:"(?:[^"]|"")+"\.)?(?P<table>\w+)')


def wanted_indexes(schema: str) -> dict[str, str]:
    """The CREATE INDEX of every index that the migrations make, by name."""
    return {
        name: " ".join(str(fill(text, {"schema": schema})).split())
        for name, text in expected_schema().statements.items()
    }


def without_storage(definition: str) -> str:
    """A definition without its storage parameters, which a DBA may tune."""
    return _STORAGE.sub("", definition)


def expected_indexes(
    database: Database, connection: Connection, statements: Mapping[str, str]
) -> dict[str, str]:
    """What the server makes of these statements: tried on empty temporary tables, and rolled back.

    Raises: psycopg.Error where it may not be tried here.
    """
    own = f"{quote_identifier(database.schema)}."
    tables = {name: expected_schema().indexes[name] for name in statements}
    make = [
        str(fill(blocks("drift")["model_table"], {"schema": database.schema, "name": table}))
        for table in sorted(set(tables.values()))
    ]
    make += [text.replace(f" ON {own}", " ON pg_temp.", 1) + ";" for text in statements.values()]
    connection.execute(database.queries("functions", "savepoint"))
    try:
        connection.execute("\n".join(make).encode())
        rows = catalog_rows(database, connection, "drift", "expected_indexes", {})
    finally:
        connection.execute(database.queries("functions", "rollback_to_savepoint"))
        connection.execute(database.queries("functions", "release_savepoint"))
    named = database.schema if re.fullmatch(r"[a-z_][a-z0-9_]*", database.schema) else own[:-1]
    return {
        row["name"]: _TEMPORARY.sub(lambda _: f" ON {named}.", row["definition"], count=1)
        for row in rows
        if row["name"] in statements
    }


def reprinted_indexes(
    database: Database, connection: Connection, definitions: Mapping[str, str]
) -> dict[str, str]:
    """What the server makes of definitions that it printed itself, as a restored dump has them.

    A condition on a varchar is printed with other casts when it was read from such a print; it means
    the same. Raises: psycopg.Error where it may not be tried here.
    """
    own = quote_identifier(database.schema)
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", database.schema)
    printed = database.schema if plain else own
    statements = {
        name: text.replace(f" ON {printed}.", f" ON {own}.", 1)
        for name, text in definitions.items()
    }
    return expected_indexes(database, connection, statements)


def record(database: Database, definitions: Mapping[str, str]) -> None:
    """Write down what the server made of the statements of these indexes."""
    wanted = wanted_indexes(database.schema)
    objects = [
        {
            "kind": "index",
            "name": name,
            "fingerprint": template(wanted[name]),
            "definition": definition,
        }
        for name, definition in definitions.items()
    ]
    if objects:
        values = {"objects": Jsonb(objects), "negmem_version": __version__}
        database.execute("drift", "record", values)


def record_standing(database: Database, connection: Connection) -> None:
    """Write down the indexes that stand as the migrations make them, so that later looks are cheap."""
    observed = observe(database, connection, app="")
    known = {r.name: r.fingerprint for r in observed.records if r.kind == "index"}
    live = {index.name: index.definition for index in observed.indexes}
    new = {
        name: statement
        for name, statement in wanted_indexes(database.schema).items()
        if name in live and known.get(name) != template(statement)
    }
    if new:
        expected = expected_indexes(database, connection, new)
        record(database, {name: text for name, text in expected.items() if live[name] == text})
    if observed.vector.schema is not None and observed.record("extension", "vector") is None:
        record_extension(database, observed.vector.schema)


def record_extension(database: Database, schema: str) -> None:
    """Write down in which schema pgvector stands."""
    found = {"kind": "extension", "name": "vector", "fingerprint": "schema", "definition": schema}
    values = {"objects": Jsonb([found]), "negmem_version": __version__}
    database.execute("drift", "record", values)


def template(statement: str) -> str:
    """Sixteen hex digits of the statement that an index was made from."""
    return hashlib.sha256(statement.encode()).hexdigest()[:16]


def build(database: Database, name: str, statement: str, *, replaces: bool) -> None:
    """Build one index while others read and write; what an interrupted build left is removed first.

    Args: replaces, one of this name stands and gives way only when the new one is there.
    Raises: NegmemError `index_not_built`; the old index then still stands.
    """
    connection = database.connection
    new_name = f"{name}{_SUFFIX}" if replaces else name
    head = _HEAD.match(statement)
    assert head is not None
    table = _TABLE.match(statement[head.end() :])
    assert table is not None
    unique = head["unique"] or ""
    create = f"CREATE {unique}INDEX CONCURRENTLY {quote_identifier(new_name)} ON {statement[head.end() :]}"
    try:
        _wait_for(database, table["table"])
        connection.execute(_statement(database, "drop_index", f"{name}{_SUFFIX}"))
        connection.execute(create.encode())
        if replaces:
            connection.execute(_statement(database, "drop_index", name))
            connection.execute(_statement(database, "rename_index", new_name, new_name=name))
    except (psycopg.Error, DatabaseError) as error:
        failure = translate(error) if isinstance(error, psycopg.Error) else error
        raise NegmemError(
            "index_not_built",
            f"index {name} could not be built",
            why=failure.why,
            hint="negmem sync    builds it again; what was built before stays",
        ) from error


def drop(database: Database, name: str) -> None:
    """Remove one index while others read and write."""
    for row in database.rows("drift", "table_of", {"schema": database.schema, "name": name}):
        _wait_for(database, row["table"])
    try:
        database.connection.execute(_statement(database, "drop_index", name))
    except psycopg.Error as error:
        raise translate(error) from error


def _wait_for(database: Database, table: str) -> None:
    """Whether the table's lock can be had in time: what is built or removed CONCURRENTLY has no transaction to set that in.

    Raises: DatabaseError `lock_timeout`, with the holder.
    """
    with database.transaction() as connection:
        connection.execute(_statement(database, "lock_table", table))


def _statement(database: Database, block: str, name: str, **values: str) -> bytes:
    names = {"schema": database.schema, "name": name, **values}
    return fill(blocks("drift")[block], names).encode()


@contextmanager
def sole_builder(database: Database) -> Iterator[bool]:
    """Whether this process alone builds indexes of the schema now; holds while the block runs.

    The lock is a transaction's on a connection of its own: it ends with the process, poolers included.
    """
    lock = database.queries("drift", "try_index_lock")
    with database.open() as connection:
        # Sent as plain text: a portal of the extended protocol would keep its snapshot, and the build
        # waits for every older snapshot.
        with psycopg.ClientCursor(connection, row_factory=dict_row) as cursor:
            cursor.execute(f"{database.begin_statement()}\n{lock}", {"schema": database.schema})
            while cursor.nextset():
                pass
            row = cursor.fetchone()
        yield bool(row and row["is_had"])
        connection.execute(database.queries("session", "rollback"))
