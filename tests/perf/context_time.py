"""How long a context of 8,000 tokens takes, beside the search that it contains.

    python -m tests.perf.context_time [--sizes 600,20000] [--rounds 60] [--max-tokens 8000] [--server embedded]
        [--realtime] [--profile]

Fills a fresh database as tests.perf.search_latency does: one user a size, with core blocks, an instruction and profile
facts, and threads whose last turns are the history. Each question is asked twice in turn:
once as a context, which records what it shows, once as the search of the same level, kinds and number of rows,
which does not. What embeds a question is not counted in either.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import statistics
import time

from negmem.core import core_blocks, installation, instructions
from negmem.core.bench.scoring import percentile
from negmem.core.facts import set_fact
from negmem.core.retrieval.context import CANDIDATES, assemble
from negmem.core.retrieval.search import search
from negmem.core.session import Session, open_session
from tests import servers
from tests.perf.ingest_rate import ReadyEmbedder
from tests.perf.search_latency import WARMING, before_all, fill, words_of
from tests.support import databases

WORDS_A_QUESTION = 6


def furnish(session: Session, user: str) -> None:
    """What stands in every context of a user: blocks, an instruction, a profile."""
    chance = random.Random(11)
    for label in ("persona", "task", "style"):
        core_blocks.set_block(session, user, words_of(chance, 60), label=label)
    if instructions.list_instructions(session).instructions == []:
        instructions.set_instruction(session, "manner", words_of(chance, 40))
    for number in range(20):
        set_fact(session, user, "profile", f"trait{number}", words_of(chance, 5))


def measure(
    session: Session, user: str, rounds: int, max_tokens: int
) -> tuple[list[float], list[float]]:
    """Milliseconds of each context and of the search in it, in turn; a few before are not counted."""
    chance = random.Random(user)
    contexts, searches = [], []
    for number in range(rounds + WARMING):
        question = words_of(chance, WORDS_A_QUESTION)
        started = time.perf_counter()
        context = assemble(session, user, question, max_tokens=max_tokens)
        took = (time.perf_counter() - started) * 1000
        answer = search(session, user, question, limit=CANDIDATES, record=False)
        assert context.level == answer.level == "hybrid"
        if number >= WARMING:
            contexts.append(took)
            searches.append(answer.took_ms.total)
    return contexts, searches


def main() -> None:
    """Fill a database of its own, measure, drop it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", default="600,20000")
    arguments.add_argument("--rounds", type=int, default=60)
    arguments.add_argument("--max-tokens", type=int, default=8000)
    arguments.add_argument("--server", default="embedded")
    arguments.add_argument("--realtime", action="store_true")
    arguments.add_argument("--profile", action="store_true", help="where the program's time goes")
    given = arguments.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    database = databases.create(servers.ensure(given.server))
    try:
        with open_session(dsn=database.dsn, env={}) as session:
            session.use_embedder(ReadyEmbedder(384))
            installation.install(session)
            fill(session, sizes)
            if given.realtime:
                before_all(0, session.database.connection.info.backend_pid)
            print("| memories | context p50 | p95 | search p50 | p95 | ratio of p50 |")
            print("| --- | --- | --- | --- | --- | --- |")
            for size in sizes:
                user = f"user{size}"
                furnish(session, user)
                profile = cProfile.Profile()
                if given.profile:
                    profile.enable()
                whole, part = measure(session, user, given.rounds, given.max_tokens)
                middle, floor = statistics.median(whole), statistics.median(part)
                print(
                    f"| {size:,} | {middle:.1f} ms | {percentile(whole, 0.95):.1f} ms"
                    f" | {floor:.1f} ms | {percentile(part, 0.95):.1f} ms | {middle / floor:.2f} |",
                    flush=True,
                )
                if given.profile:
                    profile.disable()
                    pstats.Stats(profile).sort_stats("cumulative").print_stats(30)
    finally:
        databases.drop(database)


if __name__ == "__main__":
    main()
