"""What the tools that write have in common: whose it is, and what came of it."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from negmem.core.learning.protocol import Bound
from negmem.core.review import waits
from negmem.core.review_targets import is_observation
from negmem.core.tools.definition import Refusal


def owner(bound: Bound) -> str:
    """The user that the caller bound. Raises: Refusal `user_missing`."""
    if bound.user is None:
        raise Refusal("user_missing", "this tool needs a user, and none is bound to this agent")
    return bound.user


def outcome(done: object, action: str | None = None) -> dict[str, Any]:
    """What came of a write, in words: done, or kept for a person to decide.

    Args: action, what was done where `done` does not say so itself.
    """
    proposal = getattr(done, "proposal_id", None)
    if proposal is not None:
        note = "nothing is written before a person approves it; do not say that it is done"
        return {"action": "proposed", "proposal_id": str(proposal), "note": note}
    said = str(getattr(done, "action", None) if action is None else action)
    if said == "suppressed":
        return {"action": "suppressed", "note": "a person rejected the same not long ago"}
    return {"action": said}


def require_reviewable(bound: Bound, memory: UUID) -> None:
    """Refuse what no proposal can carry while the user's memory waits for a person.

    Raises: Refusal `review_required`, for a memory that is no observation.
    """
    session, user = bound.session, owner(bound)
    if waits(session, "memory") and not is_observation(session, user, {"ids": [memory]}):
        raise Refusal(
            "review_required",
            "a person decides on changes of this memory, and only observations can be proposed",
            "write what is right with memory_write; tell the user that it waits for approval",
        )


def sentence(content: str) -> str:
    """The content, if it is prose. Raises: Refusal `not_prose` for a JSON object in disguise."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if isinstance(value, dict) and len(value) > 1:
        raise Refusal(
            "not_prose",
            "the content is a JSON object",
            "write what should be remembered as a sentence, in the user's language",
        )
    return content
