"""The turns of a thread as the steps of consolidation read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from negmem.core.formation.compaction import Turn, compacted
from negmem.core.formation.extraction.prompt import SourceTurn
from negmem.core.formation.pipeline import Work
from negmem.core.text.dates import dated

__all__ = [
    "Turn",
    "is_own",
    "mark_read",
    "read_before",
    "read_turns",
    "source_of",
    "threads_of",
]

CONTEXT_CHARS = 400
"""So much of a turn that is only context: an answer of the assistant may be very long."""


def read_turns(work: Work, *, before: int = 0) -> list[Turn]:
    """The turns that the job is about, in their order; with up to `before` older ones ahead of them.

    Empty where the job is about a whole user. Older turns are shortened where
    `formation.compaction.enabled` says so.
    """
    if work.thread_id is None:
        return []
    rows = work.session.database.rows(
        "consolidation",
        "turns",
        {
            "user_id": work.user,
            "app_name": work.app,
            "thread_id": work.thread_id,
            "since": work.since,
            "before": before,
        },
    )
    turns = [Turn(**row) for row in rows]
    settings = work.session.config.formation.compaction
    if not settings.enabled:
        return turns
    # Patterns work out for themselves what day a word means, from the words as they were said.
    for_model = settings.absolute_dates and work.generator is not None
    return compacted(turns, settings, dated=dated if for_model else None)


def threads_of(work: Work) -> Sequence[UUID]:
    """The thread that a job is about, or all of its user's."""
    if work.thread_id is not None:
        return [work.thread_id]
    rows = work.session.database.rows(
        "extraction", "threads", {"user_id": work.user, "app_name": work.app}
    )
    return [row["id"] for row in rows]


def is_own(turn: Turn) -> bool:
    """The user's own words: role user, which `ingest --me` gives to the speaker of that name."""
    return turn.role == "user" and turn.kind == "message" and bool(turn.text.strip())


def source_of(turn: Turn, is_own: bool) -> SourceTurn:
    """A turn as a model sees it; what is there only as context is shortened."""
    text = turn.text if is_own else turn.text[:CONTEXT_CHARS]
    return SourceTurn(turn.event_id, text, is_own, turn.occurred_at, turn.memory_id)


def read_before(
    work: Work, turns: Iterable[Turn], reader: str
) -> tuple[dict[UUID, int], set[UUID]]:
    """The version of each turn's memory, and the memories that this reader has read."""
    ids = [turn.memory_id for turn in turns if turn.memory_id is not None]
    rows = work.session.database.rows(
        "extraction",
        "read_before",
        {"user_id": work.user, "app_name": work.app, "memory_ids": ids, "reader": reader},
    )
    return {row["id"]: row["version"] for row in rows}, {
        row["id"] for row in rows if row["is_read"]
    }


def mark_read(
    work: Work, turns: Iterable[SourceTurn], versions: dict[UUID, int], reader: str
) -> None:
    """Note that these turns were read, so that the model is not paid for them twice."""
    ids = [turn.memory_id for turn in turns if turn.is_own and turn.memory_id in versions]
    if not ids:
        return
    with work.session.database.transaction():
        work.session.database.rows(
            "formation_marks",
            "mark",
            {
                "user_id": work.user,
                "app_name": work.app,
                "ids": ids,
                "versions": [versions[one] for one in ids if one is not None],
                "step": reader,
            },
        )
