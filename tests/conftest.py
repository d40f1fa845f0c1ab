"""Fixtures of all tests: a clean environment, real servers, a database a test, the command line.

`database` is a clone of a database that negmem installed; `empty_database` has nothing in it. A test
says where it runs with `@pytest.mark.servers("full", "sixteen")`; without it, on `embedded`.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import psycopg
import pytest

from negmem.db.postmaster import stop_server
from tests import servers
from tests.servers.places import clusters_folder, memory_folder
from tests.support import databases, marker_plugin, markers
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.snapshots import snapshots as snapshots

_KEPT = ("NEGMEM_TEST_DSN", "NEGMEM_TEST_CACHE", "NEGMEM_TEST_MIRROR", "NEGMEM_TEST_BROWSER")
_swept: set[str] = set()


def _clean_environment() -> None:
    """What a developer's shell says must not reach a test, nor a test the developer's files."""
    for name in list(os.environ):
        if name.startswith("PG") or (name.startswith("NEGMEM_") and name not in _KEPT):
            del os.environ[name]
    os.environ["TZ"] = "UTC"
    time.tzset()
    nowhere = Path(tempfile.gettempdir()) / "negmem-tests-have-no-home"
    os.environ["XDG_CONFIG_HOME"] = str(nowhere)
    os.environ["NEGMEM_HOME"] = "/dev/null/negmem-tests-have-no-home"  # can't be made: told at once


_clean_environment()
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this suite."""
    parser.addoption(
        "--update-snapshots", action="store_true", help="Write the snapshots of tests/cli anew."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, and count the tests that have them."""
    config.pluginmanager.register(marker_plugin)


def pytest_report_header() -> list[str]:
    """Versions of what is tested with; starts no server."""
    lines = [
        f"python {platform.python_version()}, psycopg {psycopg.__version__}, libpq "
        f"{psycopg.pq.version_pretty(psycopg.pq.version())}"
    ]
    own = servers.own()
    if own:
        return [*lines, own.label, "tests of other servers are left out (NEGMEM_TEST_DSN)"]
    for name in servers.NAMES:
        found = servers.status(name)
        lines.append(found.label if found else f"{name}: comes up when a test needs it")
    return lines


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on each server that it names."""
    if "server" in metafunc.fixturenames:
        names = markers.server_names(metafunc.definition)
        if len(names) > 1 and not servers.own():
            metafunc.parametrize("server", names, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With NEGMEM_TEST_DSN, leave out the tests of other servers."""
    own = servers.own()
    if own:
        # The database of pg_cron is made anew for each test: only one that is ours by its name.
        has_cron = (own.cron_database or "").startswith("negmem_")
        chosen = [item for item in items if markers.runs_on_own_server(item, has_cron)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen


@pytest.fixture
def server(request: pytest.FixtureRequest) -> servers.Server:
    """The server that the test runs on, up and running."""
    name = getattr(request, "param", None) or markers.server_names(request.node)[0]
    return _server(name)


def _server(name: str) -> servers.Server:
    try:
        found = servers.ensure(name)
        if name not in _swept and not found.direct:
            _swept.add(name)
            databases.remove_left_over(found)
        return found
    except servers.ServerUnavailable as reason:
        pytest.fail(f"the server {name} can't be had: {reason}", pytrace=False)


@pytest.fixture(scope="session")
def server_named() -> Callable[[str], servers.Server]:
    """Any server by name, for a test that needs more than one."""
    return _server


@pytest.fixture
def admin_dsn(server: servers.Server) -> str:
    """A superuser's DSN of the server, for its database postgres."""
    return server.admin_dsn


@pytest.fixture
def database(server: servers.Server) -> Iterator[TestDatabase]:
    """A database of the test's own in which negmem is installed (schema negentropy)."""
    made = databases.create(server, template=databases.migrated_template(server))
    yield made
    databases.drop(made)


@pytest.fixture
def empty_database(server: servers.Server) -> Iterator[TestDatabase]:
    """A database of the test's own with nothing in it."""
    made = databases.create(server)
    yield made
    databases.drop(made)


@pytest.fixture(autouse=True)
def _alone_with_pg_cron(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test marked needs_cron has pg_cron to itself, and finds no job."""
    if request.node.get_closest_marker("needs_cron") is None:
        yield
        return
    name = getattr(getattr(request.node, "callspec", None), "params", {}).get("server")
    found = _server(name or markers.server_names(request.node)[0])
    with databases.alone_with_pg_cron(_server(found.direct) if found.direct else found):
        yield


@pytest.fixture
def cron_database(server: servers.Server) -> Iterator[TestDatabase]:
    """The database in which pg_cron lives, with negmem installed and no job: mark with needs_cron.

    The scheduler comes back within about a second of the test's start: wait for what it does.
    """
    made = databases.remake_cron_database(server)
    yield made
    made.close()


@pytest.fixture
def negmem_home() -> Iterator[Path]:
    """A home for an embedded cluster of the test's own, closed to others; stopped and removed."""
    place = clusters_folder()
    in_memory = place == memory_folder()  # durable there at once; else a place with a short name
    folder = Path(tempfile.mkdtemp(prefix="negmem-test-", dir=place if in_memory else None))
    yield folder
    for data in folder.rglob("postmaster.pid"):
        stop_server(data.parent, 30, signal.SIGQUIT)
    shutil.rmtree(folder)


@pytest.fixture
def run_cli(tmp_path: Path) -> CliRunner:
    """`negmem`, in a folder of its own and with no database named: pass --dsn, or use `negmem`."""
    return CliRunner(env={**os.environ, "COLUMNS": "80"}, cwd=tmp_path)


@pytest.fixture
def negmem(run_cli: CliRunner, database: TestDatabase) -> CliRunner:
    """`negmem` with the test's database as its target."""
    return CliRunner(env={**run_cli.env, "NEGMEM_DSN": database.dsn}, cwd=run_cli.cwd)
