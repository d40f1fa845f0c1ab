"""The embedded cluster and the state of the schema, for those who run them by hand."""

from __future__ import annotations

import os
from collections.abc import Sequence

from negmem import __version__
from negmem.core import installation
from negmem.core.models.base import Model
from negmem.core.session import Session
from negmem.db import embedded, ledger, sqlfiles
from negmem.errors import NegmemError


class ClusterStatus(Model):
    """The embedded cluster; `url` is a DSN without a password (the socket is the owner's alone)."""

    running: bool
    data_dir: str
    pid: int | None
    server_version: str | None
    url: str


class SchemaStatus(Model):
    """Where migrations stand; `pending` are to be applied."""

    database: str
    server_version: str
    vector_version: str | None
    schema_name: str
    applied: list[str]
    pending: list[str]
    applied_now: list[str]
    dry_run: bool = False


def _described(cluster: embedded.EmbeddedCluster) -> ClusterStatus:
    return ClusterStatus(
        running=cluster.running,
        data_dir=str(cluster.data_dir),
        pid=cluster.pid,
        server_version=cluster.server_version,
        url=cluster.dsn,
    )


def status() -> ClusterStatus:
    """The embedded cluster as it is; starts nothing."""
    return _described(embedded.status())


def start(timeout_s: float = 60) -> ClusterStatus:
    """Make the embedded cluster if there is none, start it if it is stopped."""
    return _described(embedded.start(timeout_s=timeout_s))


def stop(timeout_s: float = 60) -> ClusterStatus:
    """Stop the embedded cluster; what was committed is on disk."""
    return _described(embedded.stop(timeout_s=timeout_s))


def run_psql(session: Session, arguments: Sequence[str]) -> None:
    """Become psql on the session's database; does not return.

    The password goes through the environment, never through the process list.
    """
    params = dict(session.database.target.params)
    environment = dict(os.environ)
    password = params.pop("password", None)
    if password is not None:
        environment["PGPASSWORD"] = password
    environment.setdefault("PGAPPNAME", f"negmem db psql {__version__}")
    program = embedded.client_program("psql")
    pairs = [f"{key}={_quoted(value)}" for key, value in params.items()]
    os.execve(program, [str(program), " ".join(pairs), *arguments], environment)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def migrate(session: Session, *, dry_run: bool = False) -> SchemaStatus:
    """Apply the migrations that are due; with `dry_run` only name them.

    Raises: NegmemError `schema_missing` where there is no schema to migrate.
    """
    database = session.database
    if not database.facts.ledger_exists:
        raise NegmemError(
            "schema_missing",
            "negmem is not set up here",
            why=f'schema "{database.schema}" of {database.label} has no ledger of migrations',
            hint="negmem init",
        )
    due = ledger.pending(ledger.applied(database))
    done: list[str] = []
    if due and not dry_run:
        done = installation.install(session).migrations
    return _schema_status(session, done, dry_run)


def upgrade(session: Session, *, dry_run: bool = False) -> SchemaStatus:
    """Bring an installation up to this program: pgvector's SQL, migrations, managed functions.

    Raises: NegmemError `schema_missing`, and as `ledger.pending` before anything is touched.
    """
    database = session.database
    if not database.facts.ledger_exists:
        return migrate(session)
    ledger.pending(ledger.applied(database))
    if not dry_run:
        ledger.update_vector(database)
        done = installation.install(session).migrations
        return _schema_status(session, done, dry_run)
    return _schema_status(session, [], dry_run)


def _schema_status(session: Session, applied_now: list[str], dry_run: bool) -> SchemaStatus:
    database = session.database
    rows = ledger.applied(database)
    have = {row.version for row in rows}
    return SchemaStatus(
        database=database.label,
        server_version=database.facts.server_version_text,
        vector_version=database.facts.vector_version,
        schema_name=database.schema,
        applied=[f"{row.version:04d} {row.name}" for row in rows],
        pending=[
            f"{m.version:04d} {m.name}" for m in sqlfiles.migrations() if m.version not in have
        ],
        applied_now=applied_now,
        dry_run=dry_run,
    )
