"""One client of `bench load`: a process of its own, so that clients share nothing but the server.

Reads its orders, a line of JSON, from stdin; says `ready`; begins at the next line; answers with a line of JSON.
The orders may hold a password: they come over a pipe, not over the command line.
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from negmem.config.load import load_config
from negmem.config.model import Retrieval
from negmem.core import memories
from negmem.core.bench.synthetic import SyntheticEmbedder, sentence, vocabulary
from negmem.core.retrieval.search import search
from negmem.core.session import Session
from negmem.db.connect import Database
from negmem.db.dsn import Target
from negmem.errors import NegmemError

_ERRORS_KEPT = 5


def main() -> None:
    """Do as ordered."""
    orders = json.loads(sys.stdin.readline())
    session = _session(orders)
    session.use_embedder(SyntheticEmbedder())
    work = _Client(session, orders)
    work.search(record=False)  # connection, catalog and imports are warm before anything is timed
    work.reset()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if sys.stdin.readline():
        sys.stdout.write(json.dumps(work.run(float(orders["seconds"]))) + "\n")
        sys.stdout.flush()
    session.close()


def _session(orders: dict[str, Any]) -> Session:
    loaded = load_config(Path(orders["config"]), {}, {"connection.app": orders["app"]})
    retrieval = Retrieval(**orders["retrieval"])
    loaded = replace(loaded, config=loaded.config.model_copy(update={"retrieval": retrieval}))
    database = Database(
        Target(orders["params"], "bench load"), schema=orders["schema"], command="negmem bench load"
    )
    return Session(loaded, database)


class _Client:
    """Searches and writes at random, one after the other, and keeps how long each took."""

    def __init__(self, session: Session, orders: dict[str, Any]) -> None:
        self._session = session
        self._users: int = orders["users"]
        self._reads: float = orders["reads"]
        self._number: int = orders["number"]
        self._chance = random.Random(orders["seed"] * 1_000 + self._number)
        self._words = vocabulary(orders["seed"])
        self.reset()

    def reset(self) -> None:
        """Forget what was measured."""
        self.result: dict[str, Any] = {
            "searches": [], "writes": [], "errors": [], "failed": 0, "retrievals": 0, "items": 0,
        }  # fmt: skip
        self._asked = 0

    def run(self, seconds: float) -> dict[str, Any]:
        """Work for so long; times in ms."""
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            is_read = self._chance.random() < self._reads
            begun = time.perf_counter()
            try:
                if is_read:
                    self.search()
                else:
                    text = sentence(self._chance, self._words)
                    memories.add(self._session, self._user(), text)
            except NegmemError as error:
                self.result["failed"] += 1
                if len(self.result["errors"]) < _ERRORS_KEPT:
                    self.result["errors"].append(f"{error.code}: {error.message}; {error.why}")
                continue
            took_ms = (time.perf_counter() - begun) * 1_000
            self.result["searches" if is_read else "writes"].append(round(took_ms, 3))
        self.result["seconds"] = time.perf_counter() - started
        return self.result

    def search(self, *, record: bool = True) -> None:
        """One question, never asked before: a repeat would count no access."""
        self._asked += 1
        question = f"{sentence(self._chance, self._words, 3, 6)} n{self._number}q{self._asked}"
        answer = search(self._session, self._user(), question, kinds=("memory",), record=record)
        if answer.retrieval_id is not None:
            self.result["retrievals"] += 1
            self.result["items"] += len(answer.results)

    def _user(self) -> str:
        return f"user{self._chance.randrange(self._users)}"


if __name__ == "__main__":
    main()
