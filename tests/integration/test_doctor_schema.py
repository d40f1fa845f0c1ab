"""`doctor` on schemas that are not as the migrations left them."""

from __future__ import annotations

import pytest

from negmem.core.automation.sync import sync
from negmem.core.diagnostics.checks import indexes
from negmem.core.session import open_session
from tests.support.databases import TestDatabase
from tests.support.doctor import area, codes, examine, finding, outcome

S = "negentropy"


def test_a_newer_schema_is_refused(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.schema_migrations (version, name, checksum, negmem_version, applied_from,"
        " took_ms) VALUES (9999, 'from_the_future', 'x', '9.9.9', 'test', 1)"
    )
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("unusable", ["schema_newer"])
    assert "negmem 9.9.9" in finding(found, "schema_newer").evidence
    assert "9999 from_the_future" in finding(found, "schema_newer").evidence


def test_a_migration_with_another_checksum(database: TestDatabase) -> None:
    database.rows(f"UPDATE {S}.schema_migrations SET checksum = 'edited' WHERE version = 2")
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("unusable", ["migration_changed"])
    assert "recorded edited" in finding(found, "migration_changed").evidence
    assert "checksum differs" in area(found, "schema")


def test_an_older_schema(database: TestDatabase) -> None:
    database.rows(f"DELETE FROM {S}.schema_migrations WHERE version > 3")
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("unusable", ["schema_outdated"])
    assert finding(found, "schema_outdated").remedy == "negmem db migrate"
    assert outcome(found, "table_missing") == "skipped"


def test_half_of_a_schema(database: TestDatabase) -> None:
    database.rows(f"DROP TABLE {S}.retrieval_feedback, {S}.tool_calls")
    database.rows(f"ALTER TABLE {S}.facts DROP COLUMN pinned_at")
    found = examine(database.dsn)
    assert found.status == "degraded"
    assert "retrieval_feedback, tool_calls" in finding(found, "table_missing").evidence
    assert finding(found, "column_missing").evidence == "not there: facts.pinned_at"
    assert area(found, "schema").startswith("fail: ")


def test_a_schema_without_its_main_table(database: TestDatabase) -> None:
    database.rows(f"DROP TABLE {S}.memories CASCADE")
    found = examine(database.dsn)
    assert found.status == "unusable"
    assert finding(found, "table_missing").blocks


def test_a_schema_of_somebody_else(empty_database: TestDatabase) -> None:
    empty_database.rows("CREATE EXTENSION vector")
    empty_database.rows(f"CREATE SCHEMA {S}")
    empty_database.rows(f"CREATE TABLE {S}.articles (id integer)")
    found = examine(empty_database.dsn)
    assert (found.status, codes(found)) == ("unusable", ["schema_foreign"])
    assert "articles" in finding(found, "schema_foreign").evidence


def test_times_without_a_zone(database: TestDatabase) -> None:
    database.rows(f"ALTER TABLE {S}.threads ADD COLUMN imported_at timestamp")
    found = examine(database.dsn)
    assert codes(found) == ["timestamp_without_zone"]
    remedy = finding(found, "timestamp_without_zone").remedy
    database.rows(remedy.split(";")[0])
    assert examine(database.dsn).status == "healthy"


def test_no_config_is_stored(database: TestDatabase) -> None:
    database.rows(f"DELETE FROM {S}.memory_automation_configs")
    found = examine(database.dsn)
    assert codes(found) == ["config_missing"]
    assert outcome(found, "stored_config_invalid") == "skipped"


def test_a_stored_config_that_makes_no_sense(database: TestDatabase) -> None:
    database.rows(
        f"UPDATE {S}.memory_automation_configs SET config ="
        " jsonb_set(config, '{retention,decay_lambda}', '\"viel\"')"
    )
    found = examine(database.dsn)
    assert codes(found) == ["stored_config_invalid"]
    assert "decay_lambda" in finding(found, "stored_config_invalid").evidence


def test_an_app_without_a_config_of_its_own(database: TestDatabase) -> None:
    found = examine(database.dsn, app="客服")
    assert found.status == "healthy"
    assert 'the main app "negmem" rules it' in finding(found, "config_missing").title


def synced(database: TestDatabase) -> None:
    with open_session(dsn=database.dsn, env={}) as session:
        sync(session)


def test_a_missing_index_comes_back_by_the_remedy(database: TestDatabase) -> None:
    database.rows(f"DROP INDEX {S}.idx_memory_vectors_bits")
    found = examine(database.dsn)
    assert codes(found) == ["index_missing"]
    assert finding(found, "index_missing").remedy == "negmem sync"
    synced(database)
    assert examine(database.dsn).status == "healthy"


def test_an_invalid_index(database: TestDatabase) -> None:
    database.rows(
        f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{S}.idx_memories_due'::regclass"
    )
    found = examine(database.dsn)
    assert codes(found) == ["index_invalid"]
    assert finding(found, "index_invalid").remedy == "negmem sync"
    synced(database)
    assert examine(database.dsn).status == "healthy"
    # One of somebody else's is not for sync.
    database.rows(f"CREATE INDEX theirs ON {S}.memories (importance_score)")
    database.rows(
        f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{S}.theirs'::regclass"
    )
    found = examine(database.dsn)
    assert codes(found) == ["index_invalid"]
    database.rows(finding(found, "index_invalid").remedy)
    assert examine(database.dsn).status == "healthy"


def test_an_index_with_other_columns(database: TestDatabase) -> None:
    database.rows(f"DROP INDEX {S}.idx_memory_vectors_bits")
    database.rows(f"CREATE INDEX idx_memory_vectors_bits ON {S}.memory_vectors (memory_id)")
    found = examine(database.dsn)
    assert codes(found) == ["index_differs"]
    assert finding(found, "index_differs").evidence == (
        "idx_memory_vectors_bits holds memory_id; expected user_id, app_name, model_id, memory_id, bits"
    )
    assert finding(found, "index_differs").remedy == "negmem sync"
    synced(database)
    assert examine(database.dsn).status == "healthy"


@pytest.fixture
def every_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_LARGE_PAGES", 0)


@pytest.mark.usefixtures("every_table_is_large")
def test_plans_are_looked_at(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.memory_term_stats (user_id, app_name, documents, total_len)"
        " VALUES ('王芳', 'negmem', 0, 0)"
    )
    database.rows(f"ANALYZE {S}.memories, {S}.memory_vectors, {S}.memory_terms")
    off = ("indexscan", "indexonlyscan", "bitmapscan")
    for name in off:
        database.rows(f'ALTER DATABASE "{database.name}" SET enable_{name} = off')
    only = ["search_reads_table", "sweep_reads_table"]
    found = examine(database.dsn, only=only)
    assert codes(found).count("search_reads_table") == 2
    assert codes(found).count("sweep_reads_table") == 1
    for name in off:
        database.rows(f'ALTER DATABASE "{database.name}" RESET enable_{name}')
    database.rows(f'ALTER DATABASE "{database.name}" SET enable_seqscan = off')
    assert codes(examine(database.dsn, only=only)) == []


@pytest.mark.usefixtures("every_table_is_large")
def test_tables_that_were_never_analyzed(database: TestDatabase) -> None:
    database.rows(f"CREATE TABLE {S}.visitors (id integer)")
    found = examine(database.dsn, only=["statistics_missing"])
    assert f'"{S}".visitors' in finding(found, "statistics_missing").remedy


@pytest.mark.usefixtures("every_table_is_large")
def test_pages_that_are_not_visible_to_all(database: TestDatabase) -> None:
    database.rows(f"ALTER TABLE {S}.memory_terms SET (autovacuum_enabled = off)")
    database.rows(
        f"INSERT INTO {S}.memory_terms (user_id, app_name, term, memory_id, tf, len)"
        " SELECT 'u', 'negmem', 't' || i, gen_random_uuid(), 1, 1 FROM generate_series(1, 500) AS i"
    )
    database.rows(f"ANALYZE {S}.memory_terms")
    found = examine(database.dsn, only=["visibility_low"])
    assert "memory_terms 0%" in finding(found, "visibility_low").evidence
    assert f'"{S}".memory_terms' in finding(found, "visibility_low").remedy


def test_collation_that_changed(database: TestDatabase) -> None:
    found = examine(database.dsn, only=["collation_changed"])
    assert codes(found) == []
    database.rows(
        f"UPDATE pg_database SET datcollversion = '1.0' WHERE datname = '{database.name}'"
    )
    found = examine(database.dsn, only=["collation_changed"])
    actual = database.value(
        "SELECT pg_database_collation_actual_version(oid) FROM pg_database"
        " WHERE datname = current_database()"
    )
    if actual is None:
        assert outcome(found, "collation_changed") == "skipped"
    else:
        assert "built with 1.0" in finding(found, "collation_changed").evidence
