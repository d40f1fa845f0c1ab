"""The decision log: what an agent chose for a user and why, and what came of it. One user's alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from negmem.core.holds import check_may_delete
from negmem.core.learning import items
from negmem.core.learning.access import Owner
from negmem.core.learning.origins import changes_of, origins_of
from negmem.core.models.decision import (
    QUALITIES,
    AgentDecision,
    AgentDecisions,
    DecisionChange,
    DecisionShown,
)
from negmem.core.models.learning import ItemVersion
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

KIND = "decision"
_HINT = 'negmem decision add "…" --user NAME'


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
    dry_run: bool = False,
) -> DecisionChange:
    """Keep a decision. Raises: UsageError `text_refused`, `decision_invalid`; NegmemError `store_off`.

    A thread that the user does not have is not noted, with the warning `thread_unknown`.
    """
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
    if dry_run:
        return DecisionChange(action="logged", decision=None, dry_run=True)
    with session.database.transaction():
        session.database.execute("proposals", "admit", params)
        row = session.database.row("stores", "add_decision", params)
    assert row is not None
    made = _one(session, user, row["id"])
    if thread is not None and made.thread is None:
        session.warn("thread_unknown", f"the user has no thread {thread[:60]!r}: none was noted")
    return DecisionChange(action="logged", decision=made)


@gated_write
def record_outcome(
    session: Session,
    user: str,
    id: UUID,
    outcome: str,
    *,
    quality: str | None = None,
    dry_run: bool = False,
) -> DecisionChange:
    """Note what came of a decision of this user, however old it is; what was noted before is kept.

    Raises: UsageError `text_refused`, `decision_invalid`; NegmemError `decision_unknown`, `store_off`.
    """
    _require_on(session)
    if quality is not None and quality not in QUALITIES:
        raise _invalid(f"the quality is {quality[:40]!r}, none of {', '.join(QUALITIES)}")
    said = guard_of(session).screen(items.cleaned(outcome, "outcome", _HINT)).text
    noted = {"outcome": said, "outcome_quality": quality, "removed": False}
    return _change(session, user, id, "noted", lambda before, kept: noted, dry_run)


@gated_write
def remove(
    session: Session, user: str, id: UUID, *, reason: str | None = None, dry_run: bool = False
) -> DecisionChange:
    """Take a decision out of the log and of contexts; `undo` brings it back.

    Raises: NegmemError `decision_unknown`, `user_on_hold`; UsageError `text_refused`.
    """
    if reason is not None:
        said = items.cleaned(reason, "reason", "--reason TEXT", most=1000)
        reason = guard_of(session).screen(said).text

    def gone(before: _Values, kept: Sequence[ItemVersion]) -> _Values:
        return {**before, "removed": True}

    return _change(session, user, id, "removed", gone, dry_run, reason)


@gated_write
def undo(session: Session, user: str, id: UUID, *, dry_run: bool = False) -> DecisionChange:
    """Take the last change back: an outcome, a removal, or an undo.

    Raises: NegmemError `decision_unknown`, `nothing_to_undo`.
    """

    def before_that(before: _Values, kept: Sequence[ItemVersion]) -> _Values:
        if not kept:
            raise NegmemError(
                "nothing_to_undo",
                "nothing was changed here",
                why="this decision is as it was logged",
                hint=f"negmem decision show {id} --user {user}",
            )
        return {name: kept[-1].before[name] for name in before}

    return _change(session, user, id, "undone", before_that, dry_run)


@gated
def show(session: Session, user: str, id: UUID) -> DecisionShown:
    """A decision of this user, removed ones too, and who changed it. Raises: NegmemError `decision_unknown`."""
    one = _one(session, user, id)
    changes = changes_of(session, Owner("user", user), KIND, id)
    return DecisionShown(
        **dict(one),
        origins=origins_of(session, user, [id]).get(id, []),
        changes=changes,
        undo=f"negmem decision undo {id} --user {user}" if changes else None,
    )


_Values = dict[str, Any]


def _change(
    session: Session,
    user: str,
    id: UUID,
    action: str,
    wanted: Callable[[_Values, Sequence[ItemVersion]], _Values],
    dry_run: bool,
    reason: str | None = None,
) -> DecisionChange:
    """Give a decision the values of `wanted` (of what it has, and its versions); what it had is kept."""
    owner = Owner("user", user)
    place = {"user_id": user, "app_name": session.app, "id": id}

    def work() -> bool:
        with session.database.transaction():
            found = session.database.row("stores", "lock_decision", place)
            if found is None:
                raise _unknown(session, user, id)
            version = found.pop("version")
            kept = items.versions_of(session, owner, KIND, id) if action == "undone" else []
            after = wanted(found, kept)
            if after["removed"]:
                check_may_delete(session, user)
            elif found["removed"] and action == "noted":
                raise _unknown(session, user, id, "it was removed; negmem decision undo")
            else:
                session.database.execute("proposals", "admit", place)
            if after == found:
                return False
            if not dry_run:
                said = action if reason is None else f"{action}: {reason}"
                items.keep_version(session, owner, KIND, id, version, found, said)
                session.database.execute("stores", "change_decision", {**place, **after})
        return True

    changed = items.retried(work)
    return DecisionChange(
        action=action if changed else "unchanged",
        decision=_one(session, user, id),
        dry_run=dry_run,
    )


@gated
def list_decisions(
    session: Session,
    user: str,
    query: str | None = None,
    *,
    decision_type: str | None = None,
    agent: str | None = None,
    days: int | None = None,
    removed: bool = False,
    limit: int = 20,
    offset: int = 0,
) -> AgentDecisions:
    """A page of decisions made for a user, newest first; with `query` those that share words with it.

    Args: removed, those that were taken away instead. Warns `user_unknown`.
    """
    found = _page(session, user, query, decision_type, agent, days, removed, limit, offset)
    if not found.total and not offset:
        session.knows_user(user)
    return found


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
    """As `list_decisions`, for agents and contexts: of those that stand, and nobody is warned."""
    return _page(session, user, query, decision_type, agent, days, False, limit, offset)


def _page(
    session: Session,
    user: str,
    query: str | None,
    decision_type: str | None,
    agent: str | None,
    days: int | None,
    removed: bool,
    limit: int,
    offset: int,
) -> AgentDecisions:
    items.check_page(limit, offset)
    rows = _rows(session, user, None, query, decision_type, agent, days, removed, limit, offset)
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
    removed: bool | None = None,
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
        "removed": removed,
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


def _unknown(session: Session, user: str, id: UUID, why: str = "") -> NegmemError:
    return NegmemError(
        "decision_unknown",
        "there is no such decision",
        why=why or f'none that was made for user "{user}" of app "{session.app}" has the id {id}',
        hint=f"negmem decision list --user {user}",
    )
