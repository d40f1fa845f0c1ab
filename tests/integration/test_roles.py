"""The four roles: made, compared, repaired and removed; and what each of them may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from negmem.core.grants import SEQUENCES, TABLES
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.roles import as_role, login_role

SERVERS = pytest.mark.servers("embedded", "full", "sixteen")
KEYS = ("owner", "app", "reader", "auditor")


@pytest.fixture
def names(database: TestDatabase) -> Iterator[dict[str, str]]:
    """Names of roles that no other test of this server uses; gone afterwards."""
    found = {key: f"{database.name}_{key}" for key in KEYS}
    yield found
    for name in found.values():
        if database.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)):
            database.rows(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER')
            database.rows(f'DROP OWNED BY "{name}"')
            database.rows(f'DROP ROLE "{name}"')


@pytest.fixture
def cli(negmem: CliRunner, names: dict[str, str]) -> CliRunner:
    """`negmem` with these names configured."""
    named = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    env = {**negmem.env, **named, "NEGMEM_EMBEDDING__PROVIDER": "none"}
    return CliRunner(env=env, cwd=negmem.cwd)


@pytest.fixture
def roles(cli: CliRunner, names: dict[str, str]) -> dict[str, str]:
    """The names, after `init --roles`."""
    cli("init", "--roles").ok()
    return names


@contextmanager
def acting(database: TestDatabase, *groups: str) -> Iterator[str]:
    """A DSN of a login role that is a member of these groups."""
    with login_role(database.server, database.name) as name:
        for group in groups:
            database.rows(f'GRANT "{group}" TO "{name}"')
        yield as_role(database.dsn, name)


def differences(cli: CliRunner) -> set[tuple[str, str, str]]:
    """Kind, name and reason of what `diff` says of roles, grants and functions."""
    changes = cli("diff", "--json").json["changes"]
    kinds = ("role", "grant", "function")
    return {(c["kind"], c["name"], c["reason"]) for c in changes if c["kind"] in kinds}


@SERVERS
def test_init_makes_them_and_diff_agrees(
    cli: CliRunner, database: TestDatabase, names: dict[str, str]
) -> None:
    made = cli("init", "--roles", "--json").ok().json
    assert sorted(made["roles_made"]) == sorted(names.values())
    owners = database.rows(
        "SELECT DISTINCT pg_get_userbyid(c.relowner)::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind IN ('r', 'S')"
        " UNION SELECT pg_get_userbyid(p.proowner)::text FROM pg_proc AS p"
        " WHERE p.pronamespace = 'negentropy'::regnamespace"
    )
    assert owners == [(names["owner"],)]
    assert differences(cli) == set()
    again = cli("init", "--roles", "--json").ok().json
    assert again["roles_made"] == []
    for name in names.values():
        row = database.rows(
            "SELECT rolcanlogin, rolsuper, rolcreaterole FROM pg_roles WHERE rolname = %s", (name,)
        )
        assert row == [(False, False, False)]


def test_every_table_of_the_migrations_is_listed(database: TestDatabase) -> None:
    found = database.rows(
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'negentropy'::regnamespace"
        " AND relkind IN ('r', 'p')"
    )
    assert {row[0] for row in found} == set(TABLES)
    sequences = database.rows(
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'negentropy'::regnamespace"
        " AND relkind = 'S'"
    )
    assert {row[0] for row in sequences} == set(SEQUENCES)


def test_without_the_wish_grants_are_not_compared(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows("GRANT SELECT ON negentropy.memories TO PUBLIC")
    assert differences(negmem) == set()


ALTERATIONS = [
    # what is done by hand; kind, name, reason of the change that diff names
    ('REVOKE INSERT ON negentropy.memories FROM "{app}"', "grant", "memories to {app}", "missing"),
    (
        'REVOKE ALL ON negentropy.memories FROM "{reader}"',
        "grant", "memories to {reader}", "missing",
    ),
    (
        'GRANT SELECT ON negentropy.audit_keys TO "{app}"',
        "grant", "audit_keys to {app}", "extra",
    ),
    (
        'GRANT SELECT (erasure_key) ON negentropy.installation TO "{app}"',
        "grant", "installation to {app}", "extra",
    ),
    (
        'GRANT INSERT ON negentropy.memory_audit_logs TO "{app}"',
        "grant", "memory_audit_logs to {app}", "extra",
    ),
    (
        'GRANT SELECT ON negentropy.memories TO "{reader}" WITH GRANT OPTION',
        "grant", "memories to {reader}", "extra",
    ),
    ("GRANT SELECT ON negentropy.memories TO PUBLIC", "grant", "memories to PUBLIC", "extra"),
    ("GRANT USAGE ON SCHEMA negentropy TO PUBLIC", "grant", "negentropy to PUBLIC", "extra"),
    (
        'REVOKE USAGE ON SCHEMA negentropy FROM "{auditor}"',
        "grant", "negentropy to {auditor}", "missing",
    ),
    (
        "GRANT EXECUTE ON FUNCTION negentropy.rrf_score TO PUBLIC",
        "grant", "rrf_score(bigint, integer) to PUBLIC", "extra",
    ),
    (
        'REVOKE USAGE ON SEQUENCE negentropy.events_sequence_num_seq FROM "{app}"',
        "grant", "events_sequence_num_seq to {app}", "missing",
    ),
    (
        'ALTER DEFAULT PRIVILEGES FOR ROLE "{owner}" GRANT EXECUTE ON FUNCTIONS TO PUBLIC',
        "grant", "later functions to PUBLIC", "extra",
    ),
    (
        'ALTER DEFAULT PRIVILEGES FOR ROLE "{owner}" IN SCHEMA negentropy'
        ' GRANT SELECT ON TABLES TO "{reader}"',
        "grant", "later tables to {reader}", "extra",
    ),
    ('ALTER ROLE "{app}" LOGIN', "role", "{app}", "extra"),
    ('ALTER ROLE "{reader}" BYPASSRLS', "role", "{reader}", "extra"),
    ('GRANT "{owner}" TO "{reader}"', "role", "{reader}", "extra"),
    ('DROP OWNED BY "{auditor}"; DROP ROLE "{auditor}"', "role", "{auditor}", "missing"),
    (
        "ALTER TABLE negentropy.memories OWNER TO CURRENT_USER",
        "grant", "memories", "owner_changed",
    ),
    (
        "ALTER FUNCTION negentropy.hmac_sha256 OWNER TO CURRENT_USER",
        "function", "hmac_sha256(bytea, bytea)", "owner_changed",
    ),
]  # fmt: skip


@SERVERS
def test_every_alteration_is_named_and_repaired(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    wrong = []
    for statement, kind, name, reason in ALTERATIONS:
        database.rows(statement.format(**roles))
        found = differences(cli)
        if (kind, name.format(**roles), reason) not in found:
            wrong.append((statement, found))
        answer = cli("sync", "--json")
        left = differences(cli)
        if left:
            wrong.append((f"{statement}: not repaired, {answer.stdout[-300:]}", left))
    assert wrong == []


def test_grants_to_others_are_shown_and_left(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    with login_role(database.server, database.name) as name:
        database.rows(f'GRANT SELECT ON negentropy.memories TO "{name}"')
        found = cli("diff", "--json").json
        assert {"kind": "grant", "name": f"memories to {name}: SELECT"} in found["unmanaged"]
        cli("sync")
        assert database.value(
            f"SELECT has_table_privilege('{name}', 'negentropy.memories', 'SELECT')"
        )


def test_a_function_that_is_made_anew_has_its_grants(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    database.rows("DROP FUNCTION negentropy.hmac_sha256")
    cli("sync")
    assert differences(cli) == set()
    assert database.value(
        "SELECT has_function_privilege(%s, 'negentropy.hmac_sha256(bytea, bytea)', 'EXECUTE')",
        (roles["reader"],),
    )
