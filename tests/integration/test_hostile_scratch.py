"""The scratch schema of a benchmark that was interrupted in its commit."""

from __future__ import annotations

from threading import Thread

from negmem.core.bench import scratch
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on
from tests.support.waiting import eventually


def test_a_schema_whose_commit_is_under_way_goes_too(database: TestDatabase) -> None:
    schema = "negmem_bench_1_abcdef"
    other = database.connect(autocommit=False)
    other.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('negmem:schema:' || %s::text, 0))", [schema]
    )
    other.execute(f"CREATE SCHEMA {schema}".encode())
    heard: list[str] = []
    with session_on(database) as session:
        dropping = Thread(
            target=scratch._drop, args=(session, session.database, schema, heard.append)
        )
        dropping.start()
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        assert eventually(lambda: database.value(waits) >= 1)
        other.commit()
        dropping.join()
    assert heard == []
    assert database.rows("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]) == []
