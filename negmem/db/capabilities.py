"""What a database can carry, asked so that a refusal is "unknown" and never "missing"."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from negmem.core.models.diagnosis import Capabilities
from negmem.db.connect import Database
from negmem.db.cron_probes import LIBRARY, CronFacts, Extension
from negmem.db.failures import DatabaseError
from negmem.db.look import INSUFFICIENT_PRIVILEGE, look


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
    role_connections: int
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
    place: str


@dataclass(frozen=True)
class VectorFacts:
    """pgvector, feature by feature. `usable` False carries `refusal`, the server's words."""

    usable: bool | None = None
    halfvec: bool | None = None
    bit_distance: bool | None = None
    iterative_scan: bool | None = None
    refusal: str = ""


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
        place=_place(database),
    )


def _place(database: Database) -> str:
    """Where the connection leads: host and port, or the folder of the socket."""
    info = database.connection.info
    return info.host if info.host.startswith("/") else f"{info.host}:{info.port}"


def extensions(database: Database, *, timeout_ms: int) -> dict[str, Extension]:
    """vector, pg_cron and age, as far as the server knows them."""
    params = {"names": ["vector", LIBRARY, "age"]}
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
