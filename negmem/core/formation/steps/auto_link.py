"""Links new memories to their neighbours: in meaning, in time, in their thread, by what they name."""

from __future__ import annotations

from negmem.core import associations
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("fast_replay", "full_consolidation")


def run(work: Work) -> StepOutcome:
    """Link what the job's thread (or user) has that is not linked yet."""
    memories, links = associations.link_new(
        work.session,
        work.user,
        thread_id=work.thread_id,
        run_id=work.job_id,
        threshold=work.session.config.formation.link_threshold,
        checkpoint=work.checkpoint,
    )
    if not memories:
        return StepOutcome("skipped", "no memory is new")
    return StepOutcome("done", counts={"links": links, "linked_memories": memories})
