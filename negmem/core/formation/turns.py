"""The turns of a thread as the steps of consolidation read them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from negmem.core.formation.pipeline import Work


@dataclass(frozen=True)
class Turn:
    """What somebody said in a thread, or a tool answered.

    `text` is what is kept of it: edited or masked where the turn's memory was. `role` is user,
    assistant, tool or system; `speaker` a name, where speakers have names. `is_new` says whether it
    was recorded since the thread was consolidated last; `memory_id` is the turn's memory, if it has one.
    """

    event_id: UUID
    position: int
    kind: str
    role: str | None
    speaker: str | None
    text: str
    occurred_at: datetime | None
    is_new: bool
    memory_id: UUID | None


def read_turns(work: Work, *, before: int = 0) -> list[Turn]:
    """The turns that the job is about, in their order; with up to `before` older ones ahead of them.

    Empty where the job is about a whole user.
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
    return [Turn(**row) for row in rows]
