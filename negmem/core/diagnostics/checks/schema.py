"""Checks of the schema: is negmem set up here, whole, and of this program's version."""

from __future__ import annotations

from negmem.core.adoption import is_first_design
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, check
from negmem.db import ledger
from negmem.db.expected import expected_schema
from negmem.db.sqlfiles import migrations, quote_identifier
from negmem.errors import NegmemError

# Without these no command gets past its first step.
_INDISPENSABLE = ("schema_migrations", "memory_automation_configs", "memories")
_SHOWN = 6


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


@check("schema_missing", "schema", needs=("server_too_old", "letters_lost", "vector_not_available"))
def schema_missing(probe: Probe) -> Found | None:
    """negmem is set up in this database and schema."""
    facts = probe.database.facts
    schema = quote_identifier(probe.database.schema)
    if facts.schema_exists and (facts.ledger_exists or probe.tables):
        return None
    probe.note("schema", "not set up")
    evidence = (
        f"schema {schema} is empty" if facts.schema_exists else f"there is no schema {schema}"
    )
    return Found(
        "negmem is not set up here",
        evidence=evidence,
        remedy="negmem init",
        severity="fail",
        blocks=True,
    )


@check("schema_not_usable", "schema", needs=("schema_missing",))
def schema_not_usable(probe: Probe) -> Found | None:
    """This role may use the schema."""
    if probe.database.facts.schema_usable:
        return None
    schema, role = quote_identifier(probe.database.schema), quote_identifier(probe.server.role)
    probe.note("schema", "no USAGE")
    return Found(
        "this role may not use the schema: every command is refused",
        evidence=f"no USAGE on schema {schema} as {probe.server.role}",
        remedy=f"GRANT USAGE ON SCHEMA {schema} TO {role};",
        severity="fail",
        blocks=True,
    )


@check("schema_foreign", "schema", needs=("schema_not_usable",))
def schema_foreign(probe: Probe) -> Found | None:
    """What stands in the schema is negmem's: there is a ledger of migrations."""
    if probe.database.facts.ledger_exists:
        return None
    probe.note("schema", "not negmem's")
    if is_first_design({name: table["columns"] for name, table in probe.tables.items()}):
        return Found(
            "the schema was made by the first design: negmem has not taken it over yet",
            evidence=f"no ledger of migrations, but: {_listed(sorted(probe.tables))}",
            remedy="negmem init --dry-run    shows what init would take over",
            severity="fail",
            blocks=True,
        )
    return Found(
        "the schema holds tables that negmem did not make",
        evidence=f"no ledger of migrations, but: {_listed(sorted(probe.tables))}",
        remedy="negmem init --schema ANOTHER_NAME",
        severity="fail",
        blocks=True,
    )


@check("table_not_readable", "schema", needs=("schema_foreign",))
def table_not_readable(probe: Probe) -> Found | None:
    """This role may read the tables that search and its own commands need."""
    wanted = ("users", "threads", "events", "facts", "memory_vectors", "memory_terms")
    names = (*_INDISPENSABLE, *wanted, "memory_term_stats", "embedding_models", "fact_vectors")
    refused = [n for n in names if n in probe.tables and not probe.tables[n]["can_read"]]
    if not refused:
        return None
    blocks = any(name in _INDISPENSABLE for name in refused)
    schema, role = quote_identifier(probe.database.schema), quote_identifier(probe.server.role)
    tables = ", ".join(f"{schema}.{name}" for name in refused)
    probe.note("schema", f"{len(refused)} tables unreadable")
    return Found(
        "this role may not read every table: "
        + ("every command is refused" if blocks else "search answers with less than there is"),
        evidence=f"no SELECT on {_listed(refused)} as {probe.server.role}",
        remedy=f"GRANT SELECT ON {tables} TO {role};",
        severity="fail",
        blocks=blocks,
    )


def _applied(probe: Probe) -> list[ledger.Applied]:
    return [ledger.Applied(**row) for row in probe.rows("ledger", "applied")]


@check("schema_newer", "schema", needs=("table_not_readable",))
def schema_newer(probe: Probe) -> Found | None:
    """The schema is not newer than this program."""
    newest = max((m.version for m in migrations()), default=0)
    ahead = [row for row in _applied(probe) if row.version > newest]
    if not ahead:
        return None
    last = ahead[-1]
    probe.note("schema", "newer than this program")
    return Found(
        "the schema is newer than this program, which refuses to touch it",
        evidence=f"migration {last.version:04d} {last.name} was applied by negmem"
        f" {last.negmem_version} on {last.applied_at:%Y-%m-%d}; this program ends at {newest:04d}",
        remedy="pip install --upgrade negmem",
        severity="fail",
        blocks=True,
    )


@check("schema_outdated", "schema", needs=("schema_newer",))
def schema_outdated(probe: Probe) -> Found | None:
    """All migrations that ship are applied."""
    have = {row.version for row in _applied(probe)}
    due = [m for m in migrations() if m.version not in have]
    total = len(migrations())
    probe.note("schema", f"{total - len(due)} of {total} migrations")
    if not due:
        return None
    return Found(
        "the schema is older than this program, which refuses to work on it",
        evidence=f"due: {_listed([f'{m.version:04d} {m.name}' for m in due])}",
        remedy="negmem db migrate",
        severity="fail",
        blocks=True,
    )


@check("migration_changed", "schema", needs=("schema_newer",))
def migration_changed(probe: Probe) -> Found | None:
    """The migrations that were applied are the ones that ship, by checksum."""
    shipped = {m.version: m for m in migrations()}
    changed = [
        row
        for row in _applied(probe)
        if row.version in shipped and shipped[row.version].checksum != row.checksum
    ]
    if not changed:
        probe.note("schema", "checksums match")
        return None
    first = changed[0]
    probe.note("schema", "checksum differs")
    return Found(
        f"migration {first.version:04d} {first.name} is not the one that was applied",
        evidence=f"recorded {first.checksum[:12]} by negmem {first.negmem_version},"
        f" shipped {shipped[first.version].checksum[:12]}",
        remedy=f"pip install 'negmem=={first.negmem_version}'    the version that applied it",
        severity="fail",
        blocks=True,
    )


@check("table_missing", "schema", needs=("schema_outdated",))
def table_missing(probe: Probe) -> Found | None:
    """Every table that the migrations made still stands."""
    missing = [name for name in expected_schema().tables if name not in probe.tables]
    if not missing:
        return None
    probe.note("schema", f"{len(missing)} tables missing")
    return Found(
        "the ledger says that the schema is whole, and tables are missing",
        evidence=f"not there: {_listed(missing)}",
        remedy="pg_restore --schema-only --table=NAME    from a backup; negmem makes no table twice",
        severity="fail",
        blocks=any(name in _INDISPENSABLE for name in missing),
    )


@check("column_missing", "schema", needs=("schema_outdated",))
def column_missing(probe: Probe) -> Found | None:
    """Every column that the migrations made still stands."""
    missing = [
        f"{table}.{column}"
        for table, columns in expected_schema().tables.items()
        if table in probe.tables
        for column in columns
        if column not in probe.tables[table]["columns"]
    ]
    if not missing:
        return None
    probe.note("schema", f"{len(missing)} columns missing")
    return Found(
        "columns are missing: statements that name them fail",
        evidence=f"not there: {_listed(missing)}",
        remedy="restore them from a backup; negmem makes no column twice",
        severity="fail",
    )


@check("timestamp_without_zone", "schema", needs=("schema_foreign",))
def timestamp_without_zone(probe: Probe) -> Found | None:
    """No column holds times without a zone: ages would be off by the host's offset."""
    zoneless = [
        f"{name}.{column}"
        for name, table in probe.tables.items()
        for column in table["zoneless"] or []
    ]
    if not zoneless:
        return None
    first, column = zoneless[0].split(".")
    schema = quote_identifier(probe.database.schema)
    return Found(
        "times without a zone: ages computed from them are off by the writer's offset",
        evidence=f"timestamp without time zone: {_listed(zoneless)}",
        remedy=f"ALTER TABLE {schema}.{first} ALTER COLUMN {column} TYPE timestamptz"
        f" USING {column} AT TIME ZONE 'UTC';    with the zone that the writer was in",
    )


@check("table_not_writable", "schema", needs=("table_not_readable",))
def table_not_writable(probe: Probe) -> Found | None:
    """This role may write what ingest and search record."""
    names = ("memories", "threads", "events", "memory_vectors", "memory_terms", "users")
    refused = [n for n in names if n in probe.tables and not probe.tables[n]["can_write"]]
    if not refused:
        return None
    probe.note("schema", "this role only reads")
    role = quote_identifier(probe.server.role)
    schema = quote_identifier(probe.database.schema)
    return Found(
        "this role only reads: ingest and edits are refused",
        evidence=f"no INSERT and UPDATE on {_listed(refused)} as {probe.server.role}",
        remedy=f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};"
        "    if it should write",
        severity="info",
    )


@check("config_missing", "schema", needs=("schema_outdated", "table_missing"))
def config_missing(probe: Probe) -> Found | None:
    """The database holds a config for this app, its own or the main app's."""
    row = probe.stored_config
    app = probe.session.app
    if row is None:
        return Found(
            "no config is stored: the functions and jobs have nothing to go by",
            evidence="memory_automation_configs has no main row",
            remedy="negmem init",
            severity="fail",
        )
    if row["app_name"] == app:
        return None
    return Found(
        f'the app "{app}" has no config of its own: the main app "{row["app_name"]}" rules it',
        evidence="no row of that name in memory_automation_configs",
        remedy=f"negmem init --app {app}    if it should have its own",
        severity="info",
    )


@check("stored_config_invalid", "schema", needs=("config_missing",))
def stored_config_invalid(probe: Probe) -> Found | None:
    """The stored config can be used."""
    try:
        _ = probe.automation
    except NegmemError as error:
        if error.code != "stored_config_invalid":
            raise
        return Found(
            "the stored config can't be used: sync and the jobs stop at it",
            evidence="; ".join(error.why.splitlines()),
            remedy=error.hint,
            severity="fail",
        )
    return None


@check("config_drifted", "schema", needs=("stored_config_invalid",))
def config_drifted(probe: Probe) -> Found | None:
    """What the YAML declares under automation is what is stored."""
    if probe.session.loaded.declared_automation is None:
        return None
    if probe.plan is None or not probe.plan.config.changes:
        return None
    keys = [change.name for change in probe.plan.config.changes]
    return Found(
        "the YAML declares otherwise than what is stored, and the stored config is what runs",
        evidence=f"{_listed(keys)} (read from {probe.session.loaded.path})",
        remedy="negmem diff    then: negmem sync",
        severity="info",
    )
