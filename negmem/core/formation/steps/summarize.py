"""Makes summaries anew whose sources changed: of threads, and of the user."""

from __future__ import annotations

from negmem.core import summaries
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("deep_reflection", "full_consolidation")
_PROFILE_PAUSE_S = 3600.0


def run(work: Work) -> StepOutcome:
    """Summarize the threads that changed and the user; a model writes where the job has one."""
    generator = work.generator if work.extractor == "llm" else None
    # A user of many threads has a job for each: a model writes of the user once in a while.
    is_one_of_many = generator is not None and work.thread_id is not None
    done = summaries.refresh_changed(
        work.session,
        work.user,
        thread_id=work.thread_id,
        generator=generator,
        run_id=work.job_id,
        checkpoint=work.checkpoint,
        profile_pause_s=_PROFILE_PAUSE_S if is_one_of_many else 0.0,
    )
    written = [one for one in done if one.action in ("written", "removed")]
    counts = {
        "summaries": len(written),
        "summaries_unchanged": sum(one.action == "unchanged" for one in done),
        "summary_fallbacks": sum(
            one.summary is not None and one.summary.fallback is not None for one in written
        ),
    }
    if not written:
        return StepOutcome("skipped", "no summary's sources changed", counts)
    return StepOutcome("done", counts=counts)
