"""The files of sql/functions run as they are, by psql alone."""

from __future__ import annotations

import subprocess

import pytest

from negmem.config.model import Automation
from negmem.core.automation.sync import diff
from negmem.core.session import open_session
from negmem.db import embedded, functions
from negmem.db.sqlfiles import data_dir
from tests.support.databases import TestDatabase


@pytest.mark.servers("embedded", "sixteen")
def test_psql_makes_the_same_functions(database: TestDatabase) -> None:
    drops = database.rows(
        "SELECT 'DROP FUNCTION IF EXISTS ' || oid::regprocedure || ' CASCADE' FROM pg_proc"
        " WHERE pronamespace = 'negentropy'::regnamespace"
    )
    for (statement,) in drops:
        database.rows(statement)
    values = functions.variables(Automation().model_dump(mode="json"), "negentropy", "public")
    given = [part for name, value in values.items() for part in ("-v", f"{name}={value}")]
    folder = data_dir() / "sql" / "functions"
    files = [part for name in functions.creation_order() for part in ("-f", folder / f"{name}.sql")]
    psql = [embedded.client_program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    unchecked = ["-c", "SET check_function_bodies = off"]
    done = subprocess.run(
        [*psql, *given, *unchecked, *files, database.dsn],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with open_session(dsn=database.dsn, env={}) as session:
        found = diff(session)
        assert (found.drift, found.changes, found.unmanaged) == (False, [], [])
        assert 30 < len(drops) < found.unchanged
