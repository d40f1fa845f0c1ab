"""All that a database holds of its users, comparable with another database: without ids and times."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support.databases import TestDatabase

_TABLES = """
    SELECT c.table_name
    FROM information_schema.columns AS c
    JOIN information_schema.tables AS t USING (table_schema, table_name)
    WHERE c.table_schema = 'negentropy' AND c.column_name IN ('user_id', 'owner')
        AND t.table_type = 'BASE TABLE' AND c.table_name <> 'consolidation_jobs'
    GROUP BY c.table_name
    ORDER BY c.table_name
"""
# What an id stands for, so that rows that point to each other can be told from rows that do not.
_NAMES = """
    SELECT m.id::text, 'memory ' || m.content FROM negentropy.memories AS m
    UNION ALL SELECT e.id::text, 'event ' || negentropy.event_text(e.content) FROM negentropy.events AS e
    UNION ALL SELECT t.id::text, 'thread ' || t.external_id FROM negentropy.threads AS t
    UNION ALL SELECT f.id::text, 'fact ' || f.key || ' ' || f.value::text || ' ' || f.status
        FROM negentropy.facts AS f
    UNION ALL SELECT j.id::text, 'job' FROM negentropy.consolidation_jobs AS j
"""
_JOBS = """
    SELECT j.user_id, j.thread_id::text, j.job_type, j.status, s.key, s.value ->> 'status' IN ('done', 'skipped')
    FROM negentropy.consolidation_jobs AS j
    LEFT JOIN LATERAL jsonb_each(j.result -> 'steps') AS s ON true
"""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:[+-][\d:]+|Z)?")
# A fingerprint is made of ids.
_LEFT_OUT = frozenset(("fades_basis", "sequence_num", "fingerprint"))


def stored_state(database: TestDatabase) -> dict[str, list[str]]:
    """Each table's rows as text, sorted; and how each job and step ended."""
    names = dict(database.rows(_NAMES))
    state = {}
    for (table,) in database.rows(_TABLES):
        # How often a user's summary was made anew depends on the order in which the jobs of threads end.
        left_out = "version" if table == "memory_summaries" else ""
        rows = database.rows(f"SELECT to_jsonb(t) - '{left_out}' FROM negentropy.{table} AS t")
        state[table] = sorted(_text(row, names) for (row,) in rows)
    state["jobs"] = sorted(_text(list(row), names) for row in database.rows(_JOBS))
    return state


def _text(row: Any, names: dict[str, str]) -> str:
    return json.dumps(_plain(row, names), ensure_ascii=False, sort_keys=True)


def _plain(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            _plain(key, names): _plain(inner, names)
            for key, inner in value.items()
            if key not in _LEFT_OUT
        }
    if isinstance(value, list):
        return [_plain(inner, names) for inner in value]
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, str):
        return _TIME.sub("(time)", _UUID.sub(lambda id: f"({names.get(id[0], 'id')})", value))
    return value
