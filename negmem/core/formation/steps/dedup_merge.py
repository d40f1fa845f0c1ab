"""Merges memories that say the same, and finds facts that stand against each other under different keys."""

from __future__ import annotations

from negmem.core import conflict_search, merging
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("fast_replay", "full_consolidation")


def run(work: Work) -> StepOutcome:
    """Merge what the job brought into what the user has; nothing goes without a live successor."""
    config = work.session.config.formation
    done = merging.merge_fresh(
        work.session,
        work.user,
        work.job_id,
        thread_id=work.thread_id,
        since=work.since,
        threshold=config.merge_threshold,
        checkpoint=work.checkpoint,
    )
    found = conflict_search.search_conflicts(
        work.session,
        work.user,
        thread_id=work.thread_id,
        since=work.since,
        threshold=config.conflict_threshold,
        generator=work.generator if work.extractor == "llm" else None,
        checkpoint=work.checkpoint,
    )
    if not done.looked_at and not found.compared:
        return StepOutcome("skipped", "no memory is new")
    counts = {
        "duplicates_merged": len(done.merged),
        "compared_pairs": done.compared,
        "kept_apart": done.vetoed,
        "conflicts": found.opened + found.decided,
        "facts_merged": found.merged,
    }
    return StepOutcome("done", found.refused, counts)
