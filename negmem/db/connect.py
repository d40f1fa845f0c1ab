"""One database: connections, transactions, and what every command needs to know about it first."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow, dict_row

from negmem.core.models.grants import PURPOSES
from negmem.db.dsn import Target
from negmem.db.failures import (
    NO_LOCK,
    NO_PRIVILEGE,
    DatabaseError,
    name_grant,
    name_holder,
    name_row,
    translate,
    words_of,
)
from negmem.db.loaders import BoundedMomentLoader
from negmem.db.sqlfiles import Queries, blocks, fill
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Connection = psycopg.Connection[TupleRow]
log = logging.getLogger("negmem.sql")

_RETRY_WAIT_S = 0.25
_STARTING = re.compile(r"starting up|not yet accepting|Connection refused|No such file", re.I)
_CAUSES: tuple[tuple[str, str, str, str], ...] = (
    (
        r"password authentication failed|no password supplied",
        "authentication_failed",
        "the server refuses the login",
        "set PGPASSWORD or ~/.pgpass, or check the user name",
    ),
    (
        r'database "[^"]*" does not exist',
        "database_not_found",
        "there is no such database",
        "",  # names the database: _how_to_make
    ),
    (
        r'role "[^"]*" does not exist|no pg_hba.conf entry|Peer authentication failed|Ident auth',
        "authentication_failed",
        "the server refuses the login",
        "check the user name and the server's pg_hba.conf",
    ),
    (
        r"too many clients|remaining connection slots",
        "too_many_connections",
        "the server has no connection left",
        "close others, or connect through a pooler",
    ),
    (
        r"server does not support SSL, but SSL was required|invalid sslmode value",
        "connection_failed",
        "the server and sslmode do not agree",
        "set sslmode=prefer in the connection string, or PGSSLMODE=prefer",
    ),
    (
        r'definition of service "[^"]*" not found|service file "[^"]*" not found',
        "connection_failed",
        "the service is not defined",
        "look into ~/.pg_service.conf, or name a database with --dsn",
    ),
    (
        r"invalid port number|invalid integer value",
        "connection_failed",
        "a connection parameter is no number",
        "look at PGPORT and the connection string",
    ),
    (
        r"received invalid response to (?:SSL|GSSAPI) negotiation|expected authentication request",
        "connection_failed",
        "what answers there is no PostgreSQL server",
        "check host and port",
    ),
    (
        r"translate host name|resolve host|Name or service not known|name resolution",
        "server_unreachable",
        "the host name can't be resolved",
        "check the host, and that the password in a URL is percent-encoded",
    ),
    (
        r"Connection refused|No such file|timeout|timed out|starting up|unreachable|not yet accept",
        "server_unreachable",
        "no PostgreSQL server answers",
        "negmem doctor --wait 30    waits for a server that is starting",
    ),
)


@dataclass(frozen=True)
class Facts:
    """What the first round trip tells about a database."""

    server_version: int
    server_version_text: str
    database: str
    encoding: str
    role: str
    in_recovery: bool
    read_only: bool
    vector_version: str | None
    vector_schema: str | None
    schema_exists: bool
    ledger_exists: bool
    schema_usable: bool
    row_security_binds: bool = False
    sees_one_user: bool = False
    sees_no_rows: bool = False


class Database:
    """One target and schema, with one connection opened when first needed.

    Holds to transaction poolers: no prepared statements, no session settings, no session locks.
    """

    def __init__(
        self,
        target: Target,
        *,
        schema: str = "negentropy",
        command: str = "negmem",
        wait_s: float = 0,
        connect_timeout_s: int = 5,
        lock_timeout_ms: int = 5_000,
        statement_timeout_ms: int = 60_000,
    ) -> None:
        self.target = target
        self.schema = schema
        self.command = command
        self.wait_s = wait_s
        self.connect_timeout_s = connect_timeout_s
        self.lock_timeout_ms = lock_timeout_ms
        self.statement_timeout_ms = statement_timeout_ms
        self._connection: Connection | None = None
        self._facts: Facts | None = None
        self._in_transaction = False
        self._is_retired = False
        self._is_whole = False
        self._broken: BaseException | None = None
        self._person = ""
        self._told: str | None = None
        self.on_narrowed: Callable[[], None] = lambda: None
        """Called where a statement is about everybody and row-level security shows one user."""

    @property
    def label(self) -> str:
        """Where and as whom, without a password."""
        return self.target.label

    @property
    def connection(self) -> Connection:
        """The connection of this object; reopened when it was lost outside a transaction."""
        if self._connection is None or self._connection.closed:
            if self._in_transaction or self._is_retired:
                raise translate(psycopg.OperationalError())
            self._connection = self.open()
        return self._connection

    def open(self) -> Connection:
        """A new connection in autocommit mode; waits up to `wait_s` for a server that is starting.

        Raises: NegmemError `server_unreachable`, `authentication_failed`, `database_not_found`,
        `too_many_connections` or `connection_failed`.
        """
        # libpq sends it with the start of the session, which poolers follow: a role or database that is set to
        # another style would have the driver refuse every moment that it reads.
        os.environ["PGDATESTYLE"] = "ISO"
        deadline = time.monotonic() + self.wait_s
        params = dict(self.target.params)
        params.setdefault("connect_timeout", str(self.connect_timeout_s))
        params.setdefault("application_name", self.command)
        params["client_encoding"] = "utf8"
        while True:
            reason = ""
            try:
                made = psycopg.connect(
                    make_conninfo("", **params), autocommit=True, prepare_threshold=None
                )
                made.adapters.register_loader("timestamptz", BoundedMomentLoader)
                return made
            except psycopg.Error as error:
                reason = str(error)
            if time.monotonic() >= deadline or not _STARTING.search(reason):
                raise self._connect_error(reason)
            time.sleep(_RETRY_WAIT_S)

    def _connect_error(self, reason: str) -> NegmemError:
        for pattern, code, message, hint in _CAUSES:
            if re.search(pattern, reason):
                said = self._reason(pattern, reason)
                if code == "database_not_found":
                    hint = self._how_to_make(said)
                return NegmemError(
                    code,
                    message,
                    why=f"{said} ({self.label}, from {self.target.origin})",
                    hint=hint,
                )
        return NegmemError(
            "connection_failed",
            "no connection to the database",
            why=f"{self.label}, from {self.target.origin}; the driver's text is withheld, since it"
            " may repeat the connection string",
            hint="check host, port, user and database",
        )

    def _how_to_make(self, said: str) -> str:
        """The command that makes the missing database there, without the password."""
        words = ["createdb"]
        for flag, name in (("-h", "host"), ("-p", "port"), ("-U", "user")):
            if value := self.target.params.get(name):
                words += [flag, value]
        words.append(said.split('"')[1])
        return f"{shlex.join(words)}    or name another one with --dsn"

    @staticmethod
    def _reason(pattern: str, reason: str) -> str:
        found = re.search(pattern, reason)
        return found.group(0) if found else ""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction of this object is open."""
        return self._in_transaction

    def close(self) -> None:
        """Close the connection; what was not committed is rolled back."""
        if self._connection is not None and not self._connection.closed:
            self._connection.close()
        self._connection = None

    @property
    def is_retired(self) -> bool:
        """Whether `retire` was called."""
        return self._is_retired

    def retire(self) -> None:
        """From another thread, where the holder does not answer: closed now, and never opened again."""
        self._is_retired = True
        connection = self._connection
        if connection is not None and connection.lock.acquire(timeout=1):
            try:
                connection.close()
            finally:
                connection.lock.release()

    def forget_facts(self) -> None:
        """Ask again what the database holds: after init or uninstall changed it."""
        self._facts = None

    @property
    def facts(self) -> Facts:
        """What this database is; asked once."""
        if self._facts is None:
            statement = fill(blocks("session")["facts"], {"schema": self.schema})
            with self.connection.cursor(row_factory=dict_row) as cursor:
                row = self._run(cursor, statement, {"schema": self.schema}).fetchone()
            assert row is not None
            self._facts = Facts(**row)
        return self._facts

    @property
    def queries(self) -> Queries:
        """The named queries for this database's schemas."""
        return Queries(self.schema, self.facts.vector_schema or "public")

    @contextmanager
    def transaction(
        self,
        *,
        read_only: bool = False,
        lock_timeout_ms: int | None = None,
        statement_timeout_ms: int | None = None,
    ) -> Iterator[Connection]:
        """A transaction with its own lock and statement timeouts (transaction-local).

        Commits at the end, rolls back on any exception. Does not nest, but inside of `whole`.
        """
        connection = self.connection
        if self._is_whole:
            if self._broken is not None:
                raise self._broken
            try:
                yield connection
            except BaseException as error:
                self._broken = error
                raise
            return
        try:
            connection.execute(
                self.begin_statement(read_only, lock_timeout_ms, statement_timeout_ms)
            )
            self._in_transaction, self._told = True, None
            yield connection
            if connection.info.transaction_status == pq.TransactionStatus.INERROR:
                raise NegmemError(
                    "transaction_aborted",
                    "the transaction was aborted by an earlier error",
                    why="a statement failed and its error was caught",
                    hint="run again with -vv",
                )
            connection.execute(self.queries("session", "commit"))
        except BaseException as error:
            self._roll_back(connection)
            self._in_transaction = False
            if isinstance(error, psycopg.Error):
                raise self.explained(translate(error)) from error
            if isinstance(error, DatabaseError):
                self.explained(error)
            raise
        finally:
            self._in_transaction = False

    @contextmanager
    def whole(self) -> Iterator[None]:
        """A transaction that all those opened inside of it join: what they do is done together or not at all.

        After an error of one of them the others raise it too.
        """
        with self.transaction():
            self._is_whole = True
            try:
                yield
            finally:
                self._is_whole, self._broken = False, None

    def explained(self, error: DatabaseError) -> DatabaseError:
        """The error, with the missing grant named where a privilege is what it lacks, or who holds the lock.

        Asks the catalog, once the transaction that failed is over.
        """
        connection = self._connection
        if error.sqlstate == NO_PRIVILEGE and "row-level security" in error.said:
            return name_row(error, self._person)
        if error.sqlstate not in (NO_PRIVILEGE, NO_LOCK) or connection is None or connection.closed:
            return error
        if connection.info.transaction_status != pq.TransactionStatus.IDLE:
            return error
        if error.sqlstate == NO_LOCK:
            words = {"schema": self.schema, "words": re.findall(r"\w+", error.statement)}
            with contextlib.suppress(psycopg.Error, NegmemError):
                name_holder(error, self.row("session", "lock_holders", words))
            return error
        params = {"schema": self.schema, "words": words_of(error.said)}
        with contextlib.suppress(psycopg.Error):
            statement = fill(blocks("session")["lacking"], {})
            with connection.cursor(row_factory=dict_row) as cursor:
                lacking = cursor.execute(statement, params).fetchall()
            name_grant(error, lacking, self._groups)
        return error

    def _groups(self, kind: str, oid: int, privileges: list[str]) -> list[str]:
        """The roles of `init --roles` that hold these privileges, the one with the least rights first."""
        values = {"schema": self.schema, "kind": kind, "oid": oid, "privileges": privileges}
        statement = fill(blocks("session")["groups_holding"], {})
        with self.connection.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(statement, values).fetchall()
        order = [PURPOSES[key] for key in ("reader", "auditor", "app", "owner")]
        known = [row for row in found if row["purpose"] in order]
        return [row["role"] for row in sorted(known, key=lambda row: order.index(row["purpose"]))]

    def _roll_back(self, connection: Connection) -> None:
        """Roll back; a connection in an unknown state is closed instead, which does the same."""
        status = connection.info.transaction_status
        if status == pq.TransactionStatus.IDLE:
            return
        if status in (pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR):
            with contextlib.suppress(psycopg.Error):
                connection.execute(self.queries("session", "rollback"))
                return
        connection.close()

    def begin_statement(
        self,
        read_only: bool = False,
        lock_timeout_ms: int | None = None,
        statement_timeout_ms: int | None = None,
    ) -> LiteralString:
        """BEGIN with the transaction-local timeouts, as one string for the simple protocol."""
        lock_ms = self.lock_timeout_ms if lock_timeout_ms is None else lock_timeout_ms
        statement_ms = (
            self.statement_timeout_ms if statement_timeout_ms is None else statement_timeout_ms
        )
        block = "begin_read_only" if read_only else "begin"
        values = {"lock_timeout_ms": int(lock_ms), "statement_timeout_ms": int(statement_ms)}
        return fill(blocks("session")[block], values)

    def rows(
        self, noun: str, name: str, params: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """The rows of one named query, as dictionaries, on this object's connection."""
        with self.connection.cursor(row_factory=dict_row) as cursor:
            self._run(cursor, self.queries(noun, name), params)
            return cursor.fetchall() if cursor.description else []

    def row(
        self, noun: str, name: str, params: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The first row of one named query, or None."""
        found = self.rows(noun, name, params)
        return found[0] if found else None

    def execute(self, noun: str, name: str, params: dict[str, Any] | None = None) -> int:
        """Run one named query; returns the number of rows touched."""
        with self.connection.cursor() as cursor:
            return int(self._run(cursor, self.queries(noun, name), params).rowcount)

    def _run(self, cursor: Any, statement: LiteralString, params: dict[str, Any] | None) -> Any:
        started = time.perf_counter()
        try:
            if self._facts is not None and self._facts.row_security_binds:
                return self._run_for_one(cursor, statement, params)
            return cursor.execute(statement, params)
        except psycopg.Error as error:
            raise self.explained(translate(error, str(statement))) from error
        finally:
            took_ms = (time.perf_counter() - started) * 1000
            log.debug("%.1f ms  %s", took_ms, " ".join(str(statement).split()))

    def _run_for_one(
        self, cursor: Any, statement: LiteralString, params: dict[str, Any] | None
    ) -> Any:
        """Run it where row-level security shows one user: told to the transaction, gone with it.

        Whose rows it may see say its parameters; a statement that names nobody goes on with the last.
        """
        if not params:
            return cursor.execute(statement, params)
        if "user_id" in params:
            self._person = params["user_id"] or ""
            is_narrow = params["user_id"] is None and self.facts.sees_one_user
            if is_narrow or self.facts.sees_no_rows:
                self.on_narrowed()
        elif several := params.get("users", params.get("thread_users")):
            self._person = several[0] if len(set(several)) == 1 else ""
        connection = self.connection
        tell = fill(blocks("row_security")["person"], {})
        if self._in_transaction:
            if self._told != self._person:
                connection.execute(tell, {"user_id": self._person})
                self._told = self._person
            return cursor.execute(statement, params)
        with connection.transaction():
            connection.execute(tell, {"user_id": self._person})
            return cursor.execute(statement, params)


def operating_system_user() -> str:
    """Who runs this process, for records of who did what."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
