"""Probes: what a database can carry, asked so that a refusal is "unknown" and never "missing".

Each probe is one read-only transaction, sent as one string (one round trip, poolers included) and
bounded by a statement timeout.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import pq
from psycopg.rows import dict_row

from negmem.core.models.diagnosis import Capabilities, CronState
from negmem.db.connect import Database
from negmem.db.dsn import Target
from negmem.db.failures import DatabaseError, translate
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from typing_extensions import LiteralString

log = logging.getLogger("negmem.sql")

INSUFFICIENT_PRIVILEGE = "42501"
_LOCK_TIMEOUT_MS = 1_000
_CRON_LIBRARY = "pg_cron"
# Where pg_cron lives by default, tried when this role may not read cron.database_name.
_USUAL_CRON_DATABASE = "postgres"


@dataclass(frozen=True)
class ServerFacts:
    """The server and this connection, as any role may see them."""

    version_number: int
    version: str
    database: str
    role: str
    login_role: str
    is_superuser: bool
    bypasses_row_security: bool
    role_connection_limit: int
    password_valid_until: datetime | None
    encoding: str
    collate_name: str
    ctype_name: str
    locale_provider: str | None
    time_zone: str
    clock: datetime
    backend_pid: int
    is_standby: bool
    read_only_by_default: bool
    max_connections: int
    reserved_connections: int
    used_connections: int
    answered_in_ms: float
    clock_ahead_ms: float
    clock_uncertainty_ms: float
    pooled: bool


@dataclass(frozen=True)
class Extension:
    """One extension: what this database has and what the server's files offer."""

    name: str
    installed_version: str | None
    schema: str | None
    owner: str | None
    is_available: bool
    available_version: str | None


@dataclass(frozen=True)
class VectorFacts:
    """pgvector, feature by feature. `usable` False carries `refusal`, the server's words."""

    usable: bool | None = None
    halfvec: bool | None = None
    bit_distance: bool | None = None
    iterative_scan: bool | None = None
    refusal: str = ""


@dataclass(frozen=True)
class CronFacts:
    """pg_cron: its state, the one database it lives in, and what this role may do there.

    `state` None: this role can't tell. `reason` says why something is unknown.
    """

    state: CronState | None
    database: str | None = None
    is_elsewhere: bool = False
    version: str | None = None
    owner: str | None = None
    jobs_readable: bool | None = None
    runs_readable: bool | None = None
    sees_all_jobs: bool | None = None
    refused_functions: tuple[str, ...] = ()
    can_schedule: bool | None = None
    time_zone: str | None = None
    preloaded: bool | None = None
    reason: str = ""


def look(
    database: Database,
    noun: str,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    timeout_ms: int,
) -> list[dict[str, Any]]:
    """The rows of one named query, in a read-only transaction of its own.

    Raises: DatabaseError with the server's `sqlstate`; the connection stays usable.
    """
    connection = database.connection
    begin = database.begin_statement(True, _LOCK_TIMEOUT_MS, timeout_ms)
    query: LiteralString = database.queries(noun, name).rstrip().rstrip(";")
    started = time.perf_counter()
    cursor = psycopg.ClientCursor(connection, row_factory=dict_row)
    try:
        cursor.execute(f"{begin}\n{query};\nCOMMIT;", params)
        rows: list[dict[str, Any]] = []
        while True:
            if cursor.description is not None:
                rows = cursor.fetchall()
            if not cursor.nextset():
                return rows
    except psycopg.Error as error:
        if connection.info.transaction_status == pq.TransactionStatus.INERROR:
            connection.execute("ROLLBACK")
        raise translate(error) from error
    finally:
        took_ms = (time.perf_counter() - started) * 1000
        log.debug("%.1f ms  %s", took_ms, " ".join(query.split()))


def look_if_allowed(
    database: Database,
    noun: str,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    timeout_ms: int,
) -> list[dict[str, Any]] | None:
    """As `look`, but None where this role may not look."""
    try:
        return look(database, noun, name, params, timeout_ms=timeout_ms)
    except DatabaseError as error:
        if error.sqlstate != INSUFFICIENT_PRIVILEGE:
            raise
        return None


def server_facts(
    database: Database, *, timeout_ms: int, wall_clock: Callable[[], float] = time.time
) -> ServerFacts:
    """What the server is, how far its clock is from this machine's, and whether a pooler is between.

    A pooler is reported only where it is proven: the process that answers is not the one that the
    connection was opened to, or two transactions were answered by different processes.
    """
    sent, started = wall_clock(), time.perf_counter()
    row = look(database, "capabilities", "server", timeout_ms=timeout_ms)[0]
    took_s = time.perf_counter() - started
    ahead_s = row["clock"].timestamp() - (sent + took_s / 2)
    again = look(database, "capabilities", "backend", timeout_ms=timeout_ms)[0]
    pids = {database.connection.info.backend_pid, row["backend_pid"], again["backend_pid"]}
    return ServerFacts(
        **row,
        answered_in_ms=took_s * 1000,
        clock_ahead_ms=ahead_s * 1000,
        clock_uncertainty_ms=took_s * 500,
        pooled=len(pids) > 1,
    )


def extensions(database: Database, *, timeout_ms: int) -> dict[str, Extension]:
    """vector, pg_cron and age, as far as the server knows them."""
    params = {"names": ["vector", _CRON_LIBRARY, "age"]}
    rows = look(database, "capabilities", "extensions", params, timeout_ms=timeout_ms)
    return {row["name"]: Extension(**row) for row in rows}


def vector_facts(database: Database, *, timeout_ms: int) -> VectorFacts:
    """pgvector by doing: one distance of each kind. Only where the extension is installed."""

    def works(name: str) -> tuple[bool | None, str]:
        try:
            rows = look(database, "capabilities", name, timeout_ms=timeout_ms)
        except DatabaseError as error:
            return (None if error.sqlstate == INSUFFICIENT_PRIVILEGE else False), error.why
        return bool(rows[0].get("is_known", True)), ""

    usable, refusal = works("vector_usable")
    if not usable:
        return VectorFacts(usable=False, refusal=refusal)
    return VectorFacts(
        usable=True,
        halfvec=works("vector_halfvec")[0],
        bit_distance=works("vector_bit_distance")[0],
        iterative_scan=works("vector_iterative_scan")[0],
    )


def preloaded_libraries(database: Database, *, timeout_ms: int) -> list[str] | None:
    """The libraries that the server loads at start; None where this role may not read the setting."""
    rows = look_if_allowed(database, "capabilities", "preloaded", timeout_ms=timeout_ms)
    if rows is None:
        return None
    return [name.strip().strip('"') for name in (rows[0]["libraries"] or "").split(",")]


def cron_database(database: Database, extension: Extension | None, home: str) -> Database | None:
    """Another database of the same server, as the same role, to look for pg_cron in.

    None where pg_cron lives here, so that no further connection is needed.
    """
    if extension is not None and extension.installed_version is not None:
        return None
    if home == database.facts.database:
        return None
    target = Target({**database.target.params, "dbname": home}, database.target.origin)
    return Database(target, schema=database.schema, command=database.command)


def cron_facts(
    database: Database, extension: Extension | None, *, timeout_ms: int
) -> tuple[CronFacts, Database | None]:
    """Where pg_cron stands, and the open database it lives in (None where it can't be reached).

    The caller closes that database if it is not `database` itself.
    """
    if extension is not None and extension.installed_version is not None:
        return _cron_here(database, timeout_ms=timeout_ms), database
    if extension is None or not extension.is_available:
        return CronFacts("not_available"), None
    libraries = preloaded_libraries(database, timeout_ms=timeout_ms)
    setting = look_if_allowed(database, "capabilities", "cron_database", timeout_ms=timeout_ms)
    named = setting[0]["database"] if setting else None
    if libraries is not None:
        preloaded = _CRON_LIBRARY in libraries
    else:
        # The setting exists only where the library is loaded, and then it is hidden from this role.
        preloaded = setting is None or named is not None
    if not preloaded:
        return CronFacts("not_preloaded", preloaded=False), None
    home = named or _USUAL_CRON_DATABASE
    elsewhere = cron_database(database, extension, home)
    if elsewhere is None:
        return CronFacts("not_created", database=home, preloaded=True), None
    try:
        found = _cron_here(elsewhere, timeout_ms=timeout_ms)
    except NegmemError as error:
        elsewhere.close()
        reason = f'database "{home}": {error.message}'
        return CronFacts(None, database=named, preloaded=True, reason=reason), None
    if found.state != "created":
        elsewhere.close()
        if named is None:
            reason = f'cron.database_name is hidden from this role; not in "{home}"'
            return CronFacts(None, preloaded=True, reason=reason), None
        return replace(found, database=home, is_elsewhere=True, preloaded=True), None
    return replace(found, database=home, is_elsewhere=True, preloaded=True), elsewhere


def _cron_here(database: Database, *, timeout_ms: int) -> CronFacts:
    """pg_cron in a database that has it: privileges by asking the catalog and by really reading."""
    rows = look(database, "capabilities", "cron_extension", timeout_ms=timeout_ms)
    if not rows:
        return CronFacts("not_created")
    row = rows[0]

    def readable(name: str) -> bool | None:
        try:
            look(database, "capabilities", name, timeout_ms=timeout_ms)
        except DatabaseError as error:
            return False if error.sqlstate in (INSUFFICIENT_PRIVILEGE, "42P01") else None
        return True

    functions = look(database, "capabilities", "cron_functions", timeout_ms=timeout_ms)
    refused = tuple(f["signature"] for f in functions if not f["can_execute"])
    zone = look_if_allowed(database, "capabilities", "cron_time_zone", timeout_ms=timeout_ms)
    needed = {"schedule", "unschedule"}
    allowed = {f["name"] for f in functions if f["can_execute"]}
    return CronFacts(
        "created",
        database=database.facts.database,
        version=row["version"],
        owner=row["owner"],
        jobs_readable=readable("cron_jobs_readable"),
        runs_readable=readable("cron_runs_readable"),
        sees_all_jobs=bool(row["sees_all_jobs"]),
        refused_functions=refused,
        can_schedule=bool(row["can_use_schema"]) and needed <= allowed,
        time_zone=None if zone is None else zone[0]["time_zone"] or "GMT",
        preloaded=True,
    )


def capabilities(
    server: ServerFacts,
    found: Mapping[str, Extension],
    vector: VectorFacts,
    cron: CronFacts,
    libraries: list[str] | None,
) -> Capabilities:
    """All probes as the one answer that `--json` prints."""
    installed = found.get("vector")
    has_vector = installed is not None and installed.installed_version is not None
    age = found.get("age")
    is_created = cron.state == "created"
    return Capabilities(
        vector_installed=has_vector,
        vector_version=installed.installed_version if installed else None,
        vector_available_version=installed.available_version if installed else None,
        vector_schema=installed.schema if installed else None,
        vector_halfvec=vector.halfvec,
        vector_bit_distance=vector.bit_distance,
        vector_iterative_scan=vector.iterative_scan,
        pg_cron_installed=None if cron.state is None else is_created,
        pg_cron_available=cron.jobs_readable
        if is_created
        else (None if cron.state is None else False),
        pg_cron_logs_accessible=cron.runs_readable
        if is_created
        else (None if cron.state is None else False),
        pg_cron_state=cron.state,
        pg_cron_version=cron.version,
        pg_cron_database=cron.database,
        pg_cron_time_zone=cron.time_zone,
        pg_cron_can_schedule=cron.can_schedule,
        pg_cron_sees_all_jobs=cron.sees_all_jobs,
        age_preloaded=None if libraries is None else "age" in libraries,
        age_installed=age is not None and age.installed_version is not None,
        server_version=server.version,
        database=server.database,
        role=server.role,
        role_is_superuser=server.is_superuser,
        encoding=server.encoding,
        time_zone=server.time_zone,
        is_standby=server.is_standby,
        can_write=not (server.is_standby or server.read_only_by_default),
        pooled=server.pooled,
        clock_ahead_ms=round(server.clock_ahead_ms, 1),
    )
