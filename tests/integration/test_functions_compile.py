"""Every managed function compiles: installed with its body unchecked, created again with it checked."""

from __future__ import annotations

import pytest

from negmem.config.model import Automation
from negmem.db import functions
from tests.support.databases import TestDatabase


@pytest.mark.servers("embedded", "sixteen", "full")
def test_every_function_compiles(database: TestDatabase) -> None:
    values = functions.variables(Automation().model_dump(mode="json"), "negentropy", "public")
    connection = database.connect()
    connection.execute("SET check_function_bodies = on")
    for name, statement in functions.rendered(values).items():
        try:
            connection.execute(statement.encode())
        except Exception as error:
            raise AssertionError(f"{name}: {error}") from error
