"""How many of the ten nearest memories a search by vectors finds, beside a comparison of all, with the `local` model.

    python -m tests.perf.search_exactness FILE [--questions 300] [--also-noisy 200000] [--server embedded]

FILE: JSON Lines, each `{"text": …}` for a memory or `{"question": …}`. All texts become memories of one user in
a database of its own, through ingest; what is asked goes through `ranked_items()` by vectors, with nothing
but the likeness of a memory in its score. The exact ten are reckoned outside the database, of the vectors as they
are stored. `--also-noisy N` then adds copies with small noise (0.1) until the user has N memories.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from negmem.core import installation
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.session import Session, open_session
from negmem.providers.embedding import EmbeddingBatch
from tests import servers
from tests.support import databases

USER = "owner"
BEST = 10
NOISE = 0.1
TURNS_A_SESSION = 20
STORED = """
SELECT v.memory_id, v.embedding::vector::text FROM negentropy.memory_vectors AS v WHERE v.user_id = %s AND v.live
"""
FOUND = """
SELECT r.id, r.reranked
FROM negentropy.ranked_items(
    p_user_id => %(user)s, p_app_name => %(app)s, p_query => '', p_embedding => %(vector)s::vector,
    p_level => 'vector', p_limit => 10, p_kinds => '{memory}', p_neighbours => 0, p_session => 0, p_speaker => 0,
    p_intent => 0, p_relevance => false
) AS r
"""


class WithNoise:
    """The embedder, which remembers what it embedded; a text `copy N: …` lies a little beside what follows."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._known: dict[str, NDArray[np.float32]] = {}
        self._chance = np.random.default_rng(3)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """As the embedder does it, and noise for copies."""
        bare = [text.partition(": ")[2] if text.startswith("copy ") else text for text in texts]
        new = [text for text in dict.fromkeys(bare) if text not in self._known]
        if new:
            self._known.update(zip(new, self._inner.embed_batch(new).complete(), strict=True))
        rows = np.stack([self._known[text] for text in bare])
        copies = [place for place, text in enumerate(texts) if text.startswith("copy ")]
        spread = NOISE / rows.shape[1] ** 0.5
        rows[copies] += self._chance.normal(scale=spread, size=(len(copies), rows.shape[1]))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return EmbeddingBatch(rows)


def ingest(session: Session, texts: list[str], first: int) -> None:
    """Each text a turn of the user."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for start in range(0, len(texts), TURNS_A_SESSION):
                turns = [
                    {"role": "user", "text": text}
                    for text in texts[start : start + TURNS_A_SESSION]
                ]
                line = {"thread": f"t{first + start}", "user": USER, "turns": turns}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        Ingest(session, IngestOptions(path=str(path), format="jsonl")).run()
    session.database.run_alone("bench", "settle")


def stored(connection: psycopg.Connection) -> tuple[list[uuid.UUID], NDArray[np.float32]]:
    """Ids and vectors of the user's memories, of unit length."""
    rows = connection.execute(STORED, (USER,)).fetchall()
    vectors = np.array([json.loads(text) for _, text in rows], dtype=np.float32)
    return [key for key, _ in rows], vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def measure(session: Session, connection: psycopg.Connection, questions: list[str]) -> None:
    """Print one row: memories, how many were compared exactly, recall@10."""
    embedder = session.embedder
    assert embedder is not None
    ids, vectors = stored(connection)
    place = {key: number for number, key in enumerate(ids)}
    shares, compared = [], 0
    for question in questions:
        asked = np.frombuffer(embedder.embed_query(question), dtype=np.float32)
        alike = vectors @ asked
        tenth = np.partition(alike, -BEST)[-BEST]
        text = "[" + ",".join(map(repr, asked.tolist())) + "]"
        values = {"user": USER, "app": session.app, "vector": text}
        found = connection.execute(FOUND, values).fetchall()
        compared = found[0][1]
        near = sum(bool(alike[place[key]] >= tenth - 1e-6) for key, _ in found)
        shares.append(near / BEST)
    print(f"| {len(ids):,} | {compared:,} | {sum(shares) / len(shares):.4f} |", flush=True)


def main() -> None:
    """Fill a database of its own, measure, drop it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--questions", type=int, default=300)
    arguments.add_argument("--also-noisy", type=int, default=0)
    arguments.add_argument("--server", default="embedded")
    given = arguments.parse_args()
    lines = [json.loads(line) for line in given.file.read_text("utf-8").splitlines()]
    texts = list(dict.fromkeys(line["text"] for line in lines if "text" in line))
    questions = [line["question"] for line in lines if "question" in line]
    questions = random.Random(3).sample(questions, min(given.questions, len(questions)))
    database = databases.create(servers.ensure(given.server))
    try:
        with open_session(dsn=database.dsn) as session:
            assert session.embedder is not None
            session.use_embedder(WithNoise(session.embedder))
            installation.install(session)
            print(
                "| memories of one user | compared exactly | recall@10 |\n| --- | --- | --- |",
                flush=True,
            )
            with psycopg.connect(database.dsn, autocommit=True) as connection:
                ingest(session, texts, 0)
                measure(session, connection, questions)
                if given.also_noisy > len(texts):
                    more = [
                        f"copy {n}: {texts[n % len(texts)]}"
                        for n in range(given.also_noisy - len(texts))
                    ]
                    ingest(session, more, len(texts))
                    measure(session, connection, questions)
    finally:
        databases.drop(database)


if __name__ == "__main__":
    main()
