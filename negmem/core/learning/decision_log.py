"""The decision log: what an agent chose for a user and why, and what came of it. One user's alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from negmem.core.learning import items
from negmem.core.models.decision import QUALITIES, AgentDecision, AgentDecisions
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

_HINT = """negmem tools call log_decision --user NAME --arguments '{"decision": "…"}'"""


@gated_write
def log_decision(
    session: Session,
    user: str,
    decision: str,
    *,
    reasoning: str | None = None,
    decision_type: str | None = None,
    context: str | None = None,
    alternatives: Sequence[str] = (),
    confidence: float | None = None,
    tags: Sequence[str] = (),
    agent: str | None = None,
    team: str | None = None,
    thread: str | None = None,
) -> AgentDecision:
    """Keep a decision. Raises: UsageError `text_refused`, `decision_invalid`; NegmemError `store_off`."""
    _require_on(session)
    if confidence is not None and not 0 <= confidence <= 1:
        raise _invalid(f"its confidence is {confidence:g}, not in 0..1")
    if isinstance(alternatives, str) or isinstance(tags, str):
        raise _invalid("alternatives and tags are lists")
    said = items.cleaned(decision, "decision", _HINT)
    beside = (
        None if not reasoning else items.cleaned(reasoning, "reasoning", _HINT),
        None if not context else items.cleaned(context, "context", _HINT),
        [items.cleaned(one, "alternative", _HINT) for one in alternatives],
        [items.cleaned(one, "tag", _HINT, most=100) for one in tags],
    )
    screened = guard_of(session).screen(said, {}, beside)
    why, about, others, marks = screened.beside
    params = {
        "user_id": user,
        "app_name": session.app,
        "agent_id": agent,
        "team_id": team,
        "thread": thread,
        "decision": screened.text,
        "reasoning": why,
        "decision_type": None
        if not decision_type
        else items.cleaned(decision_type, "type", _HINT, most=64),
        "context": about,
        "alternatives": list(others),
        "confidence": confidence,
        "tags": list(marks),
    }
    with session.database.transaction():
        session.database.execute("proposals", "admit", params)
        row = session.database.row("stores", "add_decision", params)
    assert row is not None
    return _one(session, user, row["id"])


@gated_write
def record_outcome(
    session: Session, user: str, id: UUID, outcome: str, *, quality: str | None = None
) -> AgentDecision:
    """Note what came of a decision of this user, however old it is.

    Raises: UsageError `text_refused`, `decision_invalid`; NegmemError `decision_unknown`, `store_off`.
    """
    _require_on(session)
    if quality is not None and quality not in QUALITIES:
        raise _invalid(f"the quality is {quality[:40]!r}, none of {', '.join(QUALITIES)}")
    said = items.cleaned(outcome, "outcome", _HINT)
    params = {
        "user_id": user,
        "app_name": session.app,
        "id": id,
        "outcome": guard_of(session).screen(said).text,
        "outcome_quality": quality,
    }
    with session.database.transaction():
        session.database.execute("proposals", "admit", params)
        row = session.database.row("stores", "record_outcome", params)
    if row is None:
        raise _unknown(session, user, id)
    return _one(session, user, id)


@gated
def search_decisions(
    session: Session,
    user: str,
    query: str | None = None,
    *,
    decision_type: str | None = None,
    agent: str | None = None,
    days: int | None = None,
    limit: int = 20,
    offset: int = 0,
) -> AgentDecisions:
    """A page of decisions made for a user, newest first; with `query` those that share words with it."""
    items.check_page(limit, offset)
    rows = _rows(session, user, None, query, decision_type, agent, days, limit, offset)
    total = int(rows[0]["total"]) if rows else 0
    return AgentDecisions(
        decisions=[_decision(row) for row in rows],
        total=total,
        truncated=offset + len(rows) < total,
    )


def _rows(
    session: Session,
    user: str,
    id: UUID | None,
    query: str | None = None,
    decision_type: str | None = None,
    agent: str | None = None,
    days: int | None = None,
    limit: int = 1,
    offset: int = 0,
) -> list[dict[str, Any]]:
    params = {
        "user_id": user,
        "app_name": session.app,
        "id": id,
        "query": query or None,
        "decision_type": decision_type,
        "agent_id": agent,
        "days": days,
        "row_limit": limit,
        "row_offset": offset,
    }
    return session.database.rows("stores", "decisions", params)


def _one(session: Session, user: str, id: UUID) -> AgentDecision:
    rows = _rows(session, user, id)
    if not rows:
        raise _unknown(session, user, id)
    return _decision(rows[0])


def _decision(row: dict[str, Any]) -> AgentDecision:
    return AgentDecision(**{name: row[name] for name in AgentDecision.model_fields})


def _require_on(session: Session) -> None:
    if not session.config.learning.decision_log.enabled:
        raise NegmemError(
            "store_off",
            "the store decision_log is off",
            why="learning.decision_log.enabled is false",
            hint="negmem config set learning.decision_log.enabled true",
        )


def _invalid(why: str) -> UsageError:
    return UsageError("decision_invalid", "this can't be a decision", why=why, hint=_HINT)


def _unknown(session: Session, user: str, id: UUID) -> NegmemError:
    return NegmemError(
        "decision_unknown",
        "there is no such decision",
        why=f'none that was made for user "{user}" of app "{session.app}" has the id {id}',
        hint="negmem tools call search_decisions --user NAME --arguments '{}'",
    )
