"""How long it takes to erase a person beside a writer for others, and what the writer feels of it.

    python -m tests.perf.erasure_time [--memories 100000] [--runs 5] [--server embedded]

A person with so many memories (turns, words, vectors, sources, links) is erased while another connection adds
memories of somebody else without a pause. Prints seconds, rows, and the writer's p95 before and during.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Callable

from negmem.core import memories
from negmem.core.governance import erasure
from tests import servers
from tests.support import databases
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on

FILL = """
INSERT INTO negentropy.users (user_id, app_name) VALUES ('leaver', 'negmem');
INSERT INTO negentropy.threads (user_id, app_name, external_id)
SELECT 'leaver', 'negmem', 't' || n FROM generate_series(1, {threads}) AS n;
ANALYZE negentropy.threads;
INSERT INTO negentropy.events (user_id, app_name, thread_id, author, content, position, content_hash)
SELECT 'leaver', 'negmem', t.id, 'user', jsonb_build_object('parts', jsonb_build_array(jsonb_build_object('text',
    '我说了 ' || n || ' and what ' || md5(n::text)))), n, sha256(convert_to(n::text, 'UTF8'))
FROM generate_series(1, {memories}) AS n
JOIN (SELECT id, row_number() OVER () AS r FROM negentropy.threads WHERE user_id = 'leaver') AS t
    ON t.r = 1 + n % {threads};
INSERT INTO negentropy.memories (id, user_id, app_name, thread_id, content)
SELECT e.id, 'leaver', 'negmem', e.thread_id, e.content #>> '{{parts,0,text}}'
FROM negentropy.events AS e WHERE e.user_id = 'leaver';
ANALYZE negentropy.events, negentropy.memories;
INSERT INTO negentropy.item_sources (user_id, app_name, item_kind, item_id, event_id, extractor)
SELECT 'leaver', 'negmem', 'memory', m.id, m.id, 'ingest' FROM negentropy.memories AS m WHERE m.user_id = 'leaver';
INSERT INTO negentropy.memory_terms (user_id, app_name, term, memory_id, tf, len)
SELECT 'leaver', 'negmem', 'word' || (abs(hashtext(m.id::text || k)) % 20000), m.id, 1, 12
FROM negentropy.memories AS m CROSS JOIN generate_series(1, 12) AS k WHERE m.user_id = 'leaver'
ON CONFLICT DO NOTHING;
INSERT INTO negentropy.memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)
SELECT 'leaver', 'negmem', m.id, 1, repeat('01', 192)::bit varying, v.embedding
FROM negentropy.memories AS m
CROSS JOIN (SELECT array_agg(random()::real)::vector::halfvec AS embedding FROM generate_series(1, 384)) AS v
WHERE m.user_id = 'leaver';
INSERT INTO negentropy.memory_associations (user_id, app_name, source_id, target_id, association_type)
SELECT 'leaver', 'negmem', a.id, a.following, 'temporal'
FROM (SELECT id, lead(id) OVER (ORDER BY id) AS following FROM negentropy.memories WHERE user_id = 'leaver') AS a
WHERE a.following IS NOT NULL;
ANALYZE;
"""


def p95(values: list[float]) -> float:
    """Milliseconds."""
    return statistics.quantiles(values, n=20)[-1] * 1000 if len(values) > 1 else float("nan")


def writes(database: TestDatabase, until: Callable[[], bool], times: list[float]) -> None:
    """Add memories of somebody else, one after the other."""
    with session_on(database) as session:
        number = 0
        while not until():
            began = time.perf_counter()
            memories.add(session, f"stayer{number % 5}", f"另一个人的第 {number} 句话 stays")
            times.append(time.perf_counter() - began)
            number += 1


def one_run(database: TestDatabase, count: int) -> tuple[float, int, float, float]:
    """Seconds, rows, the writer's p95 before and during."""
    database.rows(FILL.format(memories=count, threads=max(1, count // 50)))
    before: list[float] = []
    end = time.monotonic() + 10
    writes(database, lambda: time.monotonic() > end, before)
    during: list[float] = []
    done = threading.Event()
    writer = threading.Thread(target=writes, args=(database, done.is_set, during))
    with session_on(database) as session:
        writer.start()
        began = time.perf_counter()
        certificate = erasure.erase(session, "leaver")
        took = time.perf_counter() - began
        done.set()
        writer.join()
    assert certificate.verification is not None and not certificate.verification.left
    return took, certificate.rows, p95(before), p95(during)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--server", default="embedded")
    options = parser.parse_args()
    server = servers.ensure(options.server)
    found = []
    for number in range(options.runs):
        database = databases.create(server, template=databases.migrated_template(server))
        try:
            with session_on(database, FakeEmbedder()):
                pass
            took, rows, before, during = one_run(database, options.memories)
            found.append((took, before, during))
            print(
                f"run {number + 1}: {took:.1f} s, {rows:,} rows, writer p95 {before:.1f} ms before,"
                f" {during:.1f} ms during",
                flush=True,
            )
        finally:
            databases.drop(database)
    took, before, during = (statistics.median(one) for one in zip(*found, strict=True))
    print(f"median: {took:.1f} s, writer p95 {before:.1f} ms before, {during:.1f} ms during")


if __name__ == "__main__":
    main()
