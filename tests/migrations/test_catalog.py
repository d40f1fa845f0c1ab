"""The catalog keeps what the design promises: owners in every key, no triggers, moments with a zone."""

from __future__ import annotations

import pytest

from tests.support.databases import TestDatabase

# Locked row by row, or about the installation: they stay on one node and belong to no user.
COORDINATOR = {
    "installation",
    "memory_automation_configs",
    "memory_automation_config_history",
    "managed_objects",
    "replaced_definitions",
    "automation_runs",
    "scheduler_leader",
    "benchmark_runs",
    "consolidation_jobs",
    "memory_audit_logs",
    "erased_persons",
    "schema_migrations",
}
# Known to the whole app.
APP_OWNED = {"embedding_models", "instructions", "namespaces"}
# Of a person, a team, or the app: keys begin with the kind of owner and its name.
SHAREABLE = {
    "memory_core_blocks",
    "learnings",
    "entities",
    "entity_facts",
    "entity_events",
    "entity_relations",
    "shared_vectors",
    "shared_terms",
    "shared_term_stats",
    "shared_item_versions",
    "proposals",
}

TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'negentropy' AND c.relkind IN ('r', 'p') ORDER BY 1
"""
KEYS = """
SELECT c.relname, i.relname, array_agg(a.attname ORDER BY k.place)
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
WHERE n.nspname = 'negentropy' AND k.place <= x.indnkeyatts AND (x.indisunique OR NOT %s)
GROUP BY 1, 2 ORDER BY 1, 2
"""


def user_owned(database: TestDatabase) -> set[str]:
    tables = {row[0] for row in database.rows(TABLES)}
    return tables - COORDINATOR - APP_OWNED - SHAREABLE


def test_every_table_is_classed(database: TestDatabase) -> None:
    tables = {row[0] for row in database.rows(TABLES)}
    assert tables >= COORDINATOR | APP_OWNED | SHAREABLE
    with_user = {
        row[0]
        for row in database.rows(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = 'negentropy' AND column_name = 'user_id'"
        )
    }
    assert user_owned(database) <= with_user


def test_unique_keys_of_user_owned_tables_begin_with_the_user(database: TestDatabase) -> None:
    owned = user_owned(database)
    keys = [(t, i, cols) for t, i, cols in database.rows(KEYS, (True,)) if t in owned]
    assert {table for table, _, _ in keys} == owned
    wrong = [(i, cols) for _, i, cols in keys if cols[:2] != ["user_id", "app_name"]]
    assert wrong == []


def test_unique_keys_of_shareable_tables_begin_with_the_owner(database: TestDatabase) -> None:
    keys = [(i, cols) for t, i, cols in database.rows(KEYS, (True,)) if t in SHAREABLE]
    assert keys
    assert [k for k in keys if k[1][:3] != ["owner_kind", "owner", "app_name"]] == []


def test_indexes_of_user_owned_tables_start_at_the_owner(database: TestDatabase) -> None:
    """Searches and sweeps start there; the others serve the trigger of jobs, the queue and what is live."""
    from_elsewhere = {
        "idx_threads_updated_at",
        "ix_memory_retrieval_logs_queued",
        "ix_memory_retrieval_logs_time",
    }
    owned = user_owned(database)
    wrong = [
        i
        for t, i, cols in database.rows(KEYS, (False,))
        if t in owned and cols[:2] != ["user_id", "app_name"] and i not in from_elsewhere
    ]
    assert wrong == []


def test_foreign_keys_carry_the_owner(database: TestDatabase) -> None:
    rows = database.rows(
        """
        SELECT f.relname, t.relname, array_agg(a.attname ORDER BY k.place)
        FROM pg_constraint x
        JOIN pg_class f ON f.oid = x.conrelid
        JOIN pg_class t ON t.oid = x.confrelid
        JOIN pg_namespace n ON n.oid = f.relnamespace
        CROSS JOIN LATERAL unnest(x.confkey) WITH ORDINALITY AS k (attnum, place)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
        WHERE n.nspname = 'negentropy' AND x.contype = 'f'
        GROUP BY x.oid, 1, 2
        """
    )
    assert rows
    wrong = [
        (f, t, cols)
        for f, t, cols in rows
        if cols[:2] != ["user_id", "app_name"] and cols[:3] != ["owner_kind", "owner", "app_name"]
    ]
    assert wrong == []
    assert [f for f, _, _ in rows if f in COORDINATOR] == []


def test_no_triggers_but_those_of_foreign_keys(database: TestDatabase) -> None:
    rows = database.rows(
        "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'negentropy' AND NOT t.tgisinternal"
    )
    assert rows == [("memory_audit_logs_append_only",)], "no user-owned table has one"


def test_every_moment_has_a_zone(database: TestDatabase) -> None:
    rows = database.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'negentropy'"
        " AND data_type IN ('timestamp without time zone', 'date', 'time without time zone')"
    )
    assert rows == []


def test_vectors_are_read_inline(database: TestDatabase) -> None:
    rows = database.rows(
        "SELECT c.relname, a.attstorage::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'negentropy' AND a.attname = 'embedding' ORDER BY 1"
    )
    assert rows == [("fact_vectors", "m"), ("memory_vectors", "m"), ("shared_vectors", "m")]


def test_a_user_cannot_point_at_the_row_of_another(database: TestDatabase) -> None:
    import psycopg

    connection = database.connect()
    connection.execute(
        "INSERT INTO negentropy.threads (id, user_id, app_name, external_id)"
        " VALUES ('11111111-1111-1111-1111-111111111111', 'alice', 'negmem', 't')"
    )
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        connection.execute(
            "INSERT INTO negentropy.memories (user_id, app_name, thread_id, content)"
            " VALUES ('bob', 'negmem', '11111111-1111-1111-1111-111111111111', '偷看')"
        )
