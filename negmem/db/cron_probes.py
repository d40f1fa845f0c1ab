"""Probes of pg_cron: its state, the one database it lives in, and what this role may do there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from negmem.core.models.diagnosis import CronState
from negmem.db.connect import Database
from negmem.db.dsn import Target
from negmem.db.failures import DatabaseError
from negmem.db.look import INSUFFICIENT_PRIVILEGE, look, look_if_allowed
from negmem.errors import NegmemError

LIBRARY = "pg_cron"
# Where pg_cron lives by default, tried when this role may not read cron.database_name.
_USUAL_DATABASE = "postgres"


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
        preloaded = LIBRARY in libraries
    else:
        # The setting exists only where the library is loaded, and then it is hidden from this role.
        preloaded = setting is None or named is not None
    if not preloaded:
        return CronFacts("not_preloaded", preloaded=False), None
    home = named or _USUAL_DATABASE
    elsewhere = cron_database(database, extension, home)
    if elsewhere is None:
        return CronFacts("not_created", database=home, preloaded=True), None
    try:
        found = _cron_here(elsewhere, timeout_ms=timeout_ms)
    except NegmemError as error:
        elsewhere.close()
        reason = f'database "{home}": {error.message}'
        if "," in home:
            reason += "; cron.database_name is one name, not a list"
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
