"""Writes that wait for a person, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

STATUSES = ("pending", "stale", "failed", "applied", "rejected", "expired")


class FieldChange(Model):
    """One thing that a proposal would change: what stands now, and what would stand."""

    field: str
    before: Any
    after: Any


class Duplicate(Model):
    """What stood already when the proposal was made, and how near it is, in 0..1."""

    id: UUID
    text: str
    score: float


class Proposal(Model):
    """A write that waits, or what became of it.

    `act` is the call that an approval makes, with `arguments`; `target_id` at `target_version` is what it
    would change. `status`: pending; stale, the target was changed meanwhile; failed, the last try to apply
    it was refused (`reason`); applied; rejected; expired. `mode` hitl: whoever proposed may not approve.
    """

    id: UUID
    status: str
    store: str
    op: str
    act: str
    mode: str
    namespace: str
    user: str | None
    agent: str | None
    arguments: dict[str, Any]
    target_id: UUID | None
    target_version: int | None
    evidence: list[dict[str, Any]]
    rationale: str | None
    confidence: float | None
    model: str | None
    prompt_version: str | None
    duplicates: list[Duplicate]
    proposed_by: str
    decided_by: str | None
    decided_at: Instant | None
    reason: str | None
    applied_id: UUID | None
    expires_at: Instant
    created_at: Instant
    metadata: dict[str, Any]


class ProposalShown(Model):
    """A proposal, and what it would change of what stands now."""

    proposal: Proposal
    changes: list[FieldChange]
    is_stale: bool


class ProposalList(Model):
    """A page of proposals, the oldest that waits first."""

    proposals: list[Proposal]
    total: int
    truncated: bool


class ProposalDecision(Model):
    """What was decided. `replayed`: it was decided so before, and nothing was done again."""

    id: UUID
    status: str
    decided_by: str | None
    reason: str | None
    applied_id: UUID | None
    replayed: bool = False
    dry_run: bool = False
