"""Workers of consolidation that kill themselves at a given statement, as a program of its own.

    python -m tests.support.killed_worker YAML SEED DSN…

The first database is worked on undisturbed, so that what a worker needs to know is known before any is forked.
On each other one worker is forked after the other, until one empties the queue. Each ends with SIGKILL
right before or right after one of its statements, which the seed chooses, unless it is done by then; what it
has in a transaction ends with it. Prints how many died on each.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from typing import Any

import psycopg

from negmem.config.model import Formation
from negmem.core.formation.consolidate import Consolidation, Options
from negmem.core.formation.pipeline import load_steps
from negmem.core.session import open_session
from tests.support.embedder import FakeEmbedder

# Statements after which a worker dies, at most: about a quarter of what there is to do.
MOST = 60


def work(dsn: str, path: str) -> None:
    """Work until the queue is empty."""
    with open_session(dsn=dsn, env={}, config_path=path) as session:
        session.use_embedder(FakeEmbedder())
        Consolidation(session, Options()).run()


def die_at(number: int, *, before: bool) -> None:
    """Let this process be killed at the statement of this number of its worker."""
    execute = psycopg.Cursor.execute
    count = 0

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal count
        if not threading.current_thread().name.startswith("negmem-worker"):
            return execute(self, *args, **kwargs)
        count += 1
        mine = count == number
        if mine and before:
            os.kill(os.getpid(), signal.SIGKILL)
        result = execute(self, *args, **kwargs)
        if mine:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    psycopg.Cursor.execute = counted  # type: ignore[method-assign,assignment]


def deaths(dsn: str, path: str, chance: random.Random) -> int:
    """Fork workers until one comes to the end; how many did not."""
    died = 0
    while True:
        number, before = chance.randint(1, MOST), chance.random() < 0.5
        pid = os.fork()
        if pid == 0:
            die_at(number, before=before)
            work(dsn, path)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code != -signal.SIGKILL:
            assert code == 0, f"a worker ended with {code}"
            return died
        died += 1


def main() -> None:
    """One database after the other; what workers import and read is there before they are forked."""
    load_steps(Formation().steps, timeout_ms=1_000)
    path, chance = sys.argv[1], random.Random(int(sys.argv[2]))
    work(sys.argv[3], path)
    print(*(deaths(dsn, path, chance) for dsn in sys.argv[4:]))


if __name__ == "__main__":
    main()
