"""Killed at any statement, a consolidation is finished by the next worker with the same result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from negmem.config.model import Formation
from tests.support import databases
from tests.support.consolidating import consolidate, consolidating
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import ingest_file, session_on, write_lines
from tests.support.stored_state import stored_state

ROOT = Path(__file__).parents[2]
COPIES = 6


def said(thread: str, day: str, *turns: str) -> dict[str, object]:
    return {
        "thread": thread,
        "user": "mei",
        "datetime": f"{day}T09:00:00Z",
        "turns": [
            {"role": "assistant" if number % 2 else "user", "text": text}
            for number, text in enumerate(turns)
        ],
    }


TALK = [
    said(
        "flat",
        "2026-03-02",
        "My name is Mei and I live in Lyon. I like green tea.",
        "Nice to meet you, Mei.",
        "I work at a bakery near the station. I don't like coffee.",
        "No coffee then. Shall I remember that?",
        "Please always answer in French.",
        "D'accord.",
    ),
    said(
        "搬家",
        "2026-04-10",
        "我搬家了，我现在住在里昂的老城区。",
        "老城区很漂亮。",
        "我最喜欢的茶是龙井。我不喜欢咖啡。",
        "记住了：龙井，不喝咖啡。",
        "我叫梅，请不要再叫我小梅。",
        "好的，梅。",
    ),
    said(
        "work",
        "2026-05-20",
        "I live in Paris now, I moved last week. I like green tea.",
        "How is Paris?",
        "I work at a bookshop now. My name is Mei.",
        "Congratulations on the new job.",
    ),
]


def test_killed_at_fifty_moments_it_ends_as_if_undisturbed(
    database: TestDatabase, tmp_path: Path
) -> None:
    with session_on(database, FakeEmbedder()) as session:
        ingest_file(session, write_lines(tmp_path / "talk.jsonl", TALK))
    # The job with all the steps.
    database.rows("UPDATE negentropy.consolidation_jobs SET job_type = 'full_consolidation'")
    copies = [databases.create(database.server, template=database.name) for _ in range(1 + COPIES)]
    steps = Formation().steps
    try:
        with consolidating(database, tmp_path, steps, FakeEmbedder()) as session:
            done = consolidate(session)
        assert (done.jobs.done, done.jobs.failed) == (3, 0)
        undisturbed = stored_state(database)
        arguments = [str(tmp_path / "negmem.yaml"), "7", *(copy.dsn for copy in copies)]
        told = subprocess.run(
            [sys.executable, "-m", "tests.support.killed_worker", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert sum(map(int, told.stdout.split())) >= 50
        for copy in copies:
            assert stored_state(copy) == undisturbed
    finally:
        for copy in copies:
            databases.drop(copy)
