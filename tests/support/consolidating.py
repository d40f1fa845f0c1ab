"""Consolidation in tests: sessions with steps of the test's choice, and what the queue holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from negmem.core.formation.consolidate import Consolidation, Options
from negmem.core.models.consolidation import Consolidated
from negmem.core.session import Session, open_session
from negmem.providers.embedding import Embedder, EmbedderAbsent
from tests.support.databases import TestDatabase
from tests.support.ingesting import NO_EMBEDDER

JOBS = """
    SELECT t.external_id, j.job_type, j.status, j.attempts, j.error
    FROM negentropy.consolidation_jobs AS j
    LEFT JOIN negentropy.threads AS t ON t.user_id = j.user_id AND t.id = j.thread_id
    ORDER BY j.created_at, t.external_id
"""


@contextmanager
def consolidating(
    database: TestDatabase,
    folder: Path,
    steps: Sequence[str],
    embedder: Embedder | EmbedderAbsent = NO_EMBEDDER,
    **formation: Any,
) -> Iterator[Session]:
    """A session whose YAML lists these steps, and further keys of `formation`."""
    values = {"steps": f"[{', '.join(steps)}]", "retry_base_s": 0, "lease_s": 5, **formation}
    path = folder / "negmem.yaml"
    text = "".join(f"  {key}: {value}\n" for key, value in values.items())
    path.write_text(f"formation:\n{text}", encoding="utf-8")
    with open_session(dsn=database.dsn, config_path=str(path), env={}) as session:
        session.use_embedder(embedder)
        yield session


def consolidate(session: Session, **options: Any) -> Consolidated:
    """One run over the queue."""
    return Consolidation(session, Options(**options)).run()


def queue_threads(database: TestDatabase, users: int, threads: int) -> None:
    """A fast_replay job for each of so many threads of so many users."""
    database.rows(
        """
        WITH named AS (
            SELECT 'user' || u AS user_id, 't' || n AS name
            FROM generate_series(1, %(users)s) AS u, generate_series(1, %(threads)s) AS n
        ),
        known AS (
            INSERT INTO negentropy.users (user_id, app_name)
            SELECT DISTINCT n.user_id, 'negmem' FROM named AS n
            ON CONFLICT DO NOTHING
        ),
        made AS (
            INSERT INTO negentropy.threads (user_id, app_name, external_id)
            SELECT n.user_id, 'negmem', n.name FROM named AS n
            RETURNING user_id, id
        )
        SELECT negentropy.enqueue_consolidation('negmem', array_agg(m.user_id)::text[], array_agg(m.id))
        FROM made AS m
        """,
        {"users": users, "threads": threads},
    )
