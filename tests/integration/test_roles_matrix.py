"""Every command under every role: what tools/role_matrix.py says of it, which docs show, comes of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from negmem.cli.tree import whole_tree
from tests.support.cli import CliResult, CliRunner
from tests.support.databases import TestDatabase
from tests.support.role_world import RoleWorld
from tests.support.roles import as_role, login_role
from tools.role_matrix import MATRIX, REFUSED, WITHOUT_ROLE, YES

KEYS = ("owner", "app", "reader", "auditor")


@pytest.fixture
def cli(negmem: CliRunner, database: TestDatabase) -> Iterator[CliRunner]:
    """`negmem` as superuser, after `init --roles`; the roles are gone afterwards."""
    names = {key: f"{database.name}_{key}" for key in KEYS}
    named = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    env = {**negmem.env, **named, "NEGMEM_EMBEDDING__PROVIDER": "none"}
    env["NEGMEM_LEARNING__DECISION_LOG__ENABLED"] = "true"
    made = CliRunner(env=env, cwd=negmem.cwd)
    made("init", "--roles").ok()
    yield made
    for name in names.values():
        if database.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)):
            database.rows(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER')
            database.rows(f'DROP OWNED BY "{name}"')
            database.rows(f'DROP ROLE "{name}"')


def test_every_command_stands_in_the_matrix() -> None:
    tree = whole_tree()
    commands = {" ".join(c.words) for c in tree.walk() if c.words and not c.commands}
    called = {" ".join(tree.find(shlex.split(case.line)).words) for case in MATRIX}
    assert sorted(commands - called - set(WITHOUT_ROLE)) == [], "say what each role may"
    assert sorted((called | set(WITHOUT_ROLE)) - commands) == []
    assert sorted(called & set(WITHOUT_ROLE)) == []


def outcome(found: CliResult, expected: str, database: TestDatabase, login: str) -> str:
    """What happened, in the words of the matrix; a refusal counts as one where it names the grant."""
    document = found.json
    error = document.get("error")
    if error is None:
        codes = [warning["code"] for warning in document["warnings"]]
        return expected if expected in codes else YES
    # Nobody but its owner may write a function.
    if error["code"] not in ("privilege_missing", "function_not_owned"):
        return str(error["code"])
    return REFUSED if names_the_grant(error, database, login) else f"no grant: {error}"


def names_the_grant(error: dict[str, str], database: TestDatabase, login: str) -> bool:
    """Whether it names what the login lacks, and as remedy a role that has it, or else the grant itself."""
    lacked = re.search(r"lacks ([A-Z, ]+) on (table|schema|database) (\S+)", error["why"])
    remedy = re.match(r'GRANT "?(\w+_(?:owner|app|reader|auditor))"? TO "?(\w+)"?;', error["hint"])
    if lacked is None:
        owned = re.search(r"does not own (schema )?negentropy, (\w+) does", error["why"])
        return owned is not None and owned[2] == f"{database.name}_owner"
    privileges, kind, thing = lacked[1].split(", "), lacked[2], lacked[3]
    may = f"SELECT has_{kind}_privilege(%s, %s, %s)"
    if any(database.value(may, (login, thing, one)) for one in privileges):
        return thing.endswith(".installation")  # single columns of it may be read
    if remedy is None:
        grant = f"GRANT {lacked[1]} ON {kind.upper()} {thing} TO {login};"
        return kind == "database" and error["hint"] == grant
    return remedy[2] == login and all(
        database.value(may, (remedy[1], thing, one)) for one in privileges
    )


def test_what_each_role_may_do(cli: CliRunner, database: TestDatabase) -> None:
    world = RoleWorld(cli, database)
    wrong = []
    with ExitStack() as logins:
        dsn, login = {}, {}
        for key in KEYS:
            name = logins.enter_context(login_role(database.server, database.name))
            database.rows(f'GRANT "{database.name}_{key}" TO "{name}"')
            dsn[key], login[key] = as_role(database.dsn, name), name
        for case in MATRIX:
            # Those that may least go first: what is refused changes nothing.
            for key in ("reader", "auditor", "app", "owner"):
                words = world.words_of(case.line)
                given = world.stdin_of(words) if "-" in words else ""
                found = cli(*words, "--json", env={"NEGMEM_DSN": dsn[key]}, stdin=given)
                came = outcome(found, getattr(case, key), database, login[key])
                if came != getattr(case, key):
                    said = found.json.get("error", {}).get("why", "")
                    wrong.append(f"{case.line}, as {key}: {came}; {said}")
    assert not wrong, "\n".join(wrong)
