"""Groups new memories into topics."""

from __future__ import annotations

from negmem.core import topics
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("deep_reflection", "full_consolidation")


def run(work: Work) -> StepOutcome:
    """Give each memory that has a vector and no topic its topic."""
    done = topics.cluster_new(
        work.session,
        work.user,
        threshold=work.session.config.formation.topic_threshold,
        thread_id=work.thread_id,
        checkpoint=work.checkpoint,
    )
    if done is None:
        return StepOutcome("skipped", "the app has no embedding model")
    if not done.memories:
        return StepOutcome("skipped", "no memory is new")
    counts = {"clustered_memories": done.memories, "joined": done.joined, "topics": done.begun}
    return StepOutcome("done", counts=counts)
