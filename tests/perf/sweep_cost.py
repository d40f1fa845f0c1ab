"""What a sweep costs beside the full rewrite that an older design does, in time and write-ahead log.

    python -m tests.perf.sweep_cost [--rows 1000000] [--users 100] [--expired 0.001] [--server embedded]

A fresh database gets the rows (no vectors; those that have expired have search terms), and in one run:
a sweep with so many expired, a sweep where all are alive, and the rewrite: the score of every row
written, then a DELETE. Time and log are those that EXPLAIN (ANALYZE, WAL) gives.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from tests import servers
from tests.support import databases
from tests.support.databases import TestDatabase

FILL = """
    WITH sorts AS MATERIALIZED (
        SELECT reads.n AS reads, age.days, now() - age.days * interval '24 hours' AS at,
            negentropy.retention_fades_at(reads.n, now() - age.days * interval '24 hours',
                now() - age.days * interval '24 hours', 'episodic', 0, NULL, 0.19, s.threshold,
                s.decay_lambda, s.min_age_days, s.keep_importance) AS fades_at
        FROM negentropy.retention_settings('negmem') AS s
        CROSS JOIN generate_series(0, 6) AS reads (n)
        CROSS JOIN (SELECT generate_series(0, 599) UNION ALL SELECT 1000) AS age (days)
    )
    INSERT INTO negentropy.memories (user_id, app_name, content, access_count, created_at,
        last_accessed_at, retention_score, importance_score, fades_at, fades_basis)
    SELECT 'user ' || mod(n, %(users)s), 'negmem', 'memory ' || n || ' 第' || n || '条记忆', s.reads, s.at,
        s.at, 0.3, 0.19, s.fades_at,
        negentropy.retention_basis(s.reads, s.at, s.at, 'episodic', '{}')
    FROM generate_series(1, %(rows)s) AS n
    JOIN sorts AS s ON s.reads = mod(n, 7)
        AND s.days = CASE WHEN n <= %(expired)s THEN 1000 ELSE mod(n, 600) END
"""
USERS = """
    INSERT INTO negentropy.users (user_id, app_name, fades_threshold, fades_lambda, fades_min_age,
        fades_importance)
    SELECT DISTINCT m.user_id, m.app_name, s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance
    FROM negentropy.memories AS m
    CROSS JOIN negentropy.retention_settings('negmem') AS s
"""
TERMS = """
    SELECT count(negentropy.index_memories(o.user_id, o.app_name, o.ids))
    FROM (
        SELECT m.user_id, m.app_name, array_agg(m.id) AS ids
        FROM negentropy.memories AS m
        WHERE m.due_at <= now()
        GROUP BY m.user_id, m.app_name
    ) AS o
"""
SWEEP = "SELECT negentropy.cleanup_low_value_memories()"
REWRITE = """
    UPDATE negentropy.memories SET retention_score =
        negentropy.calculate_retention_score(access_count, last_accessed_at, 0.1)
"""
REMOVAL = """
    DELETE FROM negentropy.memories
    WHERE retention_score < 0.0001 AND created_at < now() - interval '640 days'
"""


def measured(database: TestDatabase, statement: str) -> dict[str, float]:
    """Milliseconds, log records, full-page images and bytes of one statement."""
    with database.connect() as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute(
            f"EXPLAIN (ANALYZE, WAL, TIMING OFF, FORMAT JSON) {statement}".encode()
        ).fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]
    top = plan["Plan"]
    return {
        "ms": plan["Execution Time"],
        "wal_records": top["WAL Records"],
        "wal_fpi": top["WAL FPI"],
        "wal_bytes": top["WAL Bytes"],
    }


def measure(rows: int, users: int, expired: float, server: str) -> dict[str, Any]:
    """The three figures and their ratios."""
    place = servers.ensure(server)
    database = databases.create(place, template=databases.migrated_template(place))
    try:
        gone = round(rows * expired)
        started = time.perf_counter()
        database.rows(FILL, {"rows": rows, "users": users, "expired": gone})
        database.rows(USERS)
        database.rows(TERMS)
        with database.connect() as connection:
            connection.execute("VACUUM ANALYZE")
        filled_s = time.perf_counter() - started
        sweep = measured(database, SWEEP)
        forgotten = database.value(
            "SELECT count(*) FROM negentropy.memories WHERE deleted_at IS NOT NULL"
        )
        assert forgotten == gone, f"{forgotten} of {gone} went"
        alive = measured(database, SWEEP)
        writes = [measured(database, statement) for statement in (REWRITE, REMOVAL)]
        rewrite = {key: sum(one[key] for one in writes) for key in writes[0]}
        return {
            "rows": rows,
            "users": users,
            "expired": gone,
            "filled_s": round(filled_s, 1),
            "sweep": sweep,
            "all_alive": alive,
            "rewrite": rewrite,
            "time_ratio": round(rewrite["ms"] / sweep["ms"], 1),
            "wal_records_ratio": round(rewrite["wal_records"] / sweep["wal_records"], 1),
        }
    finally:
        databases.drop(database)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--expired", type=float, default=0.001)
    parser.add_argument("--server", default="embedded")
    options = parser.parse_args()
    print(
        json.dumps(measure(options.rows, options.users, options.expired, options.server), indent=2)
    )


if __name__ == "__main__":
    main()
