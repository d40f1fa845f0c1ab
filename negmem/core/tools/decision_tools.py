"""Tools of the decision log: what the agent chose for the user and why, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from negmem.core.learning import decision_log
from negmem.core.learning.protocol import Bound
from negmem.core.models.decision import AgentDecision, DecisionChange
from negmem.core.tools.definition import Arguments, OptionalText, OptionalWord, Text, tool
from negmem.core.tools.written import owner

_Tag = Annotated[str, Field(min_length=1, max_length=100)]


class LogDecision(Arguments):
    """Arguments of log_decision."""

    decision: Annotated[Text, Field(description="What was decided, in a sentence.")]
    reasoning: Annotated[OptionalText, Field(description="Why.")] = None
    decision_type: Annotated[
        str | None,
        Field(description="Such as tool_selection, clarification or escalation.", max_length=64),
    ] = None
    context: Annotated[OptionalText, Field(description="The situation it was made in.")] = None
    alternatives: Annotated[
        list[Text], Field(description="What else could have been done.", max_length=10)
    ] = []  # noqa: RUF012  frozen, and pydantic copies defaults
    confidence: Annotated[
        float | None, Field(description="How sure you are, from 0 to 1.", ge=0, le=1)
    ] = None
    tags: Annotated[list[_Tag], Field(description="Words to file it under.", max_length=10)] = []  # noqa: RUF012


class RecordOutcome(Arguments):
    """Arguments of record_outcome."""

    decision_id: Annotated[UUID, Field(description="The id of a result of search_decisions.")]
    outcome: Annotated[Text, Field(description="What came of it.")]
    quality: Annotated[
        Literal["good", "bad", "neutral"] | None, Field(description="How that was.")
    ] = None


class SearchDecisions(Arguments):
    """Arguments of search_decisions."""

    query: Annotated[
        OptionalText, Field(description="Words of it; leave out to list the newest.")
    ] = None
    decision_type: Annotated[OptionalWord, Field(description="Only of this type.")] = None
    days: Annotated[
        int | None, Field(description="Only of the last so many days.", ge=1, le=3_650)
    ] = None
    limit: Annotated[int, Field(description="At most so many.", ge=1, le=20)] = 5


@tool("decision_log", LogDecision, writes=True)
def log_decision(bound: Bound, given: LogDecision) -> Mapping[str, Any]:
    """Log a decision that you made for the user and that may have to be explained later, with its reasons."""
    done = decision_log.log_decision(
        bound.session,
        owner(bound),
        given.decision,
        reasoning=given.reasoning,
        decision_type=given.decision_type or None,
        context=given.context,
        alternatives=given.alternatives,
        confidence=given.confidence,
        tags=given.tags,
        agent=bound.agent,
        team=bound.team,
        thread=bound.thread,
    )
    return {"action": done.action, **_named(done)}


@tool("decision_log", RecordOutcome, writes=True)
def record_outcome(bound: Bound, given: RecordOutcome) -> Mapping[str, Any]:
    """Note what came of a decision, once it is known."""
    done = decision_log.record_outcome(
        bound.session, owner(bound), given.decision_id, given.outcome, quality=given.quality
    )
    return {"action": done.action, **_named(done)}


@tool("decision_log", SearchDecisions)
def search_decisions(bound: Bound, given: SearchDecisions) -> Mapping[str, Any]:
    """Search the decisions that were made for this user, newest first, with reasons and outcomes."""
    found = decision_log.search_decisions(
        bound.session,
        owner(bound),
        given.query,
        decision_type=given.decision_type,
        days=given.days,
        limit=given.limit,
    )
    return {"decisions": [_shown(one) for one in found.decisions], "total": found.total}


def _named(done: DecisionChange) -> dict[str, Any]:
    one = done.decision
    return {} if one is None else {"id": str(one.id), "version": one.version}


def _shown(one: AgentDecision) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "decision": one.decision,
        "reasoning": one.reasoning,
        "type": one.decision_type,
        "outcome": one.outcome,
        "quality": one.outcome_quality,
        "decided_at": one.created_at.isoformat(timespec="minutes"),
    }


TOOLS = (log_decision, record_outcome, search_decisions)
