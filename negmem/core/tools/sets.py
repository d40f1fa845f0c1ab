"""Tools bound to a user and namespace: those of one store, and all that an agent gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from negmem.core.learning.protocol import Bound, Tool
from negmem.core.tools.calling import call
from negmem.core.tools.definition import Definition
from negmem.core.tools.further import further_tools
from negmem.core.tools.offered import ALL, offered
from negmem.core.tools.schemas import parameters


def bound_tools(store: str) -> Callable[[Bound], Sequence[Tool]]:
    """Makes the tools of a built-in store, as its mode allows them."""

    def make(bound: Bound) -> Sequence[Tool]:
        return [bound_tool(bound, one) for one in offered(bound.session) if one.store == store]

    return make


def bound_tool(bound: Bound, one: Definition) -> Tool:
    """A built-in tool, bound."""
    return Tool(
        one.name,
        one.description,
        parameters(bound.session, one),
        one.writes,
        partial(_called, bound, one.name),
    )


def offered_tools(bound: Bound) -> list[Tool]:
    """All that an agent gets: of the built-in stores that are on, then of further ones.

    Raises: UsageError `store_not_found`, `store_unfit`.
    """
    others = further_tools(bound, frozenset(ALL)).values()
    built_in = [bound_tool(bound, one) for one in offered(bound.session)]
    return built_in + [one.tool for one in others]


def _called(bound: Bound, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return call(bound.session, bound, name, arguments).content
