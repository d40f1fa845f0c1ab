"""Feedback closes the loop: what a search gave is judged, and later searches rank by it.

The judgement is stored here; the job `reweight_relevance` turns it into weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from negmem.core.models.feedback import OUTCOMES, Feedback
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

_LISTED = 5


def give(
    session: Session,
    retrieval_id: UUID,
    outcome: str,
    *,
    user: str | None = None,
    memories: Sequence[UUID] = (),
    used: Sequence[UUID] = (),
    rating: int | None = None,
    dry_run: bool = False,
) -> Feedback:
    """Store what is thought of a retrieval; saying the same again counts nothing twice.

    Args: user, whose retrieval it is, looked up where it is not given; memories, those that the outcome
    is about; used, the items that went into the answer; rating, 1 to 5, of the answer as a whole.
    Of each retrieval the last feedback that names a memory is its vote.
    Raises: UsageError `feedback_outcome_unknown`, `feedback_rating_invalid`, `feedback_not_returned`;
    NegmemError `retrieval_unknown`.
    """
    if outcome not in OUTCOMES:
        raise UsageError(
            "feedback_outcome_unknown",
            f"{outcome[:60]!r} is no outcome",
            why=f"the outcomes are {', '.join(OUTCOMES)}",
            hint=f"negmem feedback {retrieval_id} helpful --memory ID",
        )
    if rating is not None and not 1 <= rating <= 5:
        raise UsageError(
            "feedback_rating_invalid",
            "the rating is out of range",
            why=f"1 is worst and 5 is best, got {rating}",
            hint=f"negmem feedback {retrieval_id} {outcome} --rating 4",
        )
    owner = user if user is not None else _owner(session, retrieval_id)
    scope = {"user_id": owner, "app_name": session.app}
    database = session.database
    with database.transaction():
        log = database.row("feedback", "lock", {**scope, "id": retrieval_id})
        if log is None:
            raise _unknown(session, retrieval_id, owner)
        words = f"negmem feedback {retrieval_id} {outcome}"
        _check_named(log, words, memories, "--memory", ["memory_ids"])
        _check_named(log, words, used, "--used", ["memory_ids", "fact_ids"])
        judged, referenced = sorted(set(memories)), sorted(set(used))
        said = {
            **scope,
            "retrieval_id": retrieval_id,
            "outcome": outcome,
            "memory_ids": judged,
            "used_ids": referenced,
            "rating": rating,
        }
        stored = database.row("feedback", "same", said)
        replayed = stored is not None
        if stored is None and not dry_run:
            stored = database.row("feedback", "give", {**said, "given_by": session.actor})
            database.execute("feedback", "mark", {**scope, "id": retrieval_id})
    return Feedback(
        id=None if stored is None else stored["id"],
        retrieval_id=retrieval_id,
        user=owner,
        outcome=outcome,
        memories=judged,
        used=referenced,
        rating=rating,
        returned=len(log["memory_ids"]) + len(log["fact_ids"]),
        replayed=replayed,
        dry_run=dry_run,
        given_by=session.actor,
        created_at=None if stored is None else stored["created_at"],
    )


def parse_retrieval_id(text: str) -> UUID:
    """A retrieval's id. Raises: UsageError `id_malformed`."""
    try:
        return UUID(str(text))
    except ValueError:
        raise UsageError(
            "id_malformed",
            f"{str(text)[:60]!r} is no id of a retrieval",
            why="an id is a UUID such as 9f2c1d4e-…",
            hint='negmem search "…" --user NAME --json    gives its retrieval_id',
        ) from None


def _owner(session: Session, retrieval_id: UUID) -> str:
    params = {"app_name": session.app, "id": retrieval_id}
    row = session.database.row("feedback", "owners", params)
    if row is None:
        raise _unknown(session, retrieval_id, None)
    return str(row["user_id"])


def _unknown(session: Session, retrieval_id: UUID, user: str | None) -> NegmemError:
    whose = f'app "{session.app}"' if user is None else f'user "{user}" of app "{session.app}"'
    return NegmemError(
        "retrieval_unknown",
        "there is no such retrieval",
        why=f"{whose} has no log {retrieval_id}",
        hint='negmem search "…" --user NAME --json    gives its retrieval_id',
    )


def _check_named(
    log: Mapping[str, Any], said: str, named: Sequence[UUID], option: str, may_be: Sequence[str]
) -> None:
    """Refuse what the retrieval did not give: nothing else may be judged by it.

    Args: log, the row of the retrieval; said, the command as far as its outcome; option, that named them;
    may_be, the columns whose ids it may name.
    """
    returned = [item for column in may_be for item in log[column]]
    wrong = sorted(set(named) - set(returned))
    if not wrong:
        return
    listed = ", ".join(map(str, wrong[:_LISTED]))
    why = f"{listed} is not among the {len(returned)} that it gave"
    if set(wrong) <= set(log["fact_ids"]):
        why = f"{listed} is a fact: --used may name it, --memory names memories"
    raise UsageError(
        "feedback_not_returned",
        f"the retrieval did not give {'this' if len(wrong) == 1 else 'these'}",
        why=why,
        hint=f"{said} {option} {returned[0]}    is one that it gave" if returned else said,
    )
