"""Writes that wait for a person, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

STATUSES = ("pending", "edited", "stale", "failed", "applied", "rejected", "expired", "waiting")
"""`waiting` asks for the first four together."""


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
    would change. `status`: pending; edited, a person changed the arguments (`proposed` are those that were
    proposed); stale, the target was changed meanwhile; failed, the last try to apply it was refused (`reason`);
    applied; rejected; expired. `mode` hitl: who proposed or edited it may not approve.
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
    proposed: dict[str, Any] | None
    edited_by: str | None
    edited_at: Instant | None
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


class ProposalEdited(Model):
    """A proposal as it waits now, and which arguments a person changed: `before` and `after`."""

    proposal: Proposal
    edited: list[FieldChange]
    dry_run: bool = False


class NotDecided(Model):
    """A proposal of several that was left as it was, or failed, and why."""

    id: UUID
    code: str
    message: str


class ProposalDecisions(Model):
    """What was decided of several, oldest first, each in a transaction of its own."""

    decided: list[ProposalDecision]
    left: list[NotDecided]
    dry_run: bool = False


class ProposalExport(Model):
    """Proposals written to a file, a line of JSON each."""

    path: str
    proposals: int
