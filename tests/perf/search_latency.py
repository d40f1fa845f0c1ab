"""How long a search takes by how much its owner has, beside a plain fusion of ranks in the same database.

    python -m tests.perf.search_latency [--sizes 600,20000,200000] [--others 100] [--searches 100]
        [--server embedded] [--levels hybrid] [--realtime]

Fills a fresh database through ingest with vectors that are ready made: one user a size, and `others` users
of 600 memories beside them. The plain form is what is usually written by hand: one table with a vector
and a tsvector a row, a B-tree on the user and a GIN index, and one statement that joins the ranks of the exact
cosine and of ts_rank_cd over any of the words. Both answer the same questions, in turn, on a connection each;
ours through the API, what embeds a question not counted. Ranks, not scores, so the results differ.
With `--realtime` (for root) other work on the machine does not disturb: program and both server processes
run before it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import psycopg

from negmem.core import installation
from negmem.core.bench.scoring import percentile
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.retrieval.search import search
from negmem.core.session import Session, open_session
from tests import servers
from tests.perf.ingest_rate import ReadyEmbedder
from tests.support import databases

TURNS_A_SESSION = 20
OTHERS_HAVE = 600
WARMING = 20
VOCABULARY = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("ala", "eri", "ono", "umi") for c in range(400)
]
WEIGHTS = list(accumulate(1 / (rank + 10) for rank in range(len(VOCABULARY))))

PLAIN_TABLE = """
CREATE TABLE plain AS
SELECT m.id, m.user_id, m.content, v.embedding::vector AS embedding, to_tsvector('english', m.content) AS words
FROM negentropy.memories AS m
JOIN negentropy.memory_vectors AS v USING (user_id, app_name)
WHERE v.memory_id = m.id;
ALTER TABLE plain ADD PRIMARY KEY (id);
CREATE INDEX ON plain (user_id);
CREATE INDEX ON plain USING gin (words);
"""
PLAIN_SEARCH = """
WITH near AS (
    SELECT p.id, row_number() OVER (ORDER BY p.embedding <=> %(embedding)s::vector) AS rank
    FROM plain AS p WHERE p.user_id = %(user)s
    ORDER BY p.embedding <=> %(embedding)s::vector LIMIT 50
),
worded AS (
    SELECT p.id, row_number() OVER (ORDER BY ts_rank_cd(p.words, q) DESC) AS rank
    FROM plain AS p, to_tsquery('english', %(words)s) AS q
    WHERE p.user_id = %(user)s AND p.words @@ q
    ORDER BY ts_rank_cd(p.words, q) DESC LIMIT 50
)
SELECT p.id, p.content, COALESCE(1.0 / (60 + n.rank), 0) + COALESCE(1.0 / (60 + w.rank), 0) AS score
FROM near AS n
FULL JOIN worded AS w USING (id)
JOIN plain AS p USING (id)
ORDER BY score DESC LIMIT 10
"""


def words_of(chance: random.Random, count: int) -> str:
    """Words as people use them: few are most of the text (Zipf)."""
    return " ".join(chance.choices(VOCABULARY, cum_weights=WEIGHTS, k=count))


def sessions(user: str, turns: int, chance: random.Random) -> Iterator[str]:
    """Lines of our own format: two speakers take turns."""
    for number in range(0, turns, TURNS_A_SESSION):
        said = [
            {"speaker": ("Ada", "Bo")[place % 2], "text": words_of(chance, chance.randint(6, 40))}
            for place in range(min(TURNS_A_SESSION, turns - number))
        ]
        yield json.dumps({"thread": f"t{number}", "user": user, "turns": said}, ensure_ascii=False)


def fill(session: Session, sizes: list[int], others: int = 0) -> None:
    """One user a size, and others."""
    chance = random.Random(7)
    owners = [(f"user{size}", size) for size in sizes]
    owners += [(f"other{number}", OTHERS_HAVE) for number in range(others)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talk.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for owner, size in owners:
                file.writelines(line + "\n" for line in sessions(owner, size, chance))
        Ingest(session, IngestOptions(path=str(path), format="jsonl")).run()
    session.database.run_alone("bench", "settle")


def make_plain(dsn: str) -> None:
    """The table that is searched by hand, of the same rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(PLAIN_TABLE)
        connection.execute("VACUUM (ANALYZE) plain")


def measure(
    session: Session, plain: psycopg.Connection, size: int, searches: int, level: str
) -> tuple[list[float], list[float]]:
    """Milliseconds of each search and of the plain statement, in turn; a few before are not counted."""
    chance, user = random.Random(size), f"user{size}"
    embedder = session.embedder
    assert embedder is not None
    ours, theirs = [], []
    for number in range(searches + WARMING):
        question = words_of(chance, 6)
        answer = search(session, user, question, level=level, record=False)
        vector = "[" + ",".join(map(repr, embedder.embed_query(question))) + "]"
        started = time.perf_counter()
        plain.execute(
            PLAIN_SEARCH,
            {"user": user, "embedding": vector, "words": " | ".join(question.split())},
            prepare=False,
        ).fetchall()
        took = (time.perf_counter() - started) * 1000
        if number >= WARMING:
            ours.append(answer.took_ms.total - answer.took_ms.embed)
            theirs.append(took)
    return ours, theirs


def before_all(*pids: int) -> None:
    """Run these processes before everything else on the machine; 0 is this one."""
    for pid in pids:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(20))


def report(
    session: Session,
    dsn: str,
    sizes: list[int],
    searches: int,
    levels: list[str],
    realtime: bool = False,
) -> None:
    """Print one row a size and level."""
    print("| memories | level | p50 | p95 | plain p50 | plain p95 | ratio of p50 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with psycopg.connect(dsn, autocommit=True) as plain:
        if realtime:
            before_all(0, plain.info.backend_pid, session.database.connection.info.backend_pid)
        for size in sizes:
            for level in levels:
                ours, theirs = measure(session, plain, size, searches, level)
                middle, floor = statistics.median(ours), statistics.median(theirs)
                print(
                    f"| {size:,} | {level} | {middle:.1f} ms | {percentile(ours, 0.95):.1f} ms"
                    f" | {floor:.1f} ms | {percentile(theirs, 0.95):.1f} ms"
                    f" | {middle / floor:.2f} |",
                    flush=True,
                )


def main() -> None:
    """Fill a database of its own, measure, drop it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", default="600,20000,200000")
    arguments.add_argument("--others", type=int, default=100)
    arguments.add_argument("--server", default="embedded")
    arguments.add_argument("--searches", type=int, default=100)
    arguments.add_argument("--dims", type=int, default=384)
    arguments.add_argument("--levels", default="hybrid")
    arguments.add_argument("--realtime", action="store_true")
    given = arguments.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    database = databases.create(servers.ensure(given.server))
    try:
        with open_session(dsn=database.dsn, env={}) as session:
            session.use_embedder(ReadyEmbedder(given.dims))
            installation.install(session)
            fill(session, sizes, given.others)
            make_plain(database.dsn)
            levels = given.levels.split(",")
            report(session, database.dsn, sizes, given.searches, levels, given.realtime)
    finally:
        databases.drop(database)


if __name__ == "__main__":
    main()
