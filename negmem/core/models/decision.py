"""Decisions of agents, as the API returns them and `--json` prints them."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant
from negmem.core.models.origin import ItemChange, Origin

QUALITIES = ("good", "bad", "neutral")


class AgentDecision(Model):
    """What an agent chose for a user and why; `outcome` what came of it, `confidence` in 0..1."""

    id: UUID
    decision: str
    reasoning: str | None
    decision_type: str | None
    context: str | None
    alternatives: list[str]
    confidence: float | None
    outcome: str | None
    outcome_quality: str | None
    tags: list[str]
    agent: str | None
    team: str | None
    thread: str | None
    version: int
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None


class DecisionShown(AgentDecision):
    """A decision, the turns it rests on (at most three), and who changed it (the last twenty changes).

    `undo` takes the last change back; None: none was made.
    """

    origins: list[Origin]
    changes: list[ItemChange]
    undo: str | None


class DecisionChange(Model):
    """What was done: logged, noted, removed, undone, unchanged."""

    action: str
    decision: AgentDecision | None
    dry_run: bool = False


class AgentDecisions(Model):
    """A page of decisions, newest first."""

    decisions: list[AgentDecision]
    total: int
    truncated: bool
