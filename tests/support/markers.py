"""Which servers a test runs on, as its markers say."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

# marker → the server that a test with it runs on, unless it names servers itself
NEEDS = {"needs_vector": "embedded", "needs_cron": "full", "needs_pooler": "pooled"}
DEFAULT = "embedded"
CAPABLE = frozenset({"embedded", "full", "sixteen"})
DESCRIPTIONS = (
    "servers(*names): the servers of tests/servers on which the test runs, one after the other",
    "needs_vector: the test needs pgvector",
    "needs_cron: the test needs pg_cron (runs on full; one at a time)",
    "needs_pooler: the test needs a transaction pooler (runs on pooled)",
)


def server_names(item: pytest.Item | pytest.Function | Iterable[pytest.Mark]) -> tuple[str, ...]:
    """The servers that a test asks for by its markers."""
    marks = list(item if isinstance(item, Iterable) else item.iter_markers())
    for mark in marks:
        if mark.name == "servers":
            return tuple(mark.args)
    for mark in marks:
        if mark.name in NEEDS:
            return (NEEDS[mark.name],)
    return (DEFAULT,)


def runs_on_own_server(item: pytest.Item, has_cron: bool) -> bool:
    """Whether a test has something to say about the one server that NEGMEM_TEST_DSN names.

    A test that names a single server is about that server's own ways.
    """
    if item.get_closest_marker("needs_cron") is not None:
        return has_cron
    named = server_names(item)
    alone = item.get_closest_marker("servers") is not None and len(named) == 1
    return not alone and not CAPABLE.isdisjoint(named)
