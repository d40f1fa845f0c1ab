"""The four roles: made, compared, repaired and removed; and what each of them may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from negmem.core.automation.sync import diff, sync
from negmem.core.models.grants import SEQUENCES, TABLES
from negmem.core.session import open_session
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.roles import as_role, login_role
from tests.support.round_trips import round_trips

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


@pytest.mark.servers("embedded", "full", "sixteen", "pooled")
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
        "grant", "memories", "owner_differs",
    ),
    (
        "ALTER FUNCTION negentropy.hmac_sha256 OWNER TO CURRENT_USER",
        "function", "hmac_sha256(bytea, bytea)", "owner_differs",
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


def test_nothing_to_do_takes_twelve_round_trips_at_most(
    database: TestDatabase, roles: dict[str, str], tmp_path: Path
) -> None:
    with open_session(dsn=database.dsn, env={}) as session:
        for act in (diff, sync):
            assert 1 <= round_trips(session, tmp_path / act.__name__, act) <= 12


def test_grants_survive_a_replace(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    database.rows("DROP FUNCTION negentropy.record_audit_entries")
    database.rows(
        "CREATE FUNCTION negentropy.record_audit_entries(p_app_name text, p_user_id text,"
        " p_memory_ids text[], p_decision text, p_note text DEFAULT NULL,"
        " p_idempotency_key text DEFAULT NULL, p_actor text DEFAULT NULL,"
        " p_actor_verified boolean DEFAULT false)"
        " RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'"
    )
    cli("sync", "--overwrite-edited", "--yes").ok()
    assert differences(cli) == set()
    may = (
        "SELECT has_function_privilege(%s, p.oid, 'EXECUTE') FROM pg_proc AS p WHERE p.proname = %s"
    )
    called = {
        key: database.value(may, (name, "record_audit_entries")) for key, name in roles.items()
    }
    assert called == {"owner": True, "app": True, "reader": False, "auditor": False}


def test_sync_of_the_app_is_refused_as_a_whole(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    database.rows("DROP FUNCTION negentropy.hmac_sha256")
    with acting(database, roles["app"]) as dsn:
        found = cli("sync", "--json", env={"NEGMEM_DSN": dsn})
    assert found.code == 1
    assert found.json["error"]["code"] in ("privilege_missing", "function_not_owned")
    with acting(database, roles["owner"]) as dsn:
        cli("sync", "--json", env={"NEGMEM_DSN": dsn}).ok()
    assert differences(cli) == set()


def test_the_app_writes_the_trail_through_its_function_alone(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    with acting(database, roles["app"]) as dsn, psycopg.connect(dsn, autocommit=True) as app:
        app.execute(
            "SELECT negentropy.record_audit_entries('negmem', 'ann', ARRAY['m1'], 'delete', '她要求删除')"
        )
        for statement in (
            "INSERT INTO negentropy.memory_audit_logs SELECT * FROM negentropy.memory_audit_logs",
            "DELETE FROM negentropy.audit_details",
            "SELECT key FROM negentropy.audit_keys",
            "SELECT erasure_key FROM negentropy.installation",
            "SELECT * FROM negentropy.memory_audit_logs",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(statement.encode())
        assert app.execute("SELECT id FROM negentropy.installation").fetchone()
        name = app.info.user
    with acting(database, roles["auditor"]) as dsn, psycopg.connect(dsn) as auditor:
        assert auditor.execute("SELECT note, actor FROM negentropy.audit_details").fetchall() == [
            ("她要求删除", name)
        ]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            auditor.execute("SELECT key FROM negentropy.audit_keys")
    with (
        acting(database, roles["reader"]) as dsn,
        psycopg.connect(dsn) as reader,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        reader.execute(
            "SELECT negentropy.record_audit_entries('negmem', 'ann', ARRAY['m1'], 'delete')"
        )


@SERVERS
def test_without_createrole_the_sql_for_an_administrator_is_told(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    names = {key: f"{empty_database.name}_{key}" for key in KEYS}
    named = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    empty_database.rows("CREATE EXTENSION vector")
    with login_role(empty_database.server, empty_database.name) as name:
        empty_database.rows(f'GRANT CREATE ON DATABASE "{empty_database.name}" TO "{name}"')
        env = {**named, "NEGMEM_DSN": as_role(empty_database.dsn, name)}
        refused = cli("init", "--roles", "--json", env=env)
        assert (refused.code, refused.json["error"]["code"]) == (1, "roles_not_created")
        assert not empty_database.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'negentropy'")
        hint = refused.json["error"]["hint"]
        by_hand = hint.removeprefix("as a superuser: ").partition("   then: ")[0]
        empty_database.rows(by_hand)
        try:
            assert cli("init", "--roles", "--json", env=env).ok().json["roles_made"] == []
            assert cli("diff", "--json", env=env).ok().json["changes"] == []
            removed = cli("uninstall", "--yes", "--json", env=env).ok().json
            assert (removed["roles"], removed["kept_roles"]) == ([], {})
        finally:
            for role in names.values():
                empty_database.rows(f'DROP OWNED BY "{role}" CASCADE')
                empty_database.rows(f'DROP ROLE "{role}"')


@pytest.mark.servers("embedded", "full", "sixteen", "pooled")
def test_a_role_that_may_create_roles_needs_no_superuser(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    names = {key: f"{empty_database.name}_{key}" for key in KEYS}
    named = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    empty_database.rows("CREATE EXTENSION vector")
    with login_role(empty_database.server, empty_database.name, attributes="CREATEROLE") as name:
        empty_database.rows(f'GRANT CREATE ON DATABASE "{empty_database.name}" TO "{name}"')
        env = {**named, "NEGMEM_DSN": as_role(empty_database.dsn, name)}
        made = cli("init", "--roles", "--json", env=env).ok().json
        assert sorted(made["roles_made"]) == sorted(names.values())
        assert cli("diff", "--json", env=env).ok().json["changes"] == []
        assert cli("init", "--json", env=env).ok().json["status"] == "healthy"
        shown = cli("uninstall", "--dry-run", "--json", env=env).ok().json
        assert sorted(shown["roles"]) == sorted(names.values())
        removed = cli("uninstall", "--yes", "--json", env=env).ok().json
        assert sorted(removed["roles"]) == sorted(names.values()), removed
    left = empty_database.rows(
        "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)", (list(names.values()),)
    )
    assert left == []


def test_roles_that_a_restore_left_behind(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    """As after a dump that was restored where the roles are not: all belongs to whoever restored it."""
    with login_role(database.server, database.name) as name:
        for role in roles.values():
            database.rows(f'REASSIGN OWNED BY "{role}" TO "{name}"')
            database.rows(f'DROP OWNED BY "{role}"')
            database.rows(f'DROP ROLE "{role}"')
        database.rows(f'GRANT CREATE ON DATABASE "{database.name}" TO "{name}"')
        database.rows("DROP FUNCTION negentropy.hmac_sha256")
        env = {"NEGMEM_DSN": as_role(database.dsn, name)}
        found = {
            (c["kind"], c["state"], c["reason"])
            for c in cli("diff", "--json", env=env).json["changes"]
        }
        assert found == {
            ("role", "missing", "missing"),
            ("grant", "missing", "missing"),
            ("grant", "drifted", "owner_differs"),
            ("function", "drifted", "owner_differs"),
            ("function", "missing", "missing"),
        }
        done = cli("sync", "--json", env=env)
        assert (done.code, [c["name"] for c in done.json["applied"]]) == (3, ["hmac_sha256"])
        (hint,) = {c["hint"] for c in done.json["skipped"]}
        assert cli("sync", env=env).stdout.count("fix: as a superuser: CREATE ROLE") == 1
        database.rows(hint.removeprefix("as a superuser: ").partition("   then: ")[0])
        cli("sync", env=env).ok()
        assert cli("diff", "--json", env=env).ok().json["changes"] == []


def test_uninstall_keeps_a_role_that_holds_something_elsewhere(
    cli: CliRunner, database: TestDatabase, roles: dict[str, str]
) -> None:
    database.rows("CREATE TABLE public.theirs (id integer)")
    database.rows(f'GRANT SELECT ON public.theirs TO "{roles["reader"]}"')
    removed = cli("uninstall", "--yes", "--json").ok().json
    assert removed["kept_roles"] == {roles["reader"]: f"grants in {database.name}"}
    assert sorted(removed["roles"]) == sorted(set(roles.values()) - {roles["reader"]})


def test_a_role_that_is_more_than_a_group_is_refused(
    cli: CliRunner, database: TestDatabase, names: dict[str, str]
) -> None:
    database.rows(f'CREATE ROLE "{names["reader"]}" LOGIN')
    refused = cli("init", "--roles", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "role_unfit")
    assert not database.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (names["app"],))
    assert differences(cli) == set()


def test_the_plan_shows_what_it_would_grant(cli: CliRunner, names: dict[str, str]) -> None:
    text = cli("init", "--roles", "--dry-run").ok().stdout
    assert f'CREATE ROLE "{names["auditor"]}" NOLOGIN;' in text
    assert (
        f'GRANT SELECT ON TABLE "negentropy"."memory_audit_logs" TO "{names["auditor"]}";' in text
    )
