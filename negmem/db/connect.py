"""One database: connections, transactions, and what every command needs to know about it first."""

from __future__ import annotations

import contextlib
import logging
import os
import re
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
from negmem.db.refusals import is_starting, refusal
from negmem.db.sqlfiles import Queries, blocks, fill
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Connection = psycopg.Connection[TupleRow]
log = logging.getLogger("negmem.sql")
# The end of a pipeline on a lost connection is told by the error itself, not by a line of the driver besides.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_RETRY_WAIT_S = 0.25


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
            if time.monotonic() >= deadline or not is_starting(reason):
                raise refusal(self.target, reason)
            time.sleep(_RETRY_WAIT_S)

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

    def run_alone(self, noun: str, name: str) -> None:
        """Run one named query that no transaction may hold (VACUUM); it waits for locks without limit."""
        statement = self.queries(noun, name)
        try:
            self.connection.execute(statement)
        except psycopg.Error as error:
            raise self.explained(translate(error, str(statement))) from error

    def _run(self, cursor: Any, statement: LiteralString, params: dict[str, Any] | None) -> Any:
        started = time.perf_counter()
        person = self._whose(params)
        try:
            if not self._in_transaction:
                return self._run_in_own(cursor, statement, params, person)
            if person is not None and self._told != person:
                self.connection.execute(blocks("row_security")["person"], {"user_id": person})
                self._told = person
            return cursor.execute(statement, params)
        except psycopg.Error as error:
            raise self.explained(translate(error, str(statement))) from error
        finally:
            took_ms = (time.perf_counter() - started) * 1000
            log.debug("%.1f ms  %s", took_ms, " ".join(str(statement).split()))

    def _run_in_own(
        self,
        cursor: Any,
        statement: LiteralString,
        params: dict[str, Any] | None,
        person: str | None,
    ) -> Any:
        """Run it as a transaction of its own, in which it waits for a lock no longer than is set.

        The setting travels ahead in a pipeline, which is one transaction and one round trip: a setting of
        the session would be lost, or left to others, where PgBouncer gives out its connections by transaction.
        """
        connection = cursor.connection
        try:
            with connection.pipeline():
                patience = {"lock_timeout_ms": int(self.lock_timeout_ms)}
                connection.execute(blocks("session")["lock_timeout"], patience)
                if person is not None:
                    connection.execute(blocks("row_security")["person"], {"user_id": person})
                cursor.execute(statement, params)
        except psycopg.Error:
            raise
        except BaseException:
            # What was sent can't be called back: its answers would be taken for those of the next query.
            connection.close()
            raise
        return cursor

    def _whose(self, params: dict[str, Any] | None) -> str | None:
        """Whose rows a statement may see where row-level security shows one user, else None.

        Its parameters say so; a statement that names nobody goes on with the last.
        """
        if not params or self._facts is None or not self._facts.row_security_binds:
            return None
        if "user_id" in params:
            self._person = params["user_id"] or ""
            is_narrow = params["user_id"] is None and self.facts.sees_one_user
            if is_narrow or self.facts.sees_no_rows:
                self.on_narrowed()
        elif several := params.get("users", params.get("thread_users")):
            self._person = several[0] if len(set(several)) == 1 else ""
        return self._person


def operating_system_user() -> str:
    """Who runs this process, for records of who did what."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
