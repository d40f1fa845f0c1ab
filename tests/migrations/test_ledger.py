"""Migrations: recorded, safe to run eight at once, to kill at any statement, and never half done."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from negmem.core import installation
from negmem.core.session import Session, open_session
from negmem.db import connect, sqlfiles
from negmem.errors import NegmemError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase

OBJECTS = """
SELECT 'table ' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'negentropy' AND c.relkind IN ('r', 'i', 'S')
UNION ALL
SELECT 'function ' || p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = 'negentropy'
ORDER BY 1
"""


def session_on(database: TestDatabase, **options: Any) -> Session:
    session = open_session(dsn=database.dsn, env={}, **options)
    session.use_embedder(EmbedderAbsent("embedder_none", "none in this test"))
    return session


@pytest.mark.servers("embedded", "sixteen", "pooled", "full")
def test_install_records_every_migration_and_repeats_to_nothing(
    empty_database: TestDatabase,
) -> None:
    with session_on(empty_database) as session:
        first = installation.install(session)
        again = installation.install(session)
    assert len(first.migrations) == len(sqlfiles.migrations())
    assert (again.migrations, again.app_added) == ([], False)
    rows = empty_database.rows(
        "SELECT version, name, checksum, applied_by, negmem_version FROM negentropy.schema_migrations ORDER BY 1"
    )
    assert [(v, n, c) for v, n, c, _, _ in rows] == [
        (m.version, m.name, m.checksum) for m in sqlfiles.migrations()
    ]
    assert all(by and version for _, _, _, by, version in rows)


def test_eight_at_once_end_in_one_result(empty_database: TestDatabase) -> None:
    def install(_: int) -> int:
        with session_on(empty_database) as session:
            return len(installation.install(session).migrations)

    with ThreadPoolExecutor(8) as pool:
        applied = sorted(pool.map(install, range(8)))
    assert applied == [0] * 7 + [len(sqlfiles.migrations())]


def test_two_schemas_of_one_database_at_once(empty_database: TestDatabase) -> None:
    def install(schema: str) -> int:
        with session_on(empty_database, schema=schema) as session:
            return len(installation.install(session).migrations)

    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(install, ["memory_a", "memory_b", 'quoted "name"', "记忆"]))
    assert applied == [len(sqlfiles.migrations())] * 4


def test_killed_at_any_statement_then_completed(
    empty_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is cut at one statement after the other; nothing may stand until one run went through."""
    statements = 0
    cut_at = 0

    class Cutting(psycopg.Cursor[Any]):
        def execute(self, *args: Any, **kwargs: Any) -> Any:
            nonlocal statements
            statements += 1
            if statements == cut_at:
                self.connection.pgconn.finish()
            return super().execute(*args, **kwargs)

    opened: Callable[[connect.Database], connect.Connection] = connect.Database.open

    def open_cutting(self: connect.Database) -> connect.Connection:
        connection = opened(self)
        connection.cursor_factory = Cutting
        return connection

    monkeypatch.setattr(connect.Database, "open", open_cutting)
    with session_on(empty_database, schema="undisturbed") as session:
        installation.install(session)
    total = statements
    assert total > 20
    for place in range(1, total + 1):
        # Those between differ in which object they make alone.
        if 12 < place < total - 12 and place % 4:
            continue
        statements, cut_at = 0, place
        with session_on(empty_database) as session:
            try:
                installation.install(session)
            except (NegmemError, psycopg.Error):
                assert empty_database.rows(OBJECTS) == [], f"cut at statement {cut_at}"
            else:
                break  # the extensions stood already: it took less than the first
    assert statements > 20 and cut_at > total - 12
    cut_at = 0
    with session_on(empty_database) as session:
        installation.install(session)
    undisturbed = empty_database.rows(OBJECTS.replace("'negentropy'", "'undisturbed'"))
    assert len(empty_database.rows(OBJECTS)) == len(undisturbed)


def test_a_newer_schema_is_refused(database: TestDatabase) -> None:
    database.rows(
        "INSERT INTO negentropy.schema_migrations (version, name, checksum, negmem_version, applied_from, took_ms)"
        " VALUES (9999, 'later', 'x', '9.0.0', 'test', 1)"
    )
    with session_on(database) as session:
        for act in (session.require_installed, lambda: installation.install(session)):
            with pytest.raises(NegmemError) as raised:
                act()
            assert raised.value.code == "schema_newer"
            assert "9.0.0" in raised.value.why


def test_a_changed_migration_is_refused(database: TestDatabase) -> None:
    database.rows("UPDATE negentropy.schema_migrations SET checksum = 'other' WHERE version = 2")
    with session_on(database) as session, pytest.raises(NegmemError) as raised:
        installation.install(session)
    assert raised.value.code == "migration_changed"


def test_foreign_tables_are_not_adopted(empty_database: TestDatabase) -> None:
    empty_database.rows("CREATE SCHEMA negentropy CREATE TABLE memories (id integer)")
    with session_on(empty_database) as session, pytest.raises(NegmemError) as raised:
        installation.install(session)
    assert raised.value.code == "schema_foreign"
    assert "memories" in raised.value.why
    assert empty_database.rows(OBJECTS) == [("table memories",)]


@pytest.mark.servers("bare")
def test_a_server_that_cannot_carry_negmem_is_left_as_it_was(empty_database: TestDatabase) -> None:
    with session_on(empty_database) as session, pytest.raises(NegmemError) as raised:
        installation.install(session)
    assert raised.value.code == "server_too_old"
    assert "PostgreSQL 15" in raised.value.why and "vector" in raised.value.why
    assert (
        empty_database.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'negentropy'") == []
    )


def test_a_role_without_create_is_told_so(empty_database: TestDatabase) -> None:
    empty_database.rows("DROP ROLE IF EXISTS negmem_test_nobody")
    empty_database.rows("CREATE ROLE negmem_test_nobody LOGIN PASSWORD 'nobody'")
    try:
        dsn = re.sub(r"//[^@/]*@", "//negmem_test_nobody:nobody@", empty_database.dsn)
        with open_session(dsn=dsn, env={}) as session:
            session.use_embedder(EmbedderAbsent("embedder_none", "none"))
            with pytest.raises(NegmemError) as raised:
                installation.install(session)
        assert raised.value.code == "privilege_missing"
        assert empty_database.rows(OBJECTS) == []
    finally:
        empty_database.rows("DROP ROLE negmem_test_nobody")


def test_the_holder_of_the_lock_is_named(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_LOCK_WAIT_MS", 50)
    holder = database.connect(autocommit=False)
    holder.execute("SELECT pg_advisory_xact_lock(hashtextextended('negmem:schema:negentropy', 0))")
    with session_on(database) as session, pytest.raises(NegmemError) as raised:
        installation.install(session)
    assert raised.value.code == "schema_locked"
    assert f"pid {holder.info.backend_pid}" in raised.value.why


def test_migrations_say_lock_and_order() -> None:
    for migration in sqlfiles.migrations():
        head = migration.text[:1500]
        assert re.search(r"^-- lock: \S", head, re.M), migration.name
        assert re.search(r"^-- safe: \S", head, re.M), migration.name
    versions = [m.version for m in sqlfiles.migrations()]
    assert versions == list(range(1, len(versions) + 1))
