"""A pytest plugin that holds runs to their markers: a kind of test of which none ran fails the run."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest

from tests.support.markers import DESCRIPTIONS, NEEDS


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


_ledger = MarkerLedger()


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for line in DESCRIPTIONS:
        config.addinivalue_line("markers", line)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Count what was chosen. Tests of pg_cron share one database, so one worker runs them."""
    for item in items:
        if item.get_closest_marker("needs_cron") is not None:
            item.add_marker(pytest.mark.xdist_group("cron"))
    yield
    _ledger.chosen(items)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what ran, in this process or in a worker."""
    _ledger.report(report)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run in which no test of a marker ran has not tested what it claims."""
    is_worker = hasattr(session.config, "workerinput")
    if is_worker or exitstatus != 0 or session.config.option.collectonly:
        return
    if _ledger.unmet():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which markers were not met."""
    if not config.option.collectonly:
        for name in _ledger.unmet():
            terminalreporter.write_line(f"no test of {name} ran: the run fails", red=True)
