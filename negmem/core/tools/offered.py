"""Which tools an agent gets: those of the stores that are on, and to write where the mode lets it."""

from __future__ import annotations

from collections.abc import Iterator

from negmem.core.session import Session
from negmem.core.tools import (
    decision_tools,
    entity_tools,
    knowledge_tools,
    memory_tools,
    profile_tools,
)
from negmem.core.tools.definition import Definition

ALL: dict[str, Definition] = {
    one.name: one
    for one in (
        *profile_tools.TOOLS,
        *memory_tools.TOOLS,
        *entity_tools.TOOLS,
        *knowledge_tools.TOOLS,
        *decision_tools.TOOLS,
    )
}


def why_not(session: Session, one: Definition) -> str | None:
    """Why an agent does not get a tool; None where it does."""
    store = getattr(session.config.learning, one.store)
    if not store.enabled:
        return f"the store {one.store} is off: learning.{one.store}.enabled"
    if one.writes and store.mode == "always" and not session.config.learning.tools.in_always:
        return f"only the extractor writes into {one.store}: learning.tools.in_always"
    return None


def offered(session: Session) -> Iterator[Definition]:
    """The tools that an agent gets, in a fixed order."""
    return (one for one in ALL.values() if why_not(session, one) is None)
