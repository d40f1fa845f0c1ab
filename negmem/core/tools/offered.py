"""Which tools an agent gets: those of the stores that are on, and to write where the mode lets it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from negmem.core.models.tool import ToolInfo, ToolList, ToolSchemas
from negmem.core.session import Session
from negmem.core.tools import entity_tools, knowledge_tools, memory_tools, profile_tools
from negmem.core.tools.definition import Definition
from negmem.core.tools.schemas import function_schema
from negmem.errors import UsageError

ALL: dict[str, Definition] = {
    one.name: one
    for one in (
        *profile_tools.TOOLS,
        *memory_tools.TOOLS,
        *entity_tools.TOOLS,
        *knowledge_tools.TOOLS,
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


def list_tools(session: Session) -> ToolList:
    """All tools, and whether an agent gets them as configured."""
    tools = []
    for one in ALL.values():
        reason = why_not(session, one)
        tools.append(
            ToolInfo(
                name=one.name,
                store=one.store,
                description=one.description,
                writes=one.writes,
                offered=reason is None,
                reason=reason,
            )
        )
    return ToolList(tools=tools)


def schemas(session: Session, name: str | None = None) -> ToolSchemas:
    """The OpenAI schemas of the tools that are offered, or of one, offered or not.

    Raises: UsageError `tool_unknown`.
    """
    chosen = list(offered(session)) if name is None else [named(name)]
    return ToolSchemas(tools=[function_schema(session, one) for one in chosen])


def named(name: str) -> Definition:
    """A tool by its name. Raises: UsageError `tool_unknown`."""
    found = ALL.get(name)
    if found is None:
        near = next(iter(difflib.get_close_matches(name, ALL, n=1)), None)
        raise UsageError(
            "tool_unknown",
            f"there is no tool {name[:60]!r}",
            why=f"the tools are {', '.join(ALL)}",
            hint=f"negmem tools schema {near}" if near else "negmem tools list",
        )
    return found
