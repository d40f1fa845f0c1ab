"""Makes summaries anew whose sources changed: of threads, and of the user."""

from __future__ import annotations

from negmem.core import summaries
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("deep_reflection", "full_consolidation")


def run(work: Work) -> StepOutcome:
    """Summarize the threads that changed and the user; a model writes where the job has one."""
    done = summaries.refresh_changed(
        work.session,
        work.user,
        thread_id=work.thread_id,
        generator=work.generator if work.extractor == "llm" else None,
        run_id=work.job_id,
        checkpoint=work.checkpoint,
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
