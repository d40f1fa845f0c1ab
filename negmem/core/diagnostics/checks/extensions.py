"""Checks of pgvector, pg_cron and Apache AGE: what is there, where, and what this role may do with it."""

from __future__ import annotations

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import CannotLookError, Found, NotNeededError, check
from negmem.core.models.diagnosis import Severity
from negmem.db.dsn import EMBEDDED
from negmem.db.sqlfiles import quote_identifier

_OWN = "negmem scheduler run"
_OPEN = ("pooler_in_statement_mode",)


@check("vector_not_available", "extensions", needs=_OPEN)
def vector_not_available(probe: Probe) -> Found | None:
    """The server has pgvector to install."""
    found = probe.extensions.get("vector")
    if found is not None:
        return None
    probe.note("extensions", "pgvector not available")
    major = probe.server.version_number // 10_000
    return Found(
        "the server has no pgvector: vectors can't be stored, and negmem can't be set up",
        evidence="no extension named vector in pg_available_extensions",
        remedy=f"apt-get install postgresql-{major}-pgvector",
        severity="fail",
        blocks=True,
    )


@check("vector_not_created", "extensions", needs=("vector_not_available",))
def vector_not_created(probe: Probe) -> Found | None:
    """pgvector is created in this database."""
    found = probe.extensions["vector"]
    if found.installed_version is not None:
        where = "" if found.schema == "public" else f' in schema "{found.schema}"'
        probe.note("extensions", f"vector {found.installed_version}{where}")
        return None
    probe.note("extensions", "vector not created")
    may_create = probe.row("diagnostics", "vector_may_be_created")["allowed"]
    if may_create and not probe.database.facts.schema_exists:
        raise NotNeededError("init creates it")
    evidence = f"version {found.available_version} is available, pg_extension has no such row"
    if not may_create:
        evidence += f"; {probe.server.role} may not create it"
    return Found(
        "pgvector is not created in this database",
        evidence=evidence,
        remedy="CREATE EXTENSION vector;" + ("" if may_create else "    as a superuser"),
        severity="fail",
        blocks=True,
    )


@check("vector_not_usable", "extensions", needs=("vector_not_created",))
def vector_not_usable(probe: Probe) -> Found | None:
    """This role can compute a distance, wherever the extension stands."""
    if not probe.has_vector:
        raise NotNeededError("init creates it")
    if probe.vector.usable:
        return None
    schema = quote_identifier(probe.extensions["vector"].schema or "public")
    probe.note("extensions", "vector not usable")
    return Found(
        "this role can't use pgvector: every search by meaning fails",
        evidence=f"{probe.vector.refusal} (as {probe.server.role})",
        remedy=f"GRANT USAGE ON SCHEMA {schema} TO {quote_identifier(probe.server.role)};",
        severity="fail",
        blocks=True,
    )


@check("vector_too_old", "extensions", needs=("vector_not_usable",))
def vector_too_old(probe: Probe) -> Found | None:
    """pgvector has halfvec and the distance of bit strings."""
    if not probe.has_vector:
        raise NotNeededError("init creates it")
    missing = [
        name
        for name, works in (
            ("halfvec", probe.vector.halfvec),
            ("bit distance <~>", probe.vector.bit_distance),
        )
        if works is False
    ]
    if not missing:
        return None
    found = probe.extensions["vector"]
    probe.note("extensions", f"without {' and '.join(missing)}")
    return Found(
        "the installed pgvector is too old: 0.7 or newer is needed",
        evidence=f"extension {found.installed_version} lacks {' and '.join(missing)};"
        f" the library offers {found.available_version}",
        remedy=f"ALTER EXTENSION vector UPDATE;    as its owner, {found.owner}",
        severity="fail",
        blocks=True,
    )


@check("vector_outdated", "extensions", needs=("vector_too_old",))
def vector_outdated(probe: Probe) -> Found | None:
    """The extension is as new as the library that the server loads for it."""
    found = probe.extensions["vector"]
    if None in (found.available_version, found.installed_version):
        return None
    if found.available_version == found.installed_version:
        return None
    return Found(
        "pgvector's library is newer than the extension in this database",
        evidence=f"installed {found.installed_version}, available {found.available_version}",
        remedy=f"ALTER EXTENSION vector UPDATE;    as its owner, {found.owner}",
        severity="info",
    )


@check("vector_no_iterative_scan", "extensions", needs=("vector_too_old",))
def vector_no_iterative_scan(probe: Probe) -> Found | None:
    """pgvector can go on scanning an HNSW index until enough rows pass the filter."""
    if probe.vector.iterative_scan is not False:
        return None
    return Found(
        "no iterative scan: a managed HNSW index would return too few rows; the default plan needs none",
        evidence=f"pgvector {probe.extensions['vector'].installed_version} has no"
        " hnsw.iterative_scan; it came with 0.8",
        remedy="upgrade pgvector to 0.8 before asking for HNSW indexes",
        severity="info",
    )


def _counted(probe: Probe) -> Severity:
    """A capability that nothing needs is reported, not counted."""
    return "warn" if probe.needs_cron else "info"


def _cron_named(probe: Probe) -> str:
    cron = probe.cron
    return f"pg_cron {cron.version} in {quote_identifier(cron.database or '?')}"


@check("pg_cron_not_installed", "extensions", needs=_OPEN)
def pg_cron_not_installed(probe: Probe) -> Found | None:
    """pg_cron is there to run the jobs: available, preloaded and created."""
    cron = probe.cron
    if cron.state == "created":
        probe.note("extensions", _cron_named(probe))
        return None
    if cron.state is None:
        probe.note("extensions", "pg_cron unknown")
        raise CannotLookError(cron.reason)
    evidence, remedy = _how_to_get_cron(probe)
    needed = probe.needs_cron
    probe.note(
        "extensions",
        "pg_cron not installed" if needed else "no pg_cron: scheduling can't be had here",
    )
    meaning = (
        f"nothing runs on schedule, and {', '.join(probe.enabled_jobs)} should"
        if needed
        else "scheduling can't be had here; no job waits for it"
    )
    if needed:
        schema = quote_identifier(probe.database.schema)
        call = f"SELECT {schema}.cleanup_low_value_memories();"
        own = "" if remedy == _OWN else f", or by negmem's own: {_OWN}"
        remedy += f"   or from any other scheduler: psql -c '{call}'{own}"
    return Found(meaning, evidence, remedy, severity=_counted(probe))


def _how_to_get_cron(probe: Probe) -> tuple[str, str]:
    """Evidence and remedy for each of the states before `created`."""
    cron = probe.cron
    major = probe.server.version_number // 10_000
    if cron.state == "not_available":
        evidence = "no extension named pg_cron in pg_available_extensions"
        if (
            probe.database.target.origin == EMBEDDED
        ):  # its server comes with negmem, without packages
            return (evidence, _OWN)
        return (evidence, f"apt-get install postgresql-{major}-cron")
    if cron.state == "not_preloaded":
        kept = [name for name in probe.libraries or [] if name]
        libraries = ",".join([*kept, "pg_cron"])
        loaded = ", ".join(kept) or "nothing"
        seen = (
            "shared_preload_libraries can't be read by this role; cron.database_name does not exist"
            if probe.libraries is None
            else f"shared_preload_libraries holds {loaded}"
        )
        return (
            f"available, but not loaded: {seen}",
            f"ALTER SYSTEM SET shared_preload_libraries = {libraries};   then restart the server",
        )
    home = cron.database or probe.server.database
    is_age_loaded = "age" in (probe.libraries or [])
    first = "CREATE EXTENSION IF NOT EXISTS age; " if is_age_loaded else ""
    remedy = f"{first}CREATE EXTENSION pg_cron;"
    if home != probe.server.database:
        remedy = f"psql -d {home} -c '{remedy}'"
    return (f'loaded, but not created; cron.database_name is "{home}"', remedy)


@check("age_not_created", "extensions", needs=_OPEN)
def age_not_created(probe: Probe) -> Found | None:
    """Apache AGE, where it is preloaded, is created in this database too."""
    age = probe.extensions.get("age")
    if age is None:
        raise NotNeededError("Apache AGE is not there")
    if age.installed_version is not None:
        return None
    if probe.libraries is None:
        raise CannotLookError("shared_preload_libraries can't be read by this role")
    if "age" not in probe.libraries:
        return None
    return Found(
        "DROP TABLE, DROP SCHEMA and CREATE EXTENSION pg_cron fail in this database",
        evidence='age is in shared_preload_libraries and not created here: schema "ag_catalog"'
        " does not exist",
        remedy="CREATE EXTENSION age;   or take age out of shared_preload_libraries and restart",
    )


@check("pg_cron_unavailable", "extensions", needs=("pg_cron_not_installed",))
def pg_cron_unavailable(probe: Probe) -> Found | None:
    """This role can read cron.job."""
    cron = probe.cron
    if cron.state != "created":
        raise NotNeededError("pg_cron is not installed")
    if cron.jobs_readable:
        return None
    if cron.jobs_readable is None:
        raise CannotLookError("cron.job did not answer")
    probe.note("extensions", "cron.job unreadable")
    role = quote_identifier(probe.server.role)
    return Found(
        "jobs can't be seen or scheduled by this role",
        evidence=f"no SELECT on cron.job as {probe.server.role} in {_cron_named(probe)}",
        remedy=f"GRANT USAGE ON SCHEMA cron TO {role};   as {cron.owner}; then check again",
        severity=_counted(probe),
    )


@check("pg_cron_logs_unavailable", "extensions", needs=("pg_cron_unavailable",))
def pg_cron_logs_unavailable(probe: Probe) -> Found | None:
    """This role can read cron.job_run_details."""
    cron = probe.cron
    if cron.state != "created":
        raise NotNeededError("pg_cron is not installed")
    if cron.runs_readable:
        return None
    if cron.runs_readable is None:
        raise CannotLookError("cron.job_run_details did not answer")
    role = quote_identifier(probe.server.role)
    return Found(
        "runs of jobs can't be seen: an empty log does not prove that nothing ran",
        evidence=f"no SELECT on cron.job_run_details as {probe.server.role}",
        remedy=f"GRANT SELECT ON cron.job_run_details TO {role};   as {cron.owner}",
        severity=_counted(probe),
    )
