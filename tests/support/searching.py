"""Searches on a test's database, and memories to search."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from negmem.core import memories
from negmem.core.models.retrieval import SearchAnswer
from negmem.core.retrieval.search import Filters, search
from negmem.core.session import Session

START = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def remember(session: Session, *texts: str, user: str = "ada", **options: Any) -> list[UUID]:
    """Store memories one after the other; returns their ids."""
    found = []
    for text in texts:
        added = memories.add(session, user, text, **options)
        assert added.memory is not None
        found.append(added.memory.id)
    return found


def remember_talk(
    session: Session, *turns: tuple[str, str], user: str = "ada", thread: str = "talk"
) -> list[UUID]:
    """Store (speaker, text) turns of one conversation at their places; returns their ids."""
    ids = []
    for number, (speaker, text) in enumerate(turns, start=1):
        (added,) = remember(
            session,
            text,
            user=user,
            thread=thread,
            metadata={"speaker": speaker},
            occurred_at=START + timedelta(minutes=number),
        )
        ids.append(added)
    with session.database.transaction() as connection:
        for number, memory_id in enumerate(ids, start=1):
            connection.execute(
                b"UPDATE negentropy.memories SET position = %s WHERE id = %s", (number, memory_id)
            )
    return ids


def ask(session: Session, query: str, user: str = "ada", **options: Any) -> SearchAnswer:
    """One search; filters may be given by name."""
    names = ("types", "thread", "since", "until", "where")
    given = {name: options.pop(name) for name in names if name in options}
    return search(session, user, query, filters=Filters(**given), **options)


def contents(answer: SearchAnswer) -> list[str]:
    """What the results say, best first."""
    return [result.content for result in answer.results]
