"""The tools of the built-in stores, by the store's name: what `Store.tools` gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from negmem.core.learning.protocol import Bound, Tool
from negmem.core.review import STORES
from negmem.core.tools.sets import bound_tools

TOOL_SETS: dict[str, Callable[[Bound], Sequence[Tool]]] = {
    store: bound_tools(store) for store in (*STORES, "decision_log")
}


def tools_of(store: str, bound: Bound) -> Sequence[Tool]:
    """The tools of a store, bound; none for a store that has none."""
    make = TOOL_SETS.get(store)
    return () if make is None else make(bound)
