"""Sets negmem up in a database, and takes it out again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field

from negmem.config.automation import effective_automation
from negmem.config.model import Automation
from negmem.core import adoption
from negmem.core.adoption import Adoption
from negmem.core.automation import changes_learning, roles, row_security
from negmem.core.automation.roles import RemovedRoles
from negmem.core.holds import require_no_holds
from negmem.core.models.base import Model
from negmem.core.session import Session
from negmem.db import functions, ledger
from negmem.db.connect import Database
from negmem.db.cron_removal import RemovedJobs, remove_jobs
from negmem.db.roles import RecordedRole
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

_INSTALL_TIMEOUT_MS = 600_000
_LOCK_WAIT_MS = 60_000


@dataclass(frozen=True)
class Installed:
    """What one run of `install` changed; empty lists when everything stood already."""

    migrations: list[str] = field(default_factory=list)
    app_added: bool = False
    model_added: bool = False
    roles_made: list[str] = field(default_factory=list)
    row_security: bool = False
    adopted: Adoption | None = None


class Reach(Model):
    """What `uninstall` would remove. `refused`: why this role may not; nothing is removed then."""

    schema_name: str
    tables: dict[str, int]
    functions: int
    roles: list[str] = Field(default_factory=list)
    kept_roles: dict[str, str] = Field(default_factory=dict)
    jobs: list[str] = Field(default_factory=list)
    kept_jobs: dict[str, str] = Field(default_factory=dict)
    refused: str | None = None
    removed: bool


def plan(session: Session, *, with_roles: bool = False, row_level: bool | None = None) -> list[str]:
    """The SQL that `install` would run, as text. Raises as `install` does, and changes nothing."""
    database = session.database
    ledger.check_server(database)
    facts = database.facts
    statements: list[str] = []
    if not facts.schema_exists or planned_adoption(session) is not None:
        statements.append(database.queries("ledger", "create_schema"))
    if facts.vector_version is None:
        statements.append("CREATE EXTENSION vector;")
    vector_schema = facts.vector_schema or "public"
    statements += ledger.render(database, ledger.pending(ledger.applied(database)), vector_schema)
    values = functions.variables(_automation(session), database.schema, vector_schema)
    statements += [str(text) for text in functions.rendered(values).values()]
    if with_roles:
        roles.check_before(session)
        statements += roles.planned_statements(session)
    if row_level:
        row_security.check_before(session, with_roles=with_roles)
        statements += row_security.planned_statements(session)
    return statements


def planned_adoption(session: Session) -> Adoption | None:
    """What `install` would take over from the first design; None where nothing is to be taken.

    Raises: NegmemError `adoption_refused`, `schema_foreign`.
    """
    facts = session.database.facts
    if not facts.schema_exists or facts.ledger_exists:
        return None
    tables = adoption.recognised(session)
    if tables is None:
        ledger.refuse_foreign(session.database)
        return None
    return adoption.plan(session, tables)


def install(
    session: Session,
    *,
    with_functions: bool = True,
    with_roles: bool = False,
    row_level: bool | None = None,
) -> Installed:
    """Create or complete the schema, the app's config row, the functions and the embedding model.

    Args: with_roles, make the four roles too; where they were asked for once, grants are always completed;
    row_level, turn row-level security on or off (None: as it is, and completed where it is on).
    One transaction under the schema's lock: eight at once end in one result, a killed one leaves nothing.
    Raises: NegmemError as `ledger.check_server`, `ledger.migrate` and `ledger.lock_schema`, and
    `stored_config_invalid` where the main app's config can't be read.
    """
    from psycopg.types.json import Jsonb

    database = session.database
    ledger.check_server(database)
    if database.facts.in_recovery:
        raise NegmemError(
            "read_only_server",
            "the server takes no writes",
            why=f"{database.label} is a standby",
            hint="connect to the primary",
        )
    if with_roles:
        roles.check_before(session)
    if row_level:
        row_security.check_before(session, with_roles=with_roles)
    embedder = session.embedder
    with database.transaction(
        lock_timeout_ms=_LOCK_WAIT_MS, statement_timeout_ms=_INSTALL_TIMEOUT_MS
    ) as connection:
        ledger.lock_schema(database, connection)
        database.forget_facts()
        adopted = adoption.begin(session, connection)
        done = ledger.migrate(database, connection)
        database.execute("installation", "installation")
        if adopted is not None:
            adoption.take_configs(session, connection)
        added = database.row(
            "installation",
            "app_config",
            {
                "app_name": session.app,
                "config": Jsonb(_automation(session)),
                "updated_by": session.actor[:255],
            },
        )
        if added is not None:
            changes_learning.store(session)
        if with_functions or adopted is not None:
            main = database.row("installation", "main_config")
            assert main is not None
            stored = effective_automation(main["config"]).model_dump(mode="json")
            functions.install(database, connection, stored)
        if adopted is not None:
            adoption.finish(session, connection, adopted)
        model_added = embedder is not None and _register(session, embedder) > 0
        made = roles.establish(session, connection) if with_roles else []
        if not with_roles:
            roles.repair(session, connection)
        if row_level is None:
            row_security.repair(session, connection)
        elif row_level:
            row_security.establish(session, connection)
        else:
            row_security.remove(session, connection)
        is_secured = row_security.is_requested(database)
    database.forget_facts()
    return Installed(
        migrations=[f"{m.version:04d} {m.name}" for m in done],
        app_added=added is not None,
        model_added=model_added,
        roles_made=made,
        row_security=is_secured,
        adopted=adopted,
    )


def _automation(session: Session) -> dict[str, Any]:
    """The first automation document of an app: what YAML declares over the defaults."""
    declared = session.config.automation or Automation()
    return declared.model_dump(mode="json")


def _register(session: Session, embedder: Embedder) -> int:
    """Record the embedder as the app's model, if it has none yet."""
    from psycopg.types.json import Jsonb

    from negmem.providers.embedding import identity_of

    calibration = embedder.calibration
    space = {
        "app_name": session.app,
        "provider": embedder.name,
        "model": embedder.model,
        "version": embedder.version,
        "dims": embedder.dims,
    }
    added = session.database.execute(
        "installation",
        "register_model",
        {
            **space,
            "calibration": Jsonb({k: v for k, v in calibration.to_json().items() if k != "mean"}),
            "mean": None if calibration.mean is None else list(calibration.mean),
        },
    )
    if not session.is_embedder_given:
        settings = Jsonb(identity_of(session.config.embedding))
        session.database.execute("embed", "remember", {**space, "settings": settings})
    return added


def reach(session: Session) -> Reach:
    """What an uninstall would remove.

    Raises: NegmemError `schema_missing`, `schema_foreign` for a schema that negmem did not make,
    `uninstall_dependents` where objects elsewhere depend on it, or others' tables stand in it.
    """
    database = session.database
    if not database.facts.schema_exists:
        raise NegmemError(
            "schema_missing",
            "negmem is not set up here",
            why=f'no schema "{database.schema}" in {database.label}',
            hint="name another one with --schema, or another database with --dsn",
        )
    if not database.facts.ledger_exists:
        ledger.refuse_foreign(database)
    params = {"schema": database.schema}
    outside = [r["dependent"] for r in database.rows("installation", "outside_dependents", params)]
    if outside:
        raise NegmemError(
            "uninstall_dependents",
            "objects outside the schema depend on it",
            why="; ".join(outside[:5]),
            hint="drop them first; uninstall removes only what is negmem's",
        )
    foreign = ledger.foreign_tables(database)
    if foreign:
        raise NegmemError(
            "uninstall_dependents",
            "tables that negmem did not make stand in the schema",
            why=", ".join(foreign[:8]),
            hint=f'ALTER TABLE "{database.schema}"."{foreign[0]}" SET SCHEMA public;',
        )
    counted = database.row("installation", "functions_count", params)
    tables = {r["name"]: int(r["rows"]) for r in database.rows("installation", "reach", params)}
    jobs = _jobs(database, tables, dry_run=True)
    made = [role.role for role in _roles(database, tables)]
    may = database.row("installation", "may_remove", {**params, "roles": made})
    assert may is not None
    refused = None
    if not may["may_drop"]:
        refused = f"{may['role']} does not own schema {database.schema}, {may['owner']} does"
    return Reach(
        schema_name=database.schema,
        tables=tables,
        functions=int(counted["functions"]) if counted else 0,
        roles=[name for name in made if name not in may["kept_roles"]],
        kept_roles=dict.fromkeys(may["kept_roles"], f"{may['role']} may not drop it"),
        refused=refused,
        jobs=jobs.removed,
        kept_jobs=jobs.kept,
        removed=False,
    )


def _roles(database: Database, tables: Iterable[str]) -> list[RecordedRole]:
    """The roles that negmem made; none where the schema has not come so far as to record any."""
    return roles.removable(database) if "managed_objects" in tables else []


def _jobs(database: Database, tables: Iterable[str], *, dry_run: bool) -> RemovedJobs:
    """The jobs that negmem scheduled; none where the schema has not come so far as to record any."""
    if not {"managed_objects", "scheduler_leader", "memory_automation_configs"} <= set(tables):
        return RemovedJobs()
    return remove_jobs(database, dry_run=dry_run)


def uninstall(session: Session) -> Reach:
    """Drop the schema with all that stands in it, and the roles that negmem made, where nothing else holds them.

    The extension stays, and so does a run of a job that is under way. Returns what was removed.
    Raises: NegmemError `privilege_missing` where this role does not own the schema, `user_on_hold`, and as `reach`.
    """
    database: Database = session.database
    before = reach(session)
    if before.refused is not None:
        raise NegmemError(
            "privilege_missing",
            "the database role may not remove the schema; nothing was removed",
            why=before.refused,
            hint="connect as the schema's owner, or as a superuser",
        )
    if "users" in before.tables:
        require_no_holds(session)
    # First, since jobs in another database can't go with the schema: sync makes them again.
    jobs = _jobs(database, before.tables, dry_run=False)
    with database.transaction(
        lock_timeout_ms=_LOCK_WAIT_MS, statement_timeout_ms=_INSTALL_TIMEOUT_MS
    ) as connection:
        ledger.lock_schema(database, connection)
        found = reach(session)
        made = _roles(database, found.tables)
        connection.execute(database.queries("installation", "drop_schema"))
        gone: RemovedRoles = roles.remove(database, connection, made)
    database.forget_facts()
    return found.model_copy(
        update={
            "removed": True,
            "roles": gone.removed,
            "kept_roles": gone.kept,
            "jobs": jobs.removed,
            "kept_jobs": jobs.kept,
        }
    )
