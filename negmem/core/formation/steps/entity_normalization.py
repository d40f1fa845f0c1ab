"""Brings keys and values of facts that differ in spelling alone under one name."""

from __future__ import annotations

from negmem.core import fact_names
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("fast_replay", "full_consolidation")


def run(work: Work) -> StepOutcome:
    """Unify what the user's current facts call by several names; safe rules alone, nothing is looked up."""
    done = fact_names.unify(work.session, work.user, checkpoint=work.checkpoint)
    if not done.looked_at:
        return StepOutcome("skipped", "the user has no facts")
    counts = {"normalized_keys": done.keys, "normalized_values": done.values}
    return StepOutcome("done", counts=counts)
