"""`doctor` on each server that it meets, and on those that don't answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from tests import servers
from tests.support.databases import TestDatabase
from tests.support.doctor import area, codes, examine, finding, outcome
from tests.support.product import install
from tests.support.standby import Standby
from tests.support.statement_pooler import statement_pooler


@pytest.mark.servers("embedded", "sixteen")
def test_healthy_without_pg_cron(database: TestDatabase) -> None:
    found = examine(database.dsn)
    assert (found.status, found.degraded_reasons) == ("healthy", []), found.findings
    assert found.capabilities.pg_cron_installed is False
    assert found.capabilities.pg_cron_available is False
    assert found.capabilities.pg_cron_logs_accessible is False
    assert found.capabilities.vector_installed is True
    assert found.capabilities.vector_halfvec is True
    assert found.capabilities.vector_bit_distance is True
    assert found.capabilities.vector_iterative_scan is True
    assert "scheduling can't be had here" in area(found, "extensions")
    assert finding(found, "pg_cron_not_installed").severity == "info"
    assert {c.status for c in found.checks} <= {"ok", "found", "skipped"}


@pytest.mark.needs_cron
@pytest.mark.servers("full", "pooled")
def test_healthy_with_pg_cron_in_another_database(
    database: TestDatabase, server_named: Callable[[str], servers.Server]
) -> None:
    home = server_named("full").cron_database
    found = examine(database.dsn)
    assert (found.status, found.degraded_reasons) == ("healthy", []), found.findings
    seen = found.capabilities
    assert (seen.pg_cron_installed, seen.pg_cron_available) == (True, True)
    assert seen.pg_cron_logs_accessible is True
    assert seen.pg_cron_database == home != database.name
    assert f'in "{home}"' in area(found, "extensions")
    assert seen.pooled is (database.server.name == "pooled")


@pytest.mark.servers("bare")
def test_bare_is_unusable_with_both_reasons(empty_database: TestDatabase) -> None:
    found = examine(empty_database.dsn)
    assert found.status == "unusable"
    assert found.degraded_reasons == ["server_too_old", "vector_not_available"]
    assert found.capabilities.vector_installed is False
    assert found.capabilities.pg_cron_installed is True
    assert outcome(found, "schema_missing") == "skipped"


def test_before_init_it_says_init(empty_database: TestDatabase) -> None:
    found = examine(empty_database.dsn)
    assert (found.status, found.degraded_reasons) == ("unusable", ["schema_missing"])
    assert finding(found, "schema_missing").remedy == "negmem init"


@pytest.mark.servers("sixteen")
def test_no_server_is_an_answer(server: servers.Server) -> None:
    for dsn, code in (
        ("postgresql://somebody@127.0.0.1:1/nowhere", "server_unreachable"),
        (server.dsn("there_is_no_such_database"), "database_not_found"),
    ):
        found = examine(dsn)
        assert (found.status, found.degraded_reasons) == ("unusable", [code])
        assert found.capabilities.vector_installed is None
        assert [a.status for a in found.areas][:2] == ["fail", "skip"]
        assert found.areas[1].summary == "held up by connection"
    assert re.fullmatch(
        r"createdb -h \S+ (-p \d+ )?-U postgres there_is_no_such_database    or .*",
        finding(found, "database_not_found").remedy,
    )


def test_an_old_database_encoding_loses_letters(server: servers.Server) -> None:
    name = "negmem_t_latin"
    with psycopg.connect(server.admin_dsn, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        admin.execute(
            f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc"
            " TEMPLATE template0".encode()
        )
        try:
            found = examine(server.dsn(name), only=["letters_lost"])
            assert finding(found, "letters_lost").severity == "fail"
            assert "SQL_ASCII" in finding(found, "letters_lost").evidence
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def in_schema(empty_database: TestDatabase) -> TestDatabase:
    """A database in which pgvector stands in a schema of its own."""
    empty_database.rows("CREATE SCHEMA extensions")
    empty_database.rows("CREATE EXTENSION vector SCHEMA extensions")
    return empty_database


def test_vector_in_another_schema(in_schema: TestDatabase) -> None:
    install(in_schema.dsn)
    found = examine(in_schema.dsn)
    assert (found.status, codes(found)) == ("healthy", [])
    assert found.capabilities.vector_schema == "extensions"
    assert found.capabilities.vector_iterative_scan is True
    assert 'in schema "extensions"' in area(found, "extensions")


def test_default_read_only_is_told(database: TestDatabase) -> None:
    database.rows(f'ALTER DATABASE "{database.name}" SET default_transaction_read_only = on')
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("degraded", ["server_read_only"])
    assert found.capabilities.can_write is False


@pytest.fixture(scope="session")
def standby() -> Iterator[str]:
    """The DSN of a hot standby on which negmem stands: a stopped cluster, started again as one."""
    made = Standby()
    yield made.up()
    made.down()


def test_a_standby_can_be_searched_and_not_written(standby: str) -> None:
    found = examine(standby)
    assert (found.status, codes(found)) == ("degraded", ["server_read_only"]), found.findings
    assert found.capabilities.is_standby is True
    assert "read-only standby" in area(found, "connection")
    assert outcome(found, "search_fails") == "ok"


@pytest.mark.servers("full")
def test_a_pooler_in_statement_mode(server: servers.Server) -> None:
    with statement_pooler(server) as dsn:
        found = examine(dsn)
    assert (found.status, found.degraded_reasons) == ("unusable", ["pooler_in_statement_mode"])
    assert {a.status for a in found.areas} == {"fail", "skip"}


def test_an_extension_older_than_its_library(database: TestDatabase) -> None:
    database.rows("UPDATE pg_extension SET extversion = '0.7.0' WHERE extname = 'vector'")
    found = examine(database.dsn)
    assert found.status == "healthy"
    told = finding(found, "vector_outdated")
    assert told.evidence.startswith("installed 0.7.0, available ")
    assert told.remedy.startswith("ALTER EXTENSION vector UPDATE;")


def test_a_pgvector_without_the_distance_of_bits(empty_database: TestDatabase) -> None:
    empty_database.rows("CREATE EXTENSION vector")
    empty_database.rows("CREATE SCHEMA elsewhere")
    empty_database.rows("ALTER OPERATOR <~> (bit, bit) SET SCHEMA elsewhere")
    found = examine(empty_database.dsn)
    assert found.degraded_reasons == ["vector_too_old", "schema_missing"]
    assert found.capabilities.vector_halfvec is True
    assert found.capabilities.vector_bit_distance is False
    assert "lacks bit distance <~>" in finding(found, "vector_too_old").evidence
