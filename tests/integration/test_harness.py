"""The harness itself: each server is what it says, clones are separate and complete."""

from __future__ import annotations

import psycopg
import pytest

from negmem.db import embedded
from negmem.errors import NegmemError
from tests.servers import Server
from tests.support import databases
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.waiting import eventually

EVERY_SERVER = ("embedded", "full", "sixteen", "bare", "pooled")
CAPABLE = ("embedded", "full", "sixteen", "pooled")


@pytest.mark.servers(*EVERY_SERVER)
def test_each_server_is_what_it_says(server: Server) -> None:
    told = {
        "embedded": ("18", {"vector"}),
        "full": ("17", {"vector", "pg_cron", "age"}),
        "pooled": ("17", {"vector", "pg_cron", "age"}),
        "sixteen": ("16", {"vector"}),
        "bare": ("15", {"pg_cron"}),
    }
    if server.name in told:  # a server of one's own is what it is
        major, extensions = told[server.name]
        assert server.version.startswith(f"PostgreSQL {major}.")
        assert {extension.split()[0] for extension in server.extensions} == extensions


@pytest.mark.servers(*EVERY_SERVER)
def test_text_is_unicode_everywhere(empty_database: TestDatabase) -> None:
    assert empty_database.value("SHOW server_encoding") == "UTF8"
    assert empty_database.value("SELECT lower('ÄÖÜ ÉLAN')") == "äöü élan"
    assert empty_database.value("SELECT '北京' ~ '^\\w+$'") is True


@pytest.mark.needs_vector
@pytest.mark.servers(*CAPABLE)
def test_clone_holds_what_negmem_installs(database: TestDatabase) -> None:
    assert database.value("SELECT count(*) FROM negentropy.memories") == 0
    assert database.value("SELECT '[1,2]'::vector <=> '[1,2]'") == 0


def test_clones_are_separate(database: TestDatabase, empty_database: TestDatabase) -> None:
    database.rows("CREATE TABLE mark (a int)")
    assert empty_database.value("SELECT to_regclass('mark') IS NULL") is True
    assert empty_database.value("SELECT to_regnamespace('negentropy') IS NULL") is True


@pytest.mark.servers("sixteen")
def test_sixteen_has_nothing_from_contrib(server: Server) -> None:
    with psycopg.connect(server.admin_dsn) as connection:
        found = connection.execute("SELECT name FROM pg_available_extensions ORDER BY 1")
        assert [row[0] for row in found] == ["plpgsql", "vector"]


@pytest.mark.needs_cron
def test_pg_cron_really_runs_jobs(cron_database: TestDatabase) -> None:
    cron_database.rows("CREATE TABLE mark (a int)")
    cron_database.rows("SELECT cron.schedule('mark', '1 second', 'INSERT INTO mark VALUES (1)')")
    assert eventually(lambda: cron_database.value("SELECT count(*) FROM mark") > 0, limit_s=20)


@pytest.mark.needs_cron
def test_the_cron_database_comes_without_jobs(cron_database: TestDatabase) -> None:
    assert cron_database.value("SELECT count(*) FROM cron.job") == 0


@pytest.mark.servers("full")
def test_without_age_in_a_database_dropping_fails(server: Server) -> None:
    plain = databases.create(server, template="template0")
    try:
        plain.rows("CREATE TABLE mark (a int)")
        with pytest.raises(psycopg.errors.InvalidSchemaName, match="ag_catalog"):
            plain.rows("DROP TABLE mark")
    finally:
        databases.drop(plain)


@pytest.mark.servers("full")
def test_full_asks_for_a_password_over_tcp(server: Server) -> None:
    assert server.password_dsn is not None
    psycopg.connect(server.password_dsn).close()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(server.password_dsn, password="wrong")


@pytest.mark.needs_pooler
def test_pooler_keeps_no_setting_of_a_session(empty_database: TestDatabase) -> None:
    first, second = empty_database.connect(), empty_database.connect()
    first.execute("SET statement_timeout = '7s'")
    with second.transaction():  # takes the connection that the setting was made on, or another
        seen = [second.execute("SHOW statement_timeout").fetchone()]
        seen.append(first.execute("SHOW statement_timeout").fetchone())
    assert sorted(row[0] for row in seen if row) == ["0", "7s"]


@pytest.mark.needs_pooler
def test_pooler_keeps_no_prepared_statement(empty_database: TestDatabase) -> None:
    first, second = empty_database.connect(), empty_database.connect()
    with first.transaction():
        first.execute("PREPARE mark AS SELECT 1")
        with second.transaction():
            second.execute("SELECT 1")
            with pytest.raises(psycopg.errors.InvalidSqlStatementName):
                second.execute("EXECUTE mark")


@pytest.mark.needs_pooler
def test_pooler_refuses_options_at_the_start(empty_database: TestDatabase) -> None:
    with pytest.raises(psycopg.OperationalError, match="unsupported startup parameter"):
        empty_database.connect(options="-c statement_timeout=5s")


@pytest.mark.needs_pooler
def test_pooler_takes_turns_with_server_connections(empty_database: TestDatabase) -> None:
    first, second = empty_database.connect(), empty_database.connect()
    with first.transaction(), second.transaction():  # two at once: the pool now has two
        first.execute("SELECT 1")
        second.execute("SELECT 1")
    pids = {first.execute("SELECT pg_backend_pid()").fetchone() for _ in range(4)}
    assert len(pids) > 1


def test_no_target_is_never_a_developers_own() -> None:
    with pytest.raises(NegmemError) as caught:
        embedded.start(embedded.home())
    assert caught.value.code == "home_unusable"


@pytest.mark.parametrize("subprocess", [False, True])
def test_command_line_runs_in_both_ways(run_cli: CliRunner, subprocess: bool) -> None:
    result = run_cli("--version", subprocess=subprocess)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.startswith("negmem ")
