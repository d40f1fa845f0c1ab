"""Every named block of sql/queries is accepted by the server: names, columns and casts."""

from __future__ import annotations

import re

import pytest
from psycopg import errors

from negmem.db.sqlfiles import Queries, blocks
from negmem.shipped import data_dir
from tests.support.databases import TestDatabase

NOUNS = sorted(path.stem for path in (data_dir() / "sql" / "queries").glob("*.sql"))
_PARAMETER = re.compile(r"%\((\w+)\)s")
# Frames of transactions, and statements that can't be prepared.
_UTILITY = re.compile(
    r"^(BEGIN|COMMIT|ROLLBACK|VACUUM|SET|SAVEPOINT|RELEASE|EXPLAIN|DROP|CREATE|COPY|LOCK|ALTER)\b"
)


def prepared(text: str) -> str:
    """A block as PREPARE takes it: each parameter numbered, its type left to its cast."""
    names = list(dict.fromkeys(_PARAMETER.findall(text)))
    numbered = _PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", text)
    return numbered.replace("%%", "%").rstrip().rstrip(";")


def first_words(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("--")]
    return lines[0].strip() if lines else ""


@pytest.mark.parametrize("noun", NOUNS)
def test_every_block_prepares(database: TestDatabase, noun: str) -> None:
    connection = database.connect()
    queries = Queries("negentropy", "public")
    for name in blocks(noun):
        try:
            text = queries(noun, name)
        except Exception:  # a variable of its own, filled by its caller
            continue
        if _UTILITY.match(first_words(text)) or text.count(";") > 1:
            continue
        # What needs pg_cron or a temporary table is run by the tests of jobs and of adoption.
        if re.search(r"\b(cron|pg_temp)\.", text):
            continue
        try:
            connection.execute(f"PREPARE block AS {prepared(text)}".encode())
            connection.execute("DEALLOCATE block")
        except errors.Error as error:
            raise AssertionError(f"{noun}.{name}: {error}") from error
