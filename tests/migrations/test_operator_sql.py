"""The operator SQL of the first design runs unchanged against a database with default names."""

from __future__ import annotations

import pytest

from tests.support.cli import CliRunner
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


JOBS = """
SELECT jobid, jobname, schedule, command, active FROM cron.job
WHERE jobname IN ('cleanup_memories', 'trigger_consolidation') ORDER BY jobname;
"""
RUNS = """
SELECT jobid, runid, status, return_message, start_time, end_time FROM cron.job_run_details
ORDER BY start_time DESC LIMIT 10;
"""


@pytest.mark.needs_cron
def test_operator_sql_sees_the_jobs_that_are_on(
    cron_database: TestDatabase, run_cli: CliRunner
) -> None:
    negmem = CliRunner(env={**run_cli.env, "NEGMEM_DSN": cron_database.dsn}, cwd=run_cli.cwd)
    negmem("automation", "enable", "cleanup_memories").ok()
    negmem("automation", "enable", "trigger_consolidation").ok()
    try:
        jobs = cron_database.rows(JOBS)
        assert [
            (name, schedule, command, active) for _, name, schedule, command, active in jobs
        ] == [
            (
                "cleanup_memories",
                "0 2 * * *",
                "SELECT negentropy.cleanup_low_value_memories(0.0001, 640, 0.1)",
                True,
            ),
            (
                "trigger_consolidation",
                "0 * * * *",
                "SELECT negentropy.trigger_maintenance_consolidation('1 hour'::interval)",
                True,
            ),
        ]
        assert len(cron_database.rows(RUNS)) <= 10
    finally:
        negmem("automation", "disable", "cleanup_memories").ok()
        negmem("automation", "disable", "trigger_consolidation").ok()
    assert cron_database.rows(JOBS) == []
