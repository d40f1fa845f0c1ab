"""Which servers a test runs on, and whether every kind of test was run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

# marker → the server that a test with it runs on, unless it names servers itself
NEEDS = {"needs_vector": "embedded", "needs_cron": "full", "needs_pooler": "pooled"}
DEFAULT = "embedded"
DESCRIPTIONS = (
    "servers(*names): the servers of tests/servers on which the test runs, one after the other",
    "needs_vector: the test needs pgvector",
    "needs_cron: the test needs pg_cron (runs on full; one at a time)",
    "needs_pooler: the test needs a transaction pooler (runs on pooled)",
)


def server_names(item: pytest.Item | Iterable[pytest.Mark]) -> tuple[str, ...]:
    """The servers that a test asks for by its markers."""
    marks = list(item.iter_markers() if isinstance(item, pytest.Item) else item)
    for mark in marks:
        if mark.name == "servers":
            return tuple(mark.args)
    for mark in marks:
        if mark.name in NEEDS:
            return (NEEDS[mark.name],)
    return (DEFAULT,)


class MarkerLedger:
    """Counts, for each marker, the tests that were chosen and those that really ran."""

    def __init__(self) -> None:
        self._chosen: dict[str, set[str]] = {name: set() for name in NEEDS}
        self._ran: set[str] = set()

    def chosen(self, items: Sequence[pytest.Item]) -> None:
        """Note the tests of a run."""
        for item in items:
            for name, tests in self._chosen.items():
                if item.get_closest_marker(name) is not None:
                    tests.add(item.nodeid)

    def report(self, report: pytest.TestReport) -> None:
        """Note a phase of one test; with workers, this is also how its markers become known."""
        for name, tests in self._chosen.items():
            if name in report.keywords:
                tests.add(report.nodeid)
        if report.when == "call" and not report.skipped:
            self._ran.add(report.nodeid)

    def unmet(self) -> list[str]:
        """The markers of which no chosen test ran."""
        return [name for name, tests in self._chosen.items() if tests and not tests & self._ran]
