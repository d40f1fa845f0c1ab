"""How fast conversations become memories and facts, without a language model, embedding included.

    python -m tests.perf.consolidation_rate DIR [--workers 1,2] [--sessions 20,40,80] [--server embedded]
        [--steps fact_extract,…]

DIR holds the `sessions.jsonl` of LoCoMo. For each number of sessions (taken in turn from all conversations) and
of workers: a fresh database, the local embedder, `ingest`, then `consolidate` until the queue is empty.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from typing import Any

from negmem.config.model import Formation
from negmem.core import installation
from negmem.core.formation.consolidate import Consolidation, Options
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.models.consolidation import Consolidated
from negmem.core.session import open_session
from negmem.providers.local import LocalEmbedder
from tests import servers
from tests.support import databases


def chosen(folder: Path, count: int) -> list[dict[str, Any]]:
    """So many sessions, one of each conversation in turn."""
    by_conversation: dict[str, list[dict[str, Any]]] = {}
    with (folder / "sessions.jsonl").open(encoding="utf-8") as file:
        for line in file:
            session = json.loads(line)
            by_conversation.setdefault(session["conversation_id"], []).append(session)
    mixed = [
        one for row in zip_longest(*by_conversation.values()) for one in row if one is not None
    ]
    return mixed[:count]


def measured(folder: Path, sessions: int, workers: int, server: str, steps: str) -> None:
    """One line of the table, and what each step took."""
    found = servers.ensure(server)
    database = databases.create(found, template=databases.migrated_template(found))
    embedder = LocalEmbedder()
    embedder.embed_query("loaded before the clock starts")
    try:
        with tempfile.TemporaryDirectory() as place:
            config = Path(place) / "negmem.yaml"
            config.write_text(f"formation:\n  steps: [{steps}]\n", encoding="utf-8")
            files = written(Path(place), chosen(folder, sessions))
            with open_session(dsn=database.dsn, env={}, config_path=str(config)) as session:
                session.use_embedder(embedder)
                installation.install(session)
                started = time.perf_counter()
                for path, me in files:
                    Ingest(session, IngestOptions(path=str(path), format="locomo", me=me)).run()
                ingested = time.perf_counter()
                done = Consolidation(session, Options(workers=workers)).run()
                ended = time.perf_counter()
        texts = [row[0] for row in database.rows("SELECT content FROM negentropy.memories")]
        tokens = sum(embedder.count_tokens(text) for text in texts)
    finally:
        databases.drop(database)
    turns, took = len(texts), ended - started
    print(
        f"{sessions:>4} threads {turns:>5} turns {workers} workers: ingest {ingested - started:6.1f} s, "
        f"consolidate {ended - ingested:6.1f} s, together {turns / took * 60:7,.0f} turns/min, "
        f"{tokens / took:6,.0f} tokens/s; consolidate alone "
        f"{turns / (ended - ingested) * 60:8,.0f} turns/min; {done.facts} facts, {done.links} links"
    )
    print_steps(done)


def written(place: Path, sessions: list[dict[str, Any]]) -> list[tuple[Path, str]]:
    """A file for each conversation, with the speaker who is the user: the first."""
    files: dict[str, tuple[Path, str]] = {}
    for session in sessions:
        name = str(session["conversation_id"])
        if name not in files:
            files[name] = place / f"{name}.jsonl", session["speakers"][0]
        with files[name][0].open("a", encoding="utf-8") as file:
            file.write(json.dumps(session) + "\n")
    return list(files.values())


def print_steps(done: Consolidated) -> None:
    """What each step took, over all workers."""
    parts = [f"{name} {step.took_ms / 1000:.2f} s" for name, step in done.steps.items()]
    print(f"     jobs {done.jobs.done} done, {done.jobs.failed} failed; {', '.join(parts)}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--sessions", default="20,40,80")
    parser.add_argument("--server", default="embedded")
    parser.add_argument("--steps", default=",".join(Formation().steps))
    arguments = parser.parse_args()
    for workers in map(int, arguments.workers.split(",")):
        for sessions in map(int, arguments.sessions.split(",")):
            measured(arguments.folder, sessions, workers, arguments.server, arguments.steps)


if __name__ == "__main__":
    main()
