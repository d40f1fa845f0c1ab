"""`doctor` as roles that may not see or do everything: unknown is not missing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.databases import TestDatabase
from tests.support.doctor import area, codes, examine, finding, outcome
from tests.support.roles import as_role, login_role

SCHEMA = "negentropy"


@pytest.fixture
def role(database: TestDatabase) -> Iterator[str]:
    """A login role without any privilege of its own."""
    cron = database.server.cron_database
    with login_role(database.server, database.name, *([cron] if cron else [])) as name:
        yield name


def grant(database: TestDatabase, role: str, *grants: str) -> str:
    """Grant, and return the DSN of the role."""
    for statement in grants:
        database.rows(statement.format(role=f'"{role}"'))
    return as_role(database.dsn, role)


USAGE = f"GRANT USAGE ON SCHEMA {SCHEMA} TO {{role}}"
SELECT = f"GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {{role}}"
WRITE = f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {{role}}"


def test_without_usage_on_the_schema(database: TestDatabase, role: str) -> None:
    found = examine(as_role(database.dsn, role))
    assert (found.status, codes(found)) == ("unusable", ["schema_not_usable"])
    assert finding(found, "schema_not_usable").remedy == (
        f'GRANT USAGE ON SCHEMA "{SCHEMA}" TO "{role}";'
    )


def test_without_select_on_the_tables(database: TestDatabase, role: str) -> None:
    found = examine(grant(database, role, USAGE))
    assert (found.status, codes(found)) == ("unusable", ["table_not_readable"])
    assert "schema_migrations" in finding(found, "table_not_readable").evidence
    assert outcome(found, "schema_outdated") == "skipped"


def test_without_select_on_one_table(database: TestDatabase, role: str) -> None:
    dsn = grant(
        database, role, USAGE, SELECT, f"REVOKE SELECT ON {SCHEMA}.memory_vectors FROM {{role}}"
    )
    found = examine(dsn)
    assert (found.status, codes(found)) == ("degraded", ["table_not_readable"])
    missing = finding(found, "table_not_readable")
    assert missing.evidence == f"no SELECT on memory_vectors as {role}"
    assert f'GRANT SELECT ON "{SCHEMA}".memory_vectors' in missing.remedy


def test_a_reader_is_healthy_and_told_that_it_only_reads(database: TestDatabase, role: str) -> None:
    found = examine(grant(database, role, USAGE, SELECT))
    assert (found.status, codes(found)) == ("healthy", []), found.findings
    assert finding(found, "table_not_writable").severity == "info"
    assert "this role only reads" in area(found, "schema")


def test_a_writer_without_more_is_healthy(database: TestDatabase, role: str) -> None:
    found = examine(grant(database, role, USAGE, SELECT, WRITE))
    assert (found.status, codes(found, "info")) == (
        "healthy",
        ["pg_cron_not_installed", "embedder_absent"],
    )
    assert found.capabilities.role_is_superuser is False


def test_functions_that_may_not_be_called(database: TestDatabase, role: str) -> None:
    dsn = grant(
        database,
        role,
        USAGE,
        SELECT,
        WRITE,
        f"REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA} FROM PUBLIC",
    )
    found = examine(dsn)
    assert (found.status, codes(found)) == ("degraded", ["function_not_executable"])


def test_vector_in_a_schema_that_may_not_be_used(empty_database: TestDatabase) -> None:
    from tests.support.product import install

    empty_database.rows("CREATE SCHEMA extensions")
    empty_database.rows("CREATE EXTENSION vector SCHEMA extensions")
    install(empty_database.dsn)
    with login_role(empty_database.server, empty_database.name) as name:
        dsn = grant(empty_database, name, USAGE, SELECT)
        found = examine(dsn)
        assert found.status == "unusable"
        assert "vector_not_usable" in codes(found)
        assert "permission denied for schema extensions" in (
            finding(found, "vector_not_usable").evidence
        )
        remedy = finding(found, "vector_not_usable").remedy
        empty_database.rows(remedy)
        assert examine(dsn).status == "healthy"


@pytest.mark.servers("sixteen")
def test_a_role_that_may_not_create_the_extension(empty_database: TestDatabase) -> None:
    with login_role(empty_database.server, empty_database.name) as name:
        found = examine(as_role(empty_database.dsn, name))
        assert found.degraded_reasons == ["vector_not_created", "schema_missing"]
        assert "as a superuser" in finding(found, "vector_not_created").remedy


@pytest.mark.needs_cron
def test_cron_of_another_database_that_shows_its_settings_to_nobody(
    database: TestDatabase, role: str
) -> None:
    # cron.database_name is hidden from the role, and pg_cron does not stand in the usual place.
    found = examine(grant(database, role, USAGE, SELECT, WRITE))
    assert (found.status, codes(found)) == ("healthy", []), found.findings
    assert found.capabilities.pg_cron_installed is None
    assert found.capabilities.pg_cron_available is None
    assert outcome(found, "pg_cron_not_installed") == "unknown"
    assert "1 unknown to this role" in area(found, "extensions")


@pytest.mark.needs_cron
def test_cron_seen_and_not_usable(database: TestDatabase, role: str) -> None:
    with psycopg.connect(database.server.admin_dsn, autocommit=True) as admin:
        admin.execute(f'GRANT pg_read_all_settings TO "{role}"'.encode())
    found = examine(grant(database, role, USAGE, SELECT, WRITE))
    seen = found.capabilities
    assert (seen.pg_cron_installed, seen.pg_cron_available) == (True, False)
    assert seen.pg_cron_logs_accessible is False
    assert (found.status, codes(found)) == ("healthy", [])
    assert finding(found, "pg_cron_unavailable").severity == "info"
    enable_cleanup(database)
    found = examine(as_role(database.dsn, role))
    assert found.degraded_reasons[:2] == ["pg_cron_unavailable", "pg_cron_logs_unavailable"]


@pytest.mark.needs_cron
def test_usage_on_cron_is_not_enough_to_schedule(database: TestDatabase, role: str) -> None:
    cron = database.server.dsn(database.server.cron_database or "")
    with psycopg.connect(cron, autocommit=True) as owner:
        owner.execute(f'GRANT USAGE ON SCHEMA cron TO "{role}"'.encode())
        owner.execute(f'GRANT pg_read_all_settings TO "{role}"'.encode())
    found = examine(grant(database, role, USAGE, SELECT, WRITE))
    assert found.capabilities.pg_cron_available is True
    assert found.capabilities.pg_cron_sees_all_jobs is False
    assert f"visible as {role}: 0 of unknown" in area(found, "jobs")
    missing = finding(found, "pg_cron_not_permitted")
    assert "schedule_in_database" in missing.evidence
    assert "GRANT EXECUTE ON FUNCTION cron.schedule_in_database" in missing.remedy
    enable_cleanup(database)
    assert examine(as_role(database.dsn, role)).status == "healthy"
    # Who owns the functions would schedule the job, and has no record of it.
    database.rows(f'ALTER FUNCTION {SCHEMA}.cleanup_low_value_memories OWNER TO "{role}"')
    reasons = examine(as_role(database.dsn, role)).degraded_reasons
    assert {"job_missing", "pg_cron_not_permitted"} <= set(reasons)
    with psycopg.connect(cron, autocommit=True) as owner:
        owner.execute(missing.remedy.split(";   as ")[0].encode())
    assert "pg_cron_not_permitted" not in codes(
        examine(as_role(database.dsn, role)), "info", "warn"
    )


def enable_cleanup(database: TestDatabase) -> None:
    """Switch the job cleanup_memories on in the stored config."""
    database.rows(
        f"UPDATE {SCHEMA}.memory_automation_configs SET config ="
        " jsonb_set(config, '{retention,auto_cleanup_enabled}', 'true')"
    )


def test_a_password_that_ends(database: TestDatabase, role: str) -> None:
    dsn = grant(database, role, USAGE, SELECT, WRITE)
    database.rows(f"ALTER ROLE \"{role}\" VALID UNTIL 'infinity'")
    assert examine(dsn).status == "healthy"
    database.rows(f"ALTER ROLE \"{role}\" VALID UNTIL '2001-01-01'")
    found = examine(dsn)
    assert codes(found) == ["password_expires"]
    assert "valid until 2001-01-01" in finding(found, "password_expires").evidence


def test_a_role_with_few_connections(database: TestDatabase, role: str) -> None:
    dsn = grant(database, role, USAGE, SELECT, WRITE, "ALTER ROLE {role} CONNECTION LIMIT 1")
    found = examine(dsn)
    assert codes(found) == ["connections_short"]
    assert f"role {role}: 1 of 1 in use" in finding(found, "connections_short").evidence
