"""Databases for tests: a template that the product installed once, and a clone of it for each test."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from tests.servers import Server, ensure
from tests.servers.places import locked
from tests.support import product

_PREFIX = "negmem_t_"
_CLONE = re.compile(rf"^{_PREFIX}\w+?_(?P<pid>\d+)_\d+$")
_numbers = itertools.count(1)


@dataclass
class TestDatabase:
    """A database that is the test's own. `dsn` goes through the pooler on the server `pooled`."""

    __test__ = False

    name: str
    server: Server
    _open: list[psycopg.Connection[TupleRow]] = field(default_factory=list)

    @property
    def dsn(self) -> str:
        """A superuser's DSN, as a URL."""
        return self.server.dsn(self.name)

    def connect(self, **params: Any) -> psycopg.Connection[TupleRow]:
        """A new connection in autocommit mode, closed when the test ends; `params` as for psycopg."""
        params = {"autocommit": True, "prepare_threshold": None, **params}
        connection = psycopg.connect(self.dsn, **params)
        self._open.append(connection)
        return connection

    def rows(self, statement: str, params: Any = None) -> list[TupleRow]:
        """The rows of one statement; what returns none gives an empty list."""
        with psycopg.connect(self.dsn, autocommit=True, prepare_threshold=None) as connection:
            cursor = connection.execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else []

    def value(self, statement: str, params: Any = None) -> Any:
        """The first column of the first row."""
        return self.rows(statement, params)[0][0]

    def close(self) -> None:
        """Close what `connect` opened."""
        for connection in self._open:
            connection.close()


def admin(server: Server) -> psycopg.Connection[TupleRow]:
    """A superuser's connection that may create and drop databases: never through the pooler."""
    direct = ensure(server.direct) if server.direct else server
    return psycopg.connect(direct.admin_dsn, autocommit=True)


def create(server: Server, *, template: str = "template1") -> TestDatabase:
    """A new database on `server`, named by worker and process."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    name = f"{_PREFIX}{worker}_{os.getpid()}_{next(_numbers)}"
    _create(server, name, template)
    return TestDatabase(name, server)


def _create(server: Server, name: str, template: str) -> None:
    with admin(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )


def drop(database: TestDatabase) -> None:
    """Remove a database, whoever is still connected."""
    database.close()
    _drop(database.server, database.name)


def migrated_template(server: Server) -> str:
    """The name of the template database on `server` that the product installed; made if missing."""
    direct = ensure(server.direct) if server.direct else server
    name = f"negmem_template_{product.fingerprint()}"
    with locked(f"template-{direct.name}"), admin(direct) as connection:
        known = [row[0] for row in connection.execute("SELECT datname FROM pg_database")]
        if name in known:
            return name
        for old in _old_templates(connection):
            _drop(direct, old)
        draft = f"{name}_draft"
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(draft)))
        product.install(direct.dsn(draft))
        psycopg.connect(direct.dsn(draft)).close()  # leaves the catalog's cache, to be copied too
        connection.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                sql.Identifier(draft), sql.Identifier(name)
            )
        )
    return name


def _old_templates(connection: psycopg.Connection[TupleRow]) -> list[str]:
    """Templates that no run can still be cloning: another run may hold to its own for a while."""
    found = connection.execute(
        "SELECT datname FROM pg_database WHERE starts_with(datname, 'negmem_template_')"
        " AND (datname LIKE '%%_draft' OR (pg_stat_file('base/' || oid || '/PG_VERSION', true))"
        ".modification < now() - interval '1 hour')"
    )
    return [row[0] for row in found]


@contextlib.contextmanager
def alone_with_pg_cron(server: Server) -> Iterator[None]:
    """The one database of `server` in which pg_cron lives: without jobs, and nobody else's."""
    with locked(f"cron-{server.name}"):
        home = _cron_home(server)
        with admin(server) as connection:
            names = [row[0] for row in connection.execute("SELECT datname FROM pg_database")]
        if home.name not in names:  # a run that made it anew was cut off
            _create(server, home.name, "template1")
        home.rows("CREATE EXTENSION IF NOT EXISTS pg_cron")
        home.rows("SELECT cron.unschedule(jobid) FROM cron.job")
        home.rows("TRUNCATE cron.job_run_details")
        yield


def remake_cron_database(server: Server) -> TestDatabase:
    """That database made anew, with negmem and pg_cron installed; call within alone_with_pg_cron."""
    home = _cron_home(server)
    template = migrated_template(server)
    _drop(server, home.name)
    _create(server, home.name, template)
    home.rows("CREATE EXTENSION pg_cron")
    return home


def _cron_home(server: Server) -> TestDatabase:
    name = server.cron_database
    assert name is not None, f"{server.name} has no pg_cron"
    assert name.startswith("negmem_"), f"{name} is not ours"
    return TestDatabase(name, server)


def remove_left_over(server: Server) -> None:
    """Drop the clones of test processes that no longer live."""
    with locked(f"template-{server.name}"), admin(server) as connection:
        for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall():
            if _is_left_over(name):
                _drop(server, name)


def _is_left_over(name: str) -> bool:
    found = _CLONE.match(name)
    if found is None:
        return False
    try:
        os.kill(int(found["pid"]), 0)
    except ProcessLookupError:
        return True
    return False


def _drop(server: Server, name: str) -> None:
    with admin(server) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )
