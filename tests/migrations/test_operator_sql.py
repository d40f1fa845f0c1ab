"""The operator SQL of the first design runs unchanged against a database with default names."""

from __future__ import annotations

import pytest

from tests.support.databases import TestDatabase

CONFIGS = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_schema = 'negentropy' AND table_name = 'memory_automation_configs';
"""
EXTENSIONS = """
SELECT extname, extversion FROM pg_extension WHERE extname IN ('vector', 'pg_cron') ORDER BY extname;
"""
TABLES = """
SELECT table_name FROM information_schema.tables
WHERE table_schema = 'negentropy' AND table_name IN ('memories', 'events', 'threads', 'consolidation_jobs')
ORDER BY table_name;
"""
FUNCTIONS = """
SELECT p.proname AS function_name FROM pg_proc p JOIN pg_namespace n ON p.pronamespace = n.oid
WHERE n.nspname = 'negentropy' AND p.proname IN ('calculate_retention_score', 'cleanup_low_value_memories',
  'get_context_window', 'trigger_maintenance_consolidation')
ORDER BY p.proname;
"""


@pytest.mark.servers("embedded", "full", "sixteen")
def test_operator_sql_runs_unchanged(database: TestDatabase) -> None:
    assert database.rows(CONFIGS) == [("negentropy", "memory_automation_configs")]
    assert "vector" in [name for name, _ in database.rows(EXTENSIONS)]
    assert [row[0] for row in database.rows(TABLES)] == [
        "consolidation_jobs",
        "events",
        "memories",
        "threads",
    ]
    assert [row[0] for row in database.rows(FUNCTIONS)] == [
        "calculate_retention_score",
        "calculate_retention_score",
        "cleanup_low_value_memories",
        "get_context_window",
        "trigger_maintenance_consolidation",
    ]
    forgotten = database.value("SELECT negentropy.cleanup_low_value_memories(0.1, 7, 0.1);")
    enqueued = database.value(
        "SELECT negentropy.trigger_maintenance_consolidation('1 hour'::interval);"
    )
    assert (forgotten, enqueued) == (0, 0)
