"""How long a search takes, by level and by how much its owner has, beside the size of the rest.

    python -m tests.perf.search_latency [--sizes 600,20000,200000] [--server embedded] [--searches 200]

Fills a fresh database through ingest with vectors that are ready made, one user a size, and times the
round trip of a search for ten results on one connection, recorded and not, for questions of six words.
What embeds a question is not counted. The processor time is that of the server's process, from /proc: it
stays the same where other work on the machine makes the round trips longer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from negmem.core import installation
from negmem.core.bench.scoring import percentile
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.retrieval.search import search
from negmem.core.session import Session, open_session
from tests import servers
from tests.perf.ingest_rate import ReadyEmbedder
from tests.support import databases

TURNS_A_SESSION = 20
LEVELS = ("hybrid", "vector", "keyword")
VOCABULARY = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("ala", "eri", "ono", "umi") for c in range(400)
]
WEIGHTS = list(accumulate(1 / (rank + 10) for rank in range(len(VOCABULARY))))


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


def fill(session: Session, sizes: list[int]) -> None:
    """One user a size."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talk.jsonl"
        for size in sizes:
            path.write_text("\n".join(sessions(f"user{size}", size, chance)), encoding="utf-8")
            Ingest(session, IngestOptions(path=str(path), format="jsonl")).run()
    session.database.execute("bench", "settle")


def processor_ms(pid: int) -> float:
    """What a process of this machine has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(
    session: Session, size: int, searches: int, level: str, record: bool
) -> tuple[list[float], float]:
    """Milliseconds of each round trip, and of processor time for one; a few before are not counted."""
    pid = session.database.connection.info.backend_pid
    chance = random.Random(size)
    questions = [words_of(chance, 6) for _ in range(searches)]
    for question in questions[:20]:
        search(session, f"user{size}", question, level=level, record=record)
    before = processor_ms(pid)
    took = [
        search(session, f"user{size}", question, level=level, record=record).took_ms.database
        for question in questions
    ]
    return took, (processor_ms(pid) - before) / searches


def main() -> None:
    """Print one row a size and level."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", default="600,20000,200000")
    arguments.add_argument("--server", default="embedded")
    arguments.add_argument("--searches", type=int, default=200)
    arguments.add_argument("--dims", type=int, default=384)
    given = arguments.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    database = databases.create(servers.ensure(given.server))
    try:
        with open_session(dsn=database.dsn, env={}) as session:
            session.use_embedder(ReadyEmbedder(given.dims))
            installation.install(session)
            fill(session, sizes)
            print("| memories | level | processor | p50 | p95 | p50, recorded |")
            print("| --- | --- | --- | --- | --- | --- |")
            for size in sizes:
                for level in LEVELS:
                    took, used = measure(session, size, given.searches, level, False)
                    kept, _ = measure(session, size, given.searches, level, True)
                    print(
                        f"| {size:,} | {level} | {used:.1f} ms | {statistics.median(took):.1f} ms"
                        f" | {percentile(took, 0.95):.1f} ms | {statistics.median(kept):.1f} ms |",
                        flush=True,
                    )
    finally:
        databases.drop(database)


if __name__ == "__main__":
    main()
