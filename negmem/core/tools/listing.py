"""The tools that there are, the built-in ones and those of further stores: as a list, and as function schemas."""

from __future__ import annotations

import difflib

from negmem.core.learning.protocol import Bound, Tool
from negmem.core.models.tool import ToolInfo, ToolList, ToolSchemas
from negmem.core.session import Session
from negmem.core.tools.further import Further, further_tools
from negmem.core.tools.offered import ALL, why_not
from negmem.core.tools.schemas import function_schema
from negmem.core.tools.sets import bound_tool, offered_tools
from negmem.errors import UsageError


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
    for name, other in _further(session).items():
        tools.append(
            ToolInfo(
                name=name,
                store=other.store,
                description=other.tool.description,
                writes=other.tool.writes,
                offered=True,
                reason=None,
            )
        )
    return ToolList(tools=tools)


def schemas(session: Session, name: str | None = None) -> ToolSchemas:
    """The OpenAI schemas of the tools that are offered, or of one, offered or not.

    Raises: UsageError `tool_unknown`.
    """
    chosen = offered_tools(Bound(session)) if name is None else [named(session, name)]
    return ToolSchemas(tools=[function_schema(one) for one in chosen])


def named(session: Session, name: str) -> Tool:
    """A tool by its name, bound to nobody. Raises: UsageError `tool_unknown`."""
    if name in ALL:
        return bound_tool(Bound(session), ALL[name])
    others = _further(session)
    if name in others:
        return others[name].tool
    known = [*ALL, *others]
    near = next(iter(difflib.get_close_matches(name, known, n=1)), None)
    raise UsageError(
        "tool_unknown",
        f"there is no tool {name[:60]!r}",
        why=f"the tools are {', '.join(known)}",
        hint=f"negmem tools schema {near}" if near else "negmem tools list",
    )


def _further(session: Session) -> dict[str, Further]:
    return further_tools(Bound(session), frozenset(ALL))
