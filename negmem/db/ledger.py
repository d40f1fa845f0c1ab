"""Applies migrations: all that are due in one transaction, one writer at a time, each recorded."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import errors

from negmem import __version__
from negmem.db.connect import Connection, Database, operating_system_user
from negmem.db.expected import expected_schema
from negmem.db.failures import DatabaseError
from negmem.db.sqlfiles import Migration, fill, migrations
from negmem.errors import NegmemError

MINIMUM_SERVER = 160_000
_LOCK_WAIT_MS = 60_000
_MADE_ALREADY = (
    errors.DuplicateTable,
    errors.DuplicateObject,
    errors.DuplicateColumn,
    errors.DuplicateFunction,
)
_MIGRATION_TIMEOUT_MS = 600_000


@dataclass(frozen=True)
class Applied:
    """One row of the ledger."""

    version: int
    name: str
    checksum: str
    negmem_version: str
    applied_by: str
    applied_from: str
    applied_at: datetime
    took_ms: float


def applied(database: Database) -> list[Applied]:
    """What the ledger records, by version; empty where there is no ledger."""
    if not database.facts.ledger_exists:
        return []
    return [Applied(**row) for row in database.rows("ledger", "applied")]


def pending(done: Sequence[Applied]) -> list[Migration]:
    """The migrations still to apply.

    Raises: NegmemError `schema_newer` where the database is ahead of this program, `migration_changed`
    where a recorded migration is not the one that ships.
    """
    known = {m.version: m for m in migrations()}
    newest = max(known, default=0)
    for row in done:
        if row.version > newest:
            raise NegmemError(
                "schema_newer",
                "the schema is newer than this program",
                why=f"migration {row.version} ({row.name}) was applied by negmem"
                f" {row.negmem_version} on {row.applied_at:%Y-%m-%d}; this is {__version__}, which"
                f" knows {newest}",
                hint="pip install --upgrade negmem",
            )
        if row.version in known and known[row.version].checksum != row.checksum:
            raise NegmemError(
                "migration_changed",
                f"migration {row.version} ({row.name}) is not the one that was applied",
                why=f"recorded {row.checksum[:12]}, shipped {known[row.version].checksum[:12]}",
                hint=f"pip install 'negmem=={row.negmem_version}', or negmem doctor",
            )
    have = {row.version for row in done}
    return [m for m in migrations() if m.version not in have]


def check_server(database: Database) -> None:
    """Refuse, before anything is made, a server that can't carry negmem.

    Raises: NegmemError `server_too_old`, `letters_lost`, `vector_not_available`, `vector_not_created`,
    `vector_too_old`, with every reason that holds in `why`.
    """
    facts = database.facts
    problems: list[tuple[str, str, str, str]] = []
    if facts.encoding != "UTF8":
        problems.append(
            (
                "letters_lost",
                "a database of encoding UTF8 is needed",
                f"this one's encoding is {facts.encoding}, which can't be changed later",
                "CREATE DATABASE negmem ENCODING 'UTF8' TEMPLATE template0;   and name it with --dsn",
            )
        )
    if facts.server_version < MINIMUM_SERVER:
        problems.append(
            (
                "server_too_old",
                "PostgreSQL 16 or newer is needed",
                f"this is PostgreSQL {facts.server_version_text}",
                "upgrade the server",
            )
        )
    if facts.vector_version is None:
        found = database.row("ledger", "vector_available")
        if found is None:
            problems.append(
                (
                    "vector_not_available",
                    "the extension pgvector is needed",
                    "the server has no extension named vector to install",
                    f"apt-get install postgresql-{facts.server_version // 10000}-pgvector",
                )
            )
    else:
        features = database.row("ledger", "vector_features", {"vector_schema": facts.vector_schema})
        if features and not (features["has_halfvec"] and features["has_bit_distance"]):
            problems.append(
                (
                    "vector_too_old",
                    "the installed pgvector lacks halfvec or bit distance",
                    f"extension version {facts.vector_version}; 0.7 or newer is needed",
                    "ALTER EXTENSION vector UPDATE;   as the extension's owner",
                )
            )
    if problems:
        code, message, _, hint = problems[0]
        raise NegmemError(
            code,
            message,
            why="; ".join(why for _, _, why, _ in problems) + f" ({database.label})",
            hint=hint,
        )


def render(database: Database, due: Sequence[Migration], vector_schema: str) -> list[str]:
    """The statements that `migrate` would run, as text."""
    values = _values(database.schema, vector_schema)
    return [f"-- {m.version:04d} {m.name}\n{fill(m.text, values)}" for m in due]


def _values(schema: str, vector_schema: str) -> dict[str, str]:
    from negmem.db.sqlfiles import quote_identifier

    return {
        "schema": schema,
        "vector_schema": vector_schema,
        "events_sequence": f"{quote_identifier(schema)}.events_sequence_num_seq",
    }


def lock_schema(database: Database, connection: Connection) -> None:
    """Take the schema's lock for this transaction, waiting a bounded time.

    Raises: NegmemError `schema_locked`, naming the holder where it can be seen.
    """
    try:
        database.row("ledger", "lock", {"schema": database.schema})
    except DatabaseError as error:
        if error.sqlstate != "55P03":
            raise
        connection.execute(database.queries("session", "rollback"))
        holder = database.row("ledger", "holder", {"schema": database.schema}) or {}
        pid = holder.get("pid")
        raise NegmemError(
            "schema_locked",
            "another process is changing this schema",
            why=f"held by pid {pid} ({holder.get('application_name') or 'unnamed'})"
            if pid
            else "the holder can't be seen by this role",
            hint="wait for it, or end it with SELECT pg_terminate_backend(PID);",
        ) from None


def migrate(database: Database, connection: Connection) -> list[Migration]:
    """Create schema, extension and ledger where missing and apply what is due.

    Runs inside the caller's transaction, which holds the schema's lock: all of it or nothing.
    Returns the migrations that were applied.
    Raises: NegmemError `schema_foreign`, `ledger_incomplete`, `vector_not_created`.
    """
    database.forget_facts()
    facts = database.facts
    if not facts.schema_exists:
        connection.execute(database.queries("ledger", "create_schema"))
    if facts.vector_version is None:
        database.row("ledger", "lock_vector")
        database.forget_facts()
        if database.facts.vector_version is None:
            create_vector(database, connection)
    if not facts.ledger_exists:
        refuse_foreign(database)
        connection.execute(database.queries("ledger", "create_ledger"))
    database.forget_facts()
    vector_schema = database.facts.vector_schema
    assert vector_schema is not None
    due = pending(applied(database))
    for migration in due:
        started = time.monotonic()
        statements = fill(migration.text, _values(database.schema, vector_schema))
        try:
            connection.execute(statements)
        except _MADE_ALREADY as error:
            raise NegmemError(
                "ledger_incomplete",
                "the schema holds more than its ledger records",
                why=f"migration {migration.version:04d} {migration.name}, which the ledger lacks:"
                f" {error.diag.message_primary}",
                hint="negmem init --schema ANOTHER_NAME",
            ) from None
        database.execute(
            "ledger",
            "record",
            {
                "version": migration.version,
                "name": migration.name,
                "checksum": migration.checksum,
                "negmem_version": __version__,
                "applied_from": operating_system_user(),
                "took_ms": (time.monotonic() - started) * 1000,
            },
        )
    return due


def create_vector(database: Database, connection: Connection) -> None:
    """CREATE EXTENSION vector, or say who may."""
    try:
        connection.execute(database.queries("ledger", "create_vector"))
    except (errors.InsufficientPrivilege, errors.FeatureNotSupported) as error:
        raise NegmemError(
            "vector_not_created",
            "the extension pgvector is not installed in this database",
            why=f"{error.diag.message_primary} (as {database.facts.role} on {database.label})",
            hint=f'as a superuser: psql -d {database.facts.database} -c "CREATE EXTENSION vector;"',
        ) from None


def refuse_foreign(database: Database) -> None:
    """Refuse a schema that holds tables but no ledger: never adopt half of something.

    Raises: NegmemError `schema_foreign`, with the tables.
    """
    found = [
        r["name"] for r in database.rows("ledger", "foreign_tables", {"schema": database.schema})
    ]
    if found:
        shown = ", ".join(found[:8]) + (f" and {len(found) - 8} more" if len(found) > 8 else "")
        raise NegmemError(
            "schema_foreign",
            f'schema "{database.schema}" holds tables that negmem did not make',
            why=f"no ledger of migrations, but: {shown}",
            hint="negmem init --schema ANOTHER_NAME",
        )


def foreign_tables(database: Database) -> list[str]:
    """Tables of the schema that no migration made; none are known where the schema is newer than this program."""
    done = applied(database)
    if not done or done[-1].version > max(m.version for m in migrations()):
        return []
    standing = [
        r["name"] for r in database.rows("ledger", "foreign_tables", {"schema": database.schema})
    ]
    return [name for name in standing if name not in expected_schema().tables]


def update_vector(database: Database) -> bool:
    """ALTER EXTENSION vector UPDATE where the server has a newer version; True if it was run.

    Raises: NegmemError `privilege_missing` when the role does not own the extension.
    """
    found = database.row("ledger", "vector_available")
    installed = database.facts.vector_version
    if found is None or installed is None or found["version"] == installed:
        return False
    with database.transaction():
        database.execute("ledger", "update_vector")
    database.forget_facts()
    return True
