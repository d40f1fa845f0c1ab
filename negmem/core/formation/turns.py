"""The turns of a thread as the steps of consolidation read them."""

from __future__ import annotations

from negmem.core.formation.compaction import Turn, compacted
from negmem.core.formation.pipeline import Work
from negmem.core.text.dates import dated

__all__ = ["Turn", "read_turns"]


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
