"""The tools of one store, bound to a user and namespace: what a store of the learning machine gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from negmem.core.learning.protocol import Bound, Tool
from negmem.core.tools.calling import call
from negmem.core.tools.offered import offered
from negmem.core.tools.schemas import parameters


def bound_tools(store: str) -> Callable[[Bound], Sequence[Tool]]:
    """Makes the tools of a store, as its mode allows them."""

    def make(bound: Bound) -> Sequence[Tool]:
        return [
            Tool(
                one.name,
                one.description,
                parameters(bound.session, one),
                one.writes,
                partial(_called, bound, one.name),
            )
            for one in offered(bound.session)
            if one.store == store
        ]

    return make


def _called(bound: Bound, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return call(bound.session, bound, name, arguments).content
