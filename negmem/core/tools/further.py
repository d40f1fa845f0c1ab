"""The tools of stores that somebody else wrote: beside the built-in ones, limited and bounded as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from negmem.core.learning.protocol import Bound, Tool
from negmem.core.tools.definition import Refusal
from negmem.errors import NegmemError


@dataclass(frozen=True)
class Further:
    """A tool of a further store."""

    store: str
    tool: Tool


def further_tools(bound: Bound, taken: frozenset[str]) -> dict[str, Further]:
    """The tools of the stores that the config names beside the built-in ones, by name.

    A store that fails has none, with the warning `store_failed`; a name in `taken`, or of an earlier store,
    is not given twice, with the warning `tool_name_taken`.
    Raises: UsageError `store_not_found`, `store_unfit`.
    """
    from negmem.core.learning.stores import custom_store

    found: dict[str, Further] = {}
    session = bound.session
    for name in session.config.learning.stores:
        store = custom_store(name)
        try:
            tools = list(store.tools(bound))
        except Exception as error:  # whatever a store of somebody's own meets, the others work on
            why = error.message if isinstance(error, NegmemError) else type(error).__name__
            session.warn("store_failed", f"{name} gives no tools: {why}")
            continue
        for tool in tools:
            if tool.name in taken or tool.name in found:
                session.warn("tool_name_taken", f"{name} has a tool {tool.name}, as another store")
                continue
            found[tool.name] = Further(name, tool)
    return found


def called(one: Further, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """What such a tool answers. Raises: NegmemError; Refusal `tool_failed` for whatever else it raises."""
    try:
        answer = json.loads(json.dumps(one.tool.call(arguments), default=str))
    except (NegmemError, Refusal):
        raise
    except Exception as error:
        raise Refusal(
            "tool_failed",
            f"the store {one.store} failed: {type(error).__name__}",
            "this may be none of your doing; go on without it",
        ) from error
    return answer if isinstance(answer, Mapping) else {"result": answer}
