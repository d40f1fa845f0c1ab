"""Ingest in tests: files to read, and what a database holds afterwards, without ids and clocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from negmem.core import installation
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.models.ingest import Ingested
from negmem.core.session import Session, open_session
from negmem.providers.embedding import Embedder, EmbedderAbsent
from tests.support.databases import TestDatabase

NO_EMBEDDER = EmbedderAbsent("embedder_disabled", "tests name one where they need it")


@contextmanager
def session_on(
    database: TestDatabase,
    embedder: Embedder | EmbedderAbsent = NO_EMBEDDER,
    *,
    home: Path | None = None,
    **overrides: Any,
) -> Iterator[Session]:
    """A session on a test's database; an embedder becomes the app's model, a home is the test's own."""
    env = {} if home is None else {"NEGMEM_HOME": str(home)}
    with open_session(dsn=database.dsn, env=env, overrides=overrides) as session:
        session.use_embedder(embedder)
        if not isinstance(embedder, EmbedderAbsent):
            installation.install(session)
        yield session


def ingest_file(session: Session, path: Path, **options: Any) -> Ingested:
    """Ingest one file, by default for the user alice."""
    options = {"user": "alice", **options}
    return Ingest(session, IngestOptions(path=str(path), **options)).run()


def write_lines(path: Path, values: Sequence[object]) -> Path:
    """A file of one JSON value a line."""
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    path.write_text(text, encoding="utf-8")
    return path


def conversation(thread: str | None, *texts: str, **members: object) -> dict[str, object]:
    """A session of our own format; user and assistant take turns."""
    turns = [
        {"role": "assistant" if number % 2 else "user", "text": text}
        for number, text in enumerate(texts)
    ]
    named = {} if thread is None else {"thread": thread}
    return {**named, "datetime": "2026-03-02T09:00:00Z", "turns": turns, **members}


def many_conversations(sessions: int, turns: int = 10) -> list[dict[str, object]]:
    """Sessions with distinct turns in both languages, for two users."""
    return [
        conversation(
            f"t{number}",
            *(f"会话 {number} 第 {turn} 条 order-{number:04d}-{turn}" for turn in range(turns)),
            user=f"user{number % 2}",
        )
        for number in range(sessions)
    ]


_TURNS = """
    SELECT e.user_id, t.external_id, e.position, e.author, e.event_type, e.content, e.occurred_at,
        m.content, m.metadata, m.occurred_at, m.position, m.memory_type,
        round(m.retention_score::numeric, 6),
        (SELECT count(*) FROM negentropy.memory_terms AS w
         WHERE w.user_id = m.user_id AND w.memory_id = m.id),
        (SELECT count(*) FROM negentropy.memory_vectors AS v
         WHERE v.user_id = m.user_id AND v.memory_id = m.id)
    FROM negentropy.events AS e
    JOIN negentropy.threads AS t ON t.user_id = e.user_id AND t.id = e.thread_id
    LEFT JOIN negentropy.item_sources AS s ON s.user_id = e.user_id AND s.event_id = e.id
    LEFT JOIN negentropy.memories AS m
        ON m.user_id = s.user_id AND m.id = s.item_id AND m.thread_id = e.thread_id
    ORDER BY 1, 2, 3, 4, 6::text
"""
_STATS = """
    SELECT s.user_id, s.documents, s.total_len
    FROM negentropy.memory_term_stats AS s
    ORDER BY 1
"""
_STATS_AS_THEY_SHOULD_BE = """
    SELECT d.user_id, count(*), sum(d.len)
    FROM (SELECT DISTINCT w.user_id, w.memory_id, w.len FROM negentropy.memory_terms AS w) AS d
    GROUP BY d.user_id
    ORDER BY 1
"""
_ORPHANS = """
    SELECT
        (SELECT count(*) FROM negentropy.memories AS m WHERE NOT EXISTS (
            SELECT 1 FROM negentropy.item_sources AS s
            WHERE s.user_id = m.user_id AND s.item_id = m.id)),
        (SELECT count(*) FROM negentropy.memory_terms AS w WHERE NOT EXISTS (
            SELECT 1 FROM negentropy.memories AS m
            WHERE m.user_id = w.user_id AND m.id = w.memory_id)),
        (SELECT count(*) FROM negentropy.threads AS t WHERE NOT EXISTS (
            SELECT 1 FROM negentropy.events AS e
            WHERE e.user_id = t.user_id AND e.thread_id = t.id))
"""
_JOBS = """
    SELECT j.user_id, t.external_id, j.job_type, j.status, count(*)
    FROM negentropy.consolidation_jobs AS j
    JOIN negentropy.threads AS t ON t.user_id = j.user_id AND t.id = j.thread_id
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
"""


def contents(database: TestDatabase) -> dict[str, Any]:
    """All that ingest wrote, comparable between databases; checks what must hold in any of them."""
    assert database.rows(_STATS) == database.rows(_STATS_AS_THEY_SHOULD_BE)
    assert database.rows(_ORPHANS) == [(0, 0, 0)]
    return {
        "turns": database.rows(_TURNS),
        "stats": database.rows(_STATS),
        "jobs": database.rows(_JOBS),
    }
