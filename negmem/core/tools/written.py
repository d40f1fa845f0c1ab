"""What the tools that write have in common: whose it is, and what became a proposal."""

from __future__ import annotations

import json
from typing import Any

from negmem.core.learning.protocol import Bound
from negmem.core.tools.definition import Refusal


def owner(bound: Bound) -> str:
    """The user that the caller bound. Raises: Refusal `user_missing`."""
    if bound.user is None:
        raise Refusal("user_missing", "this tool needs a user, and none is bound to this agent")
    return bound.user


def proposed_of(done: object) -> dict[str, Any]:
    """The id of the proposal that a write became, where a person decides on it."""
    proposal = getattr(done, "proposal_id", None)
    return {} if proposal is None else {"proposal_id": str(proposal)}


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
