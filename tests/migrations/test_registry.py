"""The registry of personal data names every table and column of the catalog, and nothing else."""

from __future__ import annotations

import pytest

from negmem.core.governance.registry import TABLES, Kind, scanned
from negmem.core.models.grants import TABLES as GRANTED
from tests.support.databases import TestDatabase

COLUMNS = """
SELECT c.relname::text, a.attname::text, t.typname::text
FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type AS t ON t.oid = a.atttypid
WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind IN ('r', 'p')
"""
TYPES: dict[Kind, set[str]] = {
    "text": {"text", "varchar"},
    "texts": {"_text"},
    "json": {"jsonb"},
    "name": {"text", "varchar"},
    "person": {"varchar"},
    "actor": {"text", "varchar"},
    "terms": {"text"},
    "vector": {"varbit", "halfvec", "vector"},
    "hash": {"bytea", "text", "varchar"},
}


@pytest.mark.servers("embedded", "sixteen")
def test_every_column_of_the_catalog_has_an_entry(database: TestDatabase) -> None:
    held: dict[str, dict[str, str]] = {}
    for table, column, type_name in database.rows(COLUMNS):
        held.setdefault(table, {})[column] = type_name
    listed = {one.name: one for one in TABLES}
    assert len(listed) == len(TABLES)
    assert set(held) == set(listed), "negmem/core/governance/registry.py: a table an entry"
    for name, columns in held.items():
        entry = listed[name]
        assert not entry.columns.keys() & entry.plain, name
        missing = columns.keys() - entry.columns.keys() - entry.plain
        assert not missing, f"{name}: {sorted(missing)} in negmem/core/governance/registry.py"
        gone = (entry.columns.keys() | entry.plain) - columns.keys()
        assert not gone, f"{name} has no {sorted(gone)}"
        for column, kind in entry.columns.items():
            assert columns[column] in TYPES[kind], f"{name}.{column} is {columns[column]}"
        # What is free text or JSON is rarely plain: each such column is one that only negmem writes.
        loose = {c for c in entry.plain if columns[c] in ("jsonb", "_text", "halfvec", "vector")}
        assert loose <= LOOSE.get(name, set()), f"{name}: {sorted(loose)} are plain"


LOOSE = {
    "memory_preload_cache": {"basis"},
    "memory_retrieval_logs": {"fallbacks"},
    "memory_automation_configs": {"config"},
    "memory_automation_config_history": {"config", "changed_keys"},
    "embedding_models": {"mean", "calibration", "settings"},
    "benchmark_runs": {"config", "versions", "metrics"},
}


def test_a_persons_rows_can_be_found_and_are_erased() -> None:
    assert {one.name for one in TABLES} == set(GRANTED)
    for one in TABLES:
        if one.owner == "none":
            assert one.erasure == "none", one.name
        else:
            assert one.erasure != "none", one.name
        assert one.is_fixed == (one.why_not == ""), one.name
    assert "memories" in {one.name for one, _ in scanned()}
