"""How deduplication of one user's memories grows with their number: time, and the memory of the client.

    python -m tests.perf.dedup_rate [--memories 10000,100000] [--server embedded] [--mode semantic]

Made-up memories in clusters: of each thing said, on average three memories, one in other words, one that differs in a number
or denies; vectors of 384 dimensions around the centre of the cluster. Each number in a fresh database; the program runs as
a process of its own, whose memory is read when it ends. Afterwards every removed row must have a live survivor.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg

from negmem.core import installation
from negmem.core.session import open_session
from negmem.providers.embedding import EmbedderAbsent
from tests import servers
from tests.support import databases
from tests.support.databases import TestDatabase

DIMS = 384
_VERBS = [
    "inspects",
    "repairs",
    "paints",
    "measures",
    "cleans",
    "photographs",
    "rents",
    "draws",
    "sells",
    "stores",
]
_PLACES = [
    "Berlin",
    "Lisbon",
    "Nairobi",
    "Osaka",
    "Quito",
    "Oslo",
    "Hanoi",
    "Perth",
    "Lima",
    "Tunis",
    "Riga",
    "Accra",
]
_SYLLABLES = [a + b for a in "bcdfgklmnprstvz" for b in "aeiou"]


def texts(chance: random.Random) -> Iterator[list[str]]:
    """The texts of one cluster after the other."""
    while True:
        thing = "".join(chance.choices(_SYLLABLES, k=4))
        verb, place = chance.choice(_VERBS), chance.choice(_PLACES)
        hour = chance.randint(1, 11)
        base = f"The user {verb} the {thing} in {place} at {hour}:00 on Fridays"
        other = f"On Fridays at {hour} a.m. the user {verb} the {thing} in {place}"
        near = (
            f"The user {verb} the {thing} in {place} at {hour + 12}:00 on Fridays",
            f"The user never {verb} the {thing} in {place} at {hour}:00 on Fridays",
        )
        made = [base]
        if chance.random() < 0.4:
            made.append(base.upper() if chance.random() < 0.3 else f"{base}.")
        if chance.random() < 0.6:
            made.append(other)
        if chance.random() < 0.7:
            made.append(chance.choice(near))
        made += [f"{base}, with {name}" for name in chance.sample(_PLACES, chance.randint(0, 1))]
        yield made


def fill(database: TestDatabase, count: int, seed: int = 7) -> None:
    """So many memories of one user, with terms and vectors."""
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO negentropy.embedding_models (app_name, id, provider, model, version, dims)"
            " VALUES ('negmem', 1, 'made', 'up', '1', %s)",
            (DIMS,),
        )
        connection.execute("CREATE TEMP TABLE made (content text, embedding text)")
        left = count
        with connection.cursor().copy("COPY made FROM STDIN") as copy:
            for cluster in texts(chance):
                centre = noise.normal(size=DIMS)
                for content in cluster[:left]:
                    vector = centre + noise.normal(size=DIMS) * 0.4
                    vector /= np.linalg.norm(vector)
                    copy.write_row((content, "[" + ",".join(f"{x:.4f}" for x in vector) + "]"))
                left -= len(cluster[:left])
                if left == 0:
                    break
        connection.execute(
            "ANALYZE made"
        )  # else the join below is a nested loop: 20 minutes for 100,000
        connection.execute(
            "INSERT INTO negentropy.memories (user_id, app_name, memory_type, content)"
            " SELECT 'one', 'negmem', 'semantic', content FROM made"
        )
        connection.execute(
            "INSERT INTO negentropy.users (user_id, app_name) VALUES ('one', 'negmem')"
        )
        connection.execute("ANALYZE negentropy.memories")
        connection.execute(
            "INSERT INTO negentropy.memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)"
            " SELECT DISTINCT ON (m.id) 'one', 'negmem', m.id, 1,"
            " negentropy.embedding_bits(t.embedding::vector, NULL), t.embedding::halfvec"
            " FROM made AS t JOIN negentropy.memories AS m ON m.content = t.content"
        )
        for page in range(0, count, 5_000):
            connection.execute(
                "SELECT negentropy.index_memories('one', 'negmem', array_agg(p.id)) FROM"
                " (SELECT id FROM negentropy.memories ORDER BY id OFFSET %s LIMIT 5000) AS p",
                (page,),
            )
        connection.execute("VACUUM (ANALYZE)")


def measured(server: str, count: int, mode: str) -> None:
    """One line of the table."""
    database = databases.create(servers.ensure(server))
    try:
        with open_session(dsn=database.dsn, env={}) as session:
            session.use_embedder(EmbedderAbsent("embedder_none", "vectors are made up"))
            installation.install(session)
        fill(database, count)
        program = str(Path(sys.executable).with_name("negmem"))
        command = [
            program,
            "curator",
            "dedup",
            "-u",
            "one",
            f"--{mode}",
            "--yes",
            "-q",
            "--dsn",
            database.dsn,
        ]
        started = time.perf_counter()
        child = os.posix_spawn(
            program,
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
        )
        _, status, used = os.wait4(child, 0)
        took = time.perf_counter() - started
        removed, orphans = database.rows(
            "SELECT count(*), count(*) FILTER (WHERE s.id IS NULL) FROM negentropy.memories AS l"
            " LEFT JOIN negentropy.memories AS s"
            " ON s.id = (l.metadata ->> 'merged_into')::uuid AND s.deleted_at IS NULL"
            " WHERE l.deleted_at IS NOT NULL"
        )[0]
    finally:
        databases.drop(database)
    print(
        f"{count:>8,} memories: {took:8.1f} s, client {used.ru_utime + used.ru_stime:6.1f} s of processor and"
        f" {used.ru_maxrss / 1024:,.0f} MB at most; {removed:,} removed, {orphans} without a live survivor;"
        f" exit {os.waitstatus_to_exitcode(status)}",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--memories", default="10000,100000")
    parser.add_argument("--server", default="embedded")
    parser.add_argument("--mode", default="semantic", choices=["exact", "semantic"])
    arguments = parser.parse_args()
    for count in map(int, arguments.memories.split(",")):
        measured(arguments.server, count, arguments.mode)


if __name__ == "__main__":
    main()
