"""Scores and counters made anew: retention of the thread's memories, the term statistics of the user."""

from __future__ import annotations

from uuid import UUID

from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("full_consolidation",)

_BATCH = 1_000


def run(work: Work) -> StepOutcome:
    """Recompute what is derived; counts `rescored` memories and `recounted` statistics."""
    database = work.session.database
    scope = {"user_id": work.user, "app_name": work.app}
    rescored = 0
    after = UUID(int=0)
    while True:
        params = {**scope, "thread_id": work.thread_id, "after": after, "most": _BATCH}
        ids = [row["id"] for row in database.rows("consolidation", "members", params)]
        if not ids:
            break
        work.checkpoint()
        with database.transaction():
            row = database.row("consolidation", "rescore", {**scope, "ids": ids})
        rescored += int(row["rescored"]) if row else 0
        after = ids[-1]
    work.checkpoint()
    with database.transaction():
        database.execute("repair", "lock_statistics", scope)
        recounted = database.execute("repair", "recount_statistics", scope)
    return StepOutcome("done", counts={"rescored": rescored, "recounted": recounted})
