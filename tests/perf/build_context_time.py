"""How long `build_context` takes for a user with 5,000 items, beside the search that it contains.

    python -m tests.perf.build_context_time [--items 5000] [--rounds 60] [--embedder local|ready] [--server embedded]
        [--realtime]

Fills a fresh database: 70 in 100 items are memories, 10 each observations, entities and lessons; twenty fields of the
profile. All stores are on. Each question is asked twice in turn: once as `build_context` within 1,500 tokens, which
records what it shows, once as the search of the same level, kinds and number of rows, which does not. Each embeds its
question once, by the local model (`ready`: at no cost); what that took is taken off for the second line of the answer.
The vectors of what is stored are made in advance: their number counts, not what they say.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from array import array
from typing import TYPE_CHECKING

from negmem.core import installation
from negmem.core.bench.scoring import percentile
from negmem.core.learning import entities, learnings, machine, observations, profile, stores
from negmem.core.retrieval.context import CANDIDATES
from negmem.core.retrieval.search import search
from negmem.core.session import Session, open_session
from negmem.core.text.profile_names import BASE
from tests import servers
from tests.perf.ingest_rate import ReadyEmbedder
from tests.perf.search_latency import WARMING, before_all, fill, words_of
from tests.support import databases

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder


class Timed(ReadyEmbedder):
    """Stored vectors made in advance; questions by the local model, if wanted, each timed."""

    def __init__(self, embedder: Embedder | None, dims: int) -> None:
        super().__init__(dims)
        self._embedder = embedder
        self.took_ms: list[float] = []

    def embed_query(self, text: str) -> array[float]:
        """A vector; `took_ms` has how long it took."""
        started = time.perf_counter()
        if self._embedder is not None:
            self._embedder.embed_query(text)
        vector = super().embed_query(text)
        self.took_ms.append((time.perf_counter() - started) * 1000)
        return vector


ALL = {f"learning.{name}.enabled": "true" for name in stores.BUILT_IN}
TYPES = ("person", "company", "project", "system")


def furnish(session: Session, user: str, items: int) -> list[str]:
    """Observations, entities with what is known of them, lessons, a profile; returns what may be asked of."""
    chance = random.Random(3)
    asked = []
    for number in range(items // 10):
        observations.observe(session, user, f"{words_of(chance, 8)} {number}")
        key = f"e{number}"
        asked.append(words_of(chance, 2))
        entities.add(
            session,
            user,
            key,
            entity_type=chance.choice(TYPES),
            name=asked[-1],
            namespace="user",
        )
        entities.add_fact(session, user, key, words_of(chance, 8), namespace="user")
        title = f"{asked[-1]} {number}"
        learnings.save(
            session, user, title=title, learning=words_of(chance, 20), namespace="user", anyway=True
        )
    for field in list(BASE)[:4]:
        if field != "birthday":
            profile.set_field(session, user, field, words_of(chance, 2))
    return asked


def main() -> None:
    """Fill a database of its own, measure, drop it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--items", type=int, default=5_000)
    arguments.add_argument("--rounds", type=int, default=60)
    arguments.add_argument("--embedder", choices=("local", "ready"), default="local")
    arguments.add_argument("--server", default="embedded")
    arguments.add_argument("--realtime", action="store_true", help="ahead of all other programs")
    given = arguments.parse_args()
    database = databases.create(servers.ensure(given.server))
    try:
        with open_session(dsn=database.dsn, env={}, overrides=ALL) as session:
            real = session.embedder if given.embedder == "local" else None
            embedder = Timed(real, 384)
            session.use_embedder(embedder)
            installation.install(session)
            memories = given.items * 7 // 10
            fill(session, [memories])
            user = f"user{memories}"
            asked = furnish(session, user, given.items)
            session.database.connection.execute("ANALYZE")
            if given.realtime:
                before_all(0, session.database.connection.info.backend_pid)
            chance = random.Random(user)
            built, searches = [], []
            embedded: list[tuple[float, float]] = []
            for number in range(given.rounds + WARMING):
                question = f"{words_of(chance, 4)} {chance.choice(asked)}"
                embedder.took_ms.clear()
                started = time.perf_counter()
                context = machine.build_context(session, user, question)
                took = (time.perf_counter() - started) * 1000
                started = time.perf_counter()
                answer = search(session, user, question, limit=CANDIDATES, record=False)
                searched = (time.perf_counter() - started) * 1000
                assert context.level == answer.level == "hybrid" and not context.failed
                assert len(context.blocks) >= 4, [one.store for one in context.blocks]
                first, second = embedder.took_ms
                if number >= WARMING:
                    built.append(took)
                    searches.append(searched)
                    embedded.append((first, second))
            print(
                "| items | embedding | build_context p50 | p95 | search p50 | p95 | ratio of p50 |"
            )
            print("| --- | --- | --- | --- | --- | --- | --- |")
            _print(given.items, "included", built, searches)
            without = [took - one for took, (one, _) in zip(built, embedded, strict=True)]
            beside = [took - one for took, (_, one) in zip(searches, embedded, strict=True)]
            _print(given.items, "taken off", without, beside)
            print(
                f"embedding: {statistics.median(one for pair in embedded for one in pair):.1f} ms"
            )
    finally:
        databases.drop(database)


def _print(items: int, what: str, built: list[float], searches: list[float]) -> None:
    ratio = statistics.median(built) / statistics.median(searches)
    print(
        f"| {items:,} | {what} | {statistics.median(built):.1f} ms | {percentile(built, 0.95):.1f} ms"
        f" | {statistics.median(searches):.1f} ms | {percentile(searches, 0.95):.1f} ms | {ratio:.2f} |"
    )


if __name__ == "__main__":
    main()
