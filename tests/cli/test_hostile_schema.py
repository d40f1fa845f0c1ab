"""A schema that somebody broke: what failed is told in words of negmem's, and with a remedy that helps."""

from __future__ import annotations

import psycopg
import pytest

from tests.servers import Server
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase


def add(negmem: CliRunner) -> None:
    negmem("memory", "add", "我喜欢喝咖啡", "--user", "alice", "-q").ok()


@pytest.mark.parametrize(
    "harm",
    [
        "DROP TABLE negentropy.users CASCADE",
        "ALTER TABLE negentropy.memories DROP COLUMN metadata CASCADE",
        "DROP EXTENSION vector CASCADE",
    ],
)
def test_a_missing_part_sends_to_doctor(
    negmem: CliRunner, database: TestDatabase, harm: str
) -> None:
    add(negmem)
    database.rows(harm)
    for words in (("search", "咖啡", "--user", "alice"), ("context", "咖啡", "--user", "alice")):
        error = negmem(*words, "--json").json["error"]
        if error["hint"] == "negmem sync":  # the functions that took a vector went with its type
            error = negmem("sync", "--yes", "--json").json["error"]
        assert (error["code"], error["hint"]) == ("schema_incomplete", "negmem doctor")
    assert negmem("doctor").code in (1, 3)


def test_a_missing_function_sends_to_sync(negmem: CliRunner, database: TestDatabase) -> None:
    add(negmem)
    database.rows("DROP FUNCTION negentropy.search_items CASCADE")
    error = negmem("search", "咖啡", "--user", "alice", "--json").json["error"]
    assert (error["code"], error["hint"]) == ("function_missing", "negmem sync")
    negmem("sync", "--yes").ok()
    negmem("search", "咖啡", "--user", "alice").ok()


def test_a_ledger_that_lost_rows_is_no_reason_to_make_tables_twice(
    negmem: CliRunner, database: TestDatabase
) -> None:
    add(negmem)
    for harm in ("DELETE FROM negentropy.schema_migrations WHERE version > 3",
                 "DELETE FROM negentropy.schema_migrations"):  # fmt: skip
        database.rows(harm)
        for words in (("init",), ("db", "migrate", "--yes")):
            done = negmem(*words, "--json")
            assert (done.code, done.json["error"]["code"]) == (1, "ledger_incomplete")
    assert database.value("SELECT count(*) FROM negentropy.memories") == 1


def test_init_mends_a_config_row_that_was_deleted(
    negmem: CliRunner, database: TestDatabase
) -> None:
    add(negmem)
    negmem("config", "set", "automation.retention.min_age_days", "30").ok()
    database.rows("DELETE FROM negentropy.memory_automation_configs")
    context = negmem("context", "咖啡", "--user", "alice", "--json").ok().json
    assert "app_unknown" in [warning["code"] for warning in context["warnings"]]
    assert context["max_tokens"] == 4000
    negmem("init").ok()
    revisions = "SELECT array_agg(revision ORDER BY revision) FROM negentropy.memory_automation_config_history"
    assert database.value(revisions) == [1, 2, 3]
    assert database.value("SELECT revision FROM negentropy.memory_automation_configs") == 3


def test_a_stored_config_that_cannot_be_read_is_told(
    negmem: CliRunner, database: TestDatabase
) -> None:
    add(negmem)
    store = "UPDATE negentropy.memory_automation_configs SET config = %s::jsonb"
    database.rows(store, ['{"retention": {"min_age_days": "x"}}'])
    negmem("context", "咖啡", "--user", "alice").ok()  # needs no such key
    assert negmem("init", "--json").json["error"]["code"] == "stored_config_invalid"
    database.rows(store, ['{"context_assembler": {"max_tokens": "many"}}'])
    error = negmem("context", "咖啡", "--user", "alice", "--json").json["error"]
    assert error["code"] == "stored_config_invalid"
    assert "context_assembler.max_tokens" in error["why"]
    database.rows(store, ['{"context_assembler": {"max_tokens": 512}}'])
    assert negmem("context", "咖啡", "--user", "alice", "--json").ok().json["max_tokens"] == 512


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_loses_letters_is_refused_before_anything_is_made(
    run_cli: CliRunner, server: Server, empty_database: TestDatabase, encoding: str
) -> None:
    name = f"{empty_database.name}_{encoding.lower()}"
    with psycopg.connect(server.admin_dsn, autocommit=True) as admin:
        admin.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'"
            " LOCALE_PROVIDER libc LOCALE 'C'".encode()
        )
    try:
        done = run_cli("init", "--dsn", server.dsn(name), "--json")
        assert (done.code, done.json["error"]["code"]) == (1, "letters_lost")
        assert encoding in done.json["error"]["why"]
        with psycopg.connect(server.dsn(name)) as there:
            found = there.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'negentropy'")
            assert found.fetchone() == (0,)
        assert not (run_cli.cwd / "negmem.yaml").exists()
    finally:
        with psycopg.connect(server.admin_dsn, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_no_context_is_larger_than_any_model_reads(negmem: CliRunner) -> None:
    for size in ("3000000000", "99999999999999999999"):
        done = negmem("context", "咖啡", "--user", "alice", "--max-tokens", size, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "budget_invalid")


def test_a_schema_that_is_ahead_is_left_alone(negmem: CliRunner, database: TestDatabase) -> None:
    database.rows(
        "INSERT INTO negentropy.schema_migrations"
        " SELECT 9999, 'future', checksum, negmem_version, applied_by, applied_from, now(), 1"
        " FROM negentropy.schema_migrations LIMIT 1"
    )
    for words in (("db", "upgrade"), ("db", "migrate"), ("init",)):
        for dry in ((), ("--dry-run",)):
            error = negmem(*words, *dry, "--json").json["error"]
            assert error["code"] == "schema_newer"
