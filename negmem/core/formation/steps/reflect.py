"""Learns lessons from bad answers, and with a model what several memories show together."""

from __future__ import annotations

from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work
from negmem.core.formation.reflections import Reflector

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("deep_reflection", "full_consolidation")


def run(work: Work) -> StepOutcome:
    """Reflect on the user; a failed or refused answer of the model leaves its memories for the next run."""
    generator = work.generator if work.extractor == "llm" else None
    done = Reflector(
        work.session,
        work.user,
        generator=generator,
        run_id=work.job_id,
        checkpoint=work.checkpoint,
    ).run()
    counts = {
        "memories": done.lessons + done.insights,
        "lessons": done.lessons,
        "lesson_templates": done.templates,
        "insights": done.insights,
        "reflections_dropped": done.dropped,
        "lessons_skipped": done.skipped,
    }
    if done.failure is not None:
        return StepOutcome("failed", done.failure, counts)
    if counts["memories"] or done.read:
        return StepOutcome("done", done.ceiling, counts)
    if done.ceiling is not None:
        return StepOutcome("skipped", done.ceiling, counts)
    missing = (
        "no bad feedback" if generator is not None else "no bad feedback, and no language model"
    )
    return StepOutcome("skipped", missing, counts)
