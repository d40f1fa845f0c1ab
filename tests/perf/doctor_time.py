"""How long `negmem doctor` takes from the shell, on a running server.

    python -m tests.perf.doctor_time [--runs 20] [--memories 0] [--server embedded]

A database of its own with that many memories of 200 users, their terms and vectors (of 384
dimensions), and the local embedder. Prints wall and processor time of the whole program.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from negmem.core import installation
from negmem.core.session import open_session
from tests import servers
from tests.support import databases
from tests.support.databases import TestDatabase

_USERS = 200


def main() -> None:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--memories", type=int, default=0)
    parser.add_argument("--server", default="embedded")
    arguments = parser.parse_args()
    database = databases.create(servers.ensure(arguments.server))
    try:
        with open_session(dsn=database.dsn, env={}) as session:
            installation.install(session)
        fill(database, arguments.memories)
        walls, cpus, verdict = measure(database.dsn, arguments.runs)
    finally:
        databases.drop(database)
    print(
        f"{arguments.memories:,} memories, {arguments.runs} runs: wall median"
        f" {statistics.median(walls) * 1000:.0f} ms, maximum {max(walls) * 1000:.0f} ms; processor"
        f" median {statistics.median(cpus) * 1000:.0f} ms; {verdict}"
    )


def fill(database: TestDatabase, memories: int) -> None:
    """Memories with terms and vectors, a fair share for each user."""
    if memories == 0:
        return
    database.rows(
        "INSERT INTO negentropy.memories (user_id, app_name, content)"
        " SELECT 'user' || i %% %s, 'negmem', format('第%%s次 went hiking in the hills of %%s', i, i %% 97)"
        " FROM generate_series(1, %s) AS i",
        (_USERS, memories),
    )
    database.rows(
        "SELECT negentropy.index_memories(o.user_id, 'negmem', o.ids)"
        " FROM (SELECT user_id, array_agg(id) AS ids FROM negentropy.memories GROUP BY 1) AS o"
    )
    database.rows(
        "INSERT INTO negentropy.memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)"
        " SELECT m.user_id, m.app_name, m.id, 1, repeat('01', 192)::bit varying, v.e"
        " FROM negentropy.memories AS m,"
        " (SELECT array_agg(sin(i)::real)::vector::halfvec AS e FROM generate_series(1, 384) AS i) AS v"
    )
    database.rows("VACUUM (ANALYZE)")


def measure(dsn: str, runs: int) -> tuple[list[float], list[float], str]:
    """Wall and processor seconds of each run, and the last line that it printed."""
    command = [str(Path(sys.executable).with_name("negmem")), "doctor", "--dsn", dsn]
    walls, cpus, verdict = [], [], ""
    for number in range(runs + 1):
        before, started = _processor_s(), time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir())
        if number:  # the first run writes byte code
            walls.append(time.perf_counter() - started)
            cpus.append(_processor_s() - before)
        verdict = done.stdout.strip().splitlines()[-1]
    return walls, cpus, verdict


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
