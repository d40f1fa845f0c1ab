"""Every table under every role: each kind of statement is tried, and what the docs say of it comes of it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from negmem.core.models.grants import ROLE_KEYS, TABLES
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.roles import as_role, login_role

ALL = "DELETE INSERT SELECT UPDATE"
# None of them touches a row: what is asked is whether it may.
STATEMENTS = {
    "SELECT": "SELECT {columns} FROM negentropy.{table} LIMIT 0",
    "INSERT": "INSERT INTO negentropy.{table} ({column}) SELECT (NULL::negentropy.{table}).{column} WHERE false",
    "UPDATE": "UPDATE negentropy.{table} SET {column} = {column} WHERE false",
    "DELETE": "DELETE FROM negentropy.{table} WHERE false",
}
COLUMNS = """
SELECT c.relname::text, a.attname::text, a.attgenerated <> ''
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind = 'r' ORDER BY 1, a.attnum
"""


@pytest.fixture
def roles(negmem: CliRunner, database: TestDatabase) -> Iterator[dict[str, str]]:
    """The four roles by their keys, after `init --roles`; gone afterwards."""
    names = {key: f"{database.name}_{key}" for key in ROLE_KEYS}
    named = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    env = {**negmem.env, **named, "NEGMEM_EMBEDDING__PROVIDER": "none"}
    CliRunner(env=env, cwd=negmem.cwd)("init", "--roles").ok()
    yield names
    for name in names.values():
        database.rows(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER')
        database.rows(f'DROP OWNED BY "{name}"')
        database.rows(f'DROP ROLE "{name}"')


def may(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> bool:
    try:
        connection.execute(statement.encode())
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def test_what_each_role_may_do_to_each_table(database: TestDatabase, roles: dict[str, str]) -> None:
    columns: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for table, name, is_generated in database.rows(COLUMNS):
        columns.setdefault(table, []).append(name)
        if not is_generated:
            first.setdefault(table, name)
    assert set(columns) == set(TABLES)
    wrong = []
    for place, key in enumerate(ROLE_KEYS):
        with login_role(database.server, database.name) as login:
            database.rows(f'GRANT "{roles[key]}" TO "{login}"')
            with psycopg.connect(as_role(database.dsn, login), autocommit=True) as connection:
                for table, given in TABLES.items():
                    wanted = ALL if key == "owner" else given[place - 1]
                    if table == "memory_audit_logs" and key == "owner":
                        wanted = "INSERT SELECT"  # append-only, also for whom it belongs to
                    some = [one[7:-1] for one in wanted.split() if "(" in one]
                    shown = ", ".join(some or columns[table])
                    for verb, text in STATEMENTS.items():
                        statement = text.format(table=table, column=first[table], columns=shown)
                        expected = verb in wanted.split() or (verb == "SELECT" and bool(some))
                        if may(connection, statement) != expected:
                            wrong.append((key, table, verb, expected))
                    if some:
                        hidden = sorted(set(columns[table]) - set(some))
                        wrong += [
                            (key, table, one, False)
                            for one in hidden
                            if may(connection, f"SELECT {one} FROM negentropy.{table}")
                        ]
                    if key != "owner" and may(connection, f"TRUNCATE negentropy.{table} CASCADE"):
                        wrong.append((key, table, "TRUNCATE", False))
    assert wrong == []
