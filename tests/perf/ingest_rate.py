"""How fast ingest writes, beside a binary COPY of the very same rows into the same indexes.

    python -m tests.perf.ingest_rate [--turns 20000] [--server embedded] [--dims 384] [--rounds 3]
        [--analyzed]

Each round ingests a generated file into a fresh database with an embedder whose vectors are ready made,
takes every row of every table that ingest wrote as binary COPY data, and loads it into another fresh
database with the same tables, foreign keys and indexes. What the embedder takes is not counted.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psycopg

from negmem.core import installation
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.session import open_session
from negmem.providers.calibration import IDENTITY, Calibration
from negmem.providers.embedding import EmbeddingBatch
from tests import servers
from tests.support import databases
from tests.support.databases import TestDatabase

# in an order that foreign keys allow
TABLES = (
    *("users", "threads", "events", "memories", "item_sources", "memory_vectors"),
    *("memory_terms", "memory_term_stats", "consolidation_jobs"),
)
FOUND_BY_SEARCH = ("memories", "memory_vectors", "memory_terms")
_SYLLABLES = [
    a + b for a, b in zip("bcdfghjklmnprstvwxyz" * 2, "aeiouaeiouaeiouaeiou" * 2, strict=True)
]
_HAN = "我你他今天明去来吃喝看书画琴茶咖啡北京上海杭州工作家朋友孩子医院学校项目会议电话"


class ReadyEmbedder:
    """Unit vectors made in advance; `seconds` sums what it took to hand them over."""

    name, model, version, max_tokens = "ready", "ready-made", "1", 512

    def __init__(self, dims: int) -> None:
        self.dims = dims
        pool = np.random.default_rng(7).normal(size=(4096, dims)).astype(np.float32)
        self._pool = pool / np.linalg.norm(pool, axis=1, keepdims=True)
        self.seconds = 0.0

    @property
    def calibration(self) -> Calibration:
        """No calibration: plain signs."""
        return IDENTITY

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """One vector a text."""
        started = time.perf_counter()
        rows = [hash(text) % len(self._pool) for text in texts]
        vectors = self._pool[rows]
        self.seconds += time.perf_counter() - started
        return EmbeddingBatch(vectors)

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """One vector a text."""
        return self.embed_batch(texts).vectors

    def embed_query(self, text: str) -> array[float]:
        """A vector."""
        return array("f", self._pool[0])


def write_conversations(path: Path, turns: int, seed: int = 7) -> None:
    """A file of sessions of 20 turns for 20 users; words are Zipf distributed, one turn in ten Chinese."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(20_000)]
    weights = list(np.cumsum([1 / (rank + 10) for rank in range(len(words))]))
    with path.open("w", encoding="utf-8") as file:
        for number in range(turns // 20):
            said = []
            for turn in range(20):
                if chance.random() < 0.1:
                    text = "".join(chance.choices(_HAN, k=chance.randint(8, 40)))
                else:
                    text = " ".join(
                        chance.choices(words, cum_weights=weights, k=chance.randint(6, 40))
                    )
                role = "user" if turn % 2 == 0 else "assistant"
                said.append({"id": str(turn), "role": role, "text": text})
            session = {
                "thread": f"t{number}",
                "user": f"u{number % 20}",
                "datetime": f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}T09:00:00Z",
                "turns": said,
            }
            file.write(json.dumps(session, ensure_ascii=False) + "\n")


def ingest_seconds(database: TestDatabase, path: Path, dims: int) -> tuple[float, int]:
    """Seconds of one ingest without what the embedder took, and how many memories it made."""
    embedder = ReadyEmbedder(dims)
    with open_session(dsn=database.dsn, env={}) as session:
        session.use_embedder(embedder)
        installation.install(session)
        started = time.perf_counter()
        result = Ingest(session, IngestOptions(path=str(path))).run()
        took = time.perf_counter() - started
    assert result.embedding.vectors == result.memories == result.read_turns
    return took - embedder.seconds, result.memories


def copy_seconds(
    source: TestDatabase, target: TestDatabase, *, analyzed: bool
) -> tuple[float, float]:
    """Seconds to load the rows of `source` into `target` by binary COPY, one transaction.

    `analyzed` lets the planner know the tables first: the checks of foreign keys are then planned as in
    a database that has been in use.
    Returns: all tables; memories, vectors and terms alone.
    """
    data: dict[str, list[bytes]] = {}
    with psycopg.connect(source.dsn, autocommit=True) as connection:
        for table in TABLES:
            statement = f"COPY negentropy.{table} TO STDOUT (FORMAT BINARY)"
            with connection.cursor().copy(statement) as copy:
                data[table] = [bytes(piece) for piece in copy]
    took: dict[str, float] = {}
    if analyzed:
        with psycopg.connect(target.dsn, autocommit=True) as connection:
            for table in TABLES:
                with connection.cursor().copy(
                    f"COPY negentropy.{table} FROM STDIN (FORMAT BINARY)"
                ) as copy:
                    for piece in data[table]:
                        copy.write(piece)
            connection.execute("ANALYZE")
            connection.execute(
                f"TRUNCATE {', '.join(f'negentropy.{table}' for table in TABLES)} CASCADE"
            )
    with psycopg.connect(target.dsn) as connection:
        for table in TABLES:
            started = time.perf_counter()
            statement = f"COPY negentropy.{table} FROM STDIN (FORMAT BINARY)"
            with connection.cursor().copy(statement) as copy:
                for piece in data[table]:
                    copy.write(piece)
            took[table] = time.perf_counter() - started
        started = time.perf_counter()
        connection.commit()
        commit = time.perf_counter() - started
    return sum(took.values()) + commit, sum(took[table] for table in FOUND_BY_SEARCH) + commit


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--server", default="embedded")
    parser.add_argument("--analyzed", action="store_true", help="COPY into tables with statistics")
    arguments = parser.parse_args()
    server = servers.ensure(arguments.server)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.jsonl"
        write_conversations(path, arguments.turns)
        for _ in range(arguments.rounds):
            template = databases.migrated_template(server)
            first = databases.create(server, template=template)
            second = databases.create(server, template=template)
            try:
                ingest_s, memories = ingest_seconds(first, path, arguments.dims)
                copy_s, narrow_s = copy_seconds(first, second, analyzed=arguments.analyzed)
                terms = first.value("SELECT count(*) FROM negentropy.memory_terms")
            finally:
                databases.drop(first)
                databases.drop(second)
            ratios.append(copy_s / ingest_s)
            print(
                f"{memories} memories, {terms / memories:.1f} terms each: "
                f"ingest {memories / ingest_s:,.0f}/s, binary COPY {memories / copy_s:,.0f}/s, "
                f"ratio {copy_s / ingest_s:.2f}, beside memories, vectors and terms alone "
                f"{narrow_s / ingest_s:.2f}"
            )
    print(f"median ratio {statistics.median(ratios):.2f} (to reach: 0.40)")


if __name__ == "__main__":
    main()
