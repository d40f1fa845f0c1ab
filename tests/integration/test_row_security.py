"""Row-level security on request, by trying: who sees whose rows, what `diff` finds, and the way off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from negmem.core.governance import registry
from negmem.db.row_security import expected_tables
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on
from tests.support.plans import (
    fill_indexed,
    nested_plans,
    plan_of_search,
    scans,
    vacuum_indexed,
)
from tests.support.roles import as_role, login_role

KEYS = ("owner", "app", "reader", "auditor")
OWNED = """
    SELECT DISTINCT c.relname::text FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
        AND a.attname IN ('user_id', 'owner_kind')
"""


@pytest.fixture
def names(database: TestDatabase) -> Iterator[dict[str, str]]:
    found = {key: f"{database.name}_{key}" for key in KEYS}
    yield found
    for name in found.values():
        if database.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)):
            database.rows(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER')
            database.rows(f'DROP OWNED BY "{name}"')
            database.rows(f'DROP ROLE "{name}"')


@pytest.fixture
def cli(negmem: CliRunner, names: dict[str, str]) -> CliRunner:
    named = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    env = {**negmem.env, **named, "NEGMEM_EMBEDDING__PROVIDER": "none"}
    return CliRunner(env=env, cwd=negmem.cwd)


@contextmanager
def acting(database: TestDatabase, group: str) -> Iterator[str]:
    """A DSN of a login role that is a member of a group."""
    with login_role(database.server, database.name) as name:
        database.rows(f'GRANT "{group}" TO "{name}"')
        yield as_role(database.dsn, name)


def as_person(dsn: str, person: str | None, statement: str) -> list[Any]:
    """The rows of a statement in a transaction that names a person."""
    with psycopg.connect(dsn) as connection:
        if person is not None:
            connection.execute("SELECT set_config('negmem.user_id', %s, true)", (person,))
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else [cursor.rowcount]


def policies(cli: CliRunner) -> set[tuple[str, str]]:
    changes = cli("diff", "--json").json["changes"]
    return {(c["name"], c["reason"]) for c in changes if c["kind"] == "policy"}


def fill(cli: CliRunner) -> None:
    """Two people with something of each kind, a team of one of them, something of the whole app."""
    for user, text in (("alice", "Alice likes oolong tea"), ("bob", "鲍勃喜欢喝咖啡")):
        cli("memory", "add", text, "--user", user).ok()
        cli("fact", "set", "preference", "drink", text, "--user", user).ok()
        cli("search", text, "--user", user).ok()
        cli(
            "learn", "save", "--title", user, "--learning", text, "--namespace", "user", "-u", user
        ).ok()
    cli("namespace", "create", "sales").ok()
    cli("namespace", "grant", "sales", "alice", "--role", "reader").ok()
    cli("namespace", "grant", "sales", "carol", "--role", "writer").ok()
    cli("learn", "save", "--title", "t", "--learning", "said in sales", "--namespace", "sales", "-u", "carol").ok()  # fmt: skip
    cli("learn", "save", "--title", "g", "--learning", "said to all").ok()


def test_it_needs_roles(cli: CliRunner) -> None:
    refused = cli("init", "--rls", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "row_security_needs_roles")
    assert cli("init", "--no-rls").ok()


@pytest.mark.servers("embedded", "full", "sixteen", "pooled")
def test_each_sees_whom_its_transaction_names(
    cli: CliRunner, database: TestDatabase, names: dict[str, str]
) -> None:
    assert "POLICY" in cli("init", "--roles", "--dry-run", "--rls").ok().stdout
    assert cli("init", "--roles", "--rls", "--json").ok().json["row_security"] is True
    assert policies(cli) == set()
    owned = {row[0] for row in database.rows(OWNED)} - {"memory_audit_logs"}
    listed = {t.name for t in registry.TABLES if t.owner in ("user", "kind")}
    secured = database.rows("SELECT relname::text FROM pg_class WHERE relrowsecurity")
    assert {row[0] for row in secured} == owned == listed
    assert {table.name for table in expected_tables()} == owned
    fill(cli)

    with acting(database, names["app"]) as app, acting(database, names["reader"]) as reader:
        for table in sorted(owned):
            may = database.value(
                f"SELECT has_table_privilege('{names['app']}', 'negentropy.{table}', 'SELECT')"
            )
            if not may:
                continue
            column = "user_id" if "user_id" in columns(database, table) else "owner"
            listing = f"SELECT DISTINCT {column} FROM negentropy.{table} WHERE {column} <> ''"
            assert as_person(app, None, listing) == as_person(app, "", listing) == []
            seen = {row[0] for row in as_person(app, "alice", listing)}
            assert seen <= {"alice", "sales"}, table
            if table in ("memories", "facts", "learnings"):
                assert "alice" in seen
                assert {row[0] for row in as_person(reader, "bob", listing)} == {"bob"}
        change = "UPDATE negentropy.memories SET pinned_at = now() WHERE user_id = 'bob'"
        assert as_person(app, "alice", change) == [0]
        assert as_person(app, "alice", "DELETE FROM negentropy.memories WHERE user_id = 'bob'") == [
            0
        ]
        for wrong in (
            "INSERT INTO negentropy.users (user_id, app_name) VALUES ('dave', 'negmem')",
            "UPDATE negentropy.memories SET user_id = 'bob'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                as_person(app, "alice", wrong)
        team = "UPDATE negentropy.learnings SET version = version WHERE owner = 'sales'"
        assert as_person(app, "alice", team) == [0]
        assert as_person(app, "carol", team) == [1]
        learned = "SELECT learning FROM negentropy.learnings ORDER BY 1"
        assert [row[0] for row in as_person(reader, "carol", learned)] == [
            "said in sales",
            "said to all",
        ]
        assert [row[0] for row in as_person(reader, None, learned)] == ["said to all"]

        # negmem names whom each statement is about, whatever the session was before.
        for user, word in (("alice", "oolong"), ("bob", "咖啡")):
            found = cli("search", word, "--user", user, "--json", env={"NEGMEM_DSN": app}).ok().json
            assert len(found["results"]) == 2 and found["retrieval_id"]
            assert (
                len(
                    cli("memory", "list", "--user", user, "--json", env={"NEGMEM_DSN": reader})
                    .ok()
                    .json["memories"]
                )
                == 1
            )
            assert cli("context", word, "--user", user, "--json", env={"NEGMEM_DSN": app}).ok()
        added = cli(
            "memory",
            "add",
            "Alice plays chess",
            "--user",
            "alice",
            "--json",
            env={"NEGMEM_DSN": app},
        ).ok()
        assert added.json["memory"]["content"] == "Alice plays chess"
        found = cli(
            "learn",
            "search",
            "said",
            "--namespace",
            "all",
            "--user",
            "alice",
            "--json",
            env={"NEGMEM_DSN": app},
        )
        assert len(found.ok().json["learnings"]) == 2
        assert cli(
            "fact", "set", "profile", "city", "Lisbon", "--user", "dave", env={"NEGMEM_DSN": app}
        ).ok()
        said = [
            json.dumps({"thread": "t", "user": user, "turns": [{"role": "user", "text": text}]})
            for user, text in (
                ("alice", "I moved to Oslo"),
                ("bob", "我搬到了成都"),
                ("alice", "I sold the car"),
            )
        ]
        bound = {"NEGMEM_DSN": app}
        stored = cli("ingest", "-", "--json", stdin="\n".join(said), env=bound).ok().json
        assert (stored["memories"], stored["rejected"]) == (3, 0)
        for everybody in (("retention", "preview"), ("metrics",), ("consolidate",)):
            answer = cli(*everybody, "--json", env=bound).json
            assert "one_user_seen" in {w["code"] for w in answer["warnings"]}, everybody
        assert "25001" not in cli("audit", "export", "--user", "alice", env=bound).stderr
        reasons = cli("doctor", "--json", env=bound).json["degraded_reasons"]
        assert "function_not_executable" not in str(reasons)
    with acting(database, names["auditor"]) as auditor, acting(database, names["owner"]) as owner:
        everyone = "SELECT count(DISTINCT user_id) FROM negentropy.facts"
        assert as_person(auditor, None, everyone) == as_person(owner, None, everyone) == [(3,)]
        assert as_person(owner, None, "SELECT negentropy.apply_recorded_accesses(NULL)")
        assert cli("retention", "run", "--yes", "--json", env={"NEGMEM_DSN": owner}).ok()
        seen = cli("retention", "preview", "--json", env={"NEGMEM_DSN": auditor}).ok().json
        assert "one_user_seen" not in {w["code"] for w in seen["warnings"]}
        looked = cli("doctor", "-v", env={"NEGMEM_DSN": auditor})
        assert "one user at a time" not in looked.stdout + looked.stderr
    assert "row_security" not in str(cli("doctor", "--json").json["degraded_reasons"])
    with login_role(database.server, database.name) as stranger:
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{stranger}"')
        database.rows(f'GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO "{stranger}"')
        other = {"NEGMEM_DSN": as_role(database.dsn, stranger)}
        prune = ("curator", "prune", "--user", "alice", "--max-count", "1", "--dry-run", "--json")
        listed = cli(*prune, env=other).ok().json
        assert listed["removed"] == listed["kept"] == 0
        assert "no_rows_seen" in {w["code"] for w in listed["warnings"]}


def columns(database: TestDatabase, table: str) -> set[str]:
    found = database.rows(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass",
        (f"negentropy.{table}",),
    )
    return {row[0] for row in found}


def test_the_owner_of_the_index_is_still_where_a_scan_begins(
    cli: CliRunner, database: TestDatabase, names: dict[str, str]
) -> None:
    cli("init", "--roles", "--rls").ok()
    database.rows(
        "INSERT INTO negentropy.memory_terms (user_id, app_name, term, memory_id, tf, len)"
        " SELECT 'user ' || n % 50, 'negmem', 't' || n % 300, gen_random_uuid(), 1, 9"
        " FROM generate_series(1, 20000) AS n"
    )
    with database.connect() as connection:
        connection.execute("VACUUM ANALYZE negentropy.memory_terms")
    with acting(database, names["app"]) as app:
        plan = as_person(
            app,
            "user 7",
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT term, memory_id, tf, len"
            " FROM negentropy.memory_terms WHERE user_id = 'user 7' AND app_name = 'negmem'"
            " AND term = ANY ('{t7,t57,t107}')",
        )
    text = "\n".join(row[0] for row in plan)
    assert "Index Only Scan" in text and "Seq Scan" not in text
    assert "Rows Removed" not in text


def test_searches_and_sweeps_are_planned_as_without_it(
    cli: CliRunner, database: TestDatabase, names: dict[str, str]
) -> None:
    """The policy is compared once, before the scan: it filters no row and hides no index."""
    with session_on(database, FakeEmbedder()):
        for user, count in (("other", 800), ("small", 400), ("large", 4_500)):
            fill_indexed(database, user, count)
    database.rows("SELECT negentropy.rescore_memories('large', 'negmem')")
    vacuum_indexed(database)
    due = (
        "SELECT negentropy.retention_due(%s, 'negmem', 0.0001, 640, 0.1, 0.9, now(), true)",
        ("large",),
    )
    before = {user: scans(plan_of_search(database, user)) for user in ("small", "large")}
    before["due"] = scans("\n".join(nested_plans(database, *due)))
    cli("init", "--roles", "--rls").ok()
    app = names["app"]
    plans = {user: plan_of_search(database, user, role=app) for user in ("small", "large")}
    plans["due"] = "\n".join(nested_plans(database, *due, role=app, person="large"))
    for what, plan in plans.items():
        assert shapes(scans(plan)) == shapes(before[what]), what
        assert "One-Time Filter" in plan and "current_setting" in plan, "the policy was there"
        assert not re.search(r"^\s+Filter: .*current_setting", plan, re.MULTILINE), plan
    assert any("Index Only Scan using idx_memory_vectors_bits" in one for one in before["large"])
    assert any("Index Only Scan using memory_terms_pkey" in one for one in before["small"])
    assert any("idx_memories_due" in one for one in before["due"])


def shapes(found: list[str]) -> list[str]:
    """Scans by kind and index, without what was counted."""
    return [re.sub(r" \(.*", "", one) for one in found]


@pytest.mark.servers("embedded", "full", "sixteen")
def test_what_was_changed_by_hand_is_found_and_mended(
    cli: CliRunner, database: TestDatabase, names: dict[str, str]
) -> None:
    cli("init", "--roles", "--rls").ok()
    for statement in (
        "ALTER TABLE negentropy.memories DISABLE ROW LEVEL SECURITY",
        "DROP POLICY negmem_own ON negentropy.facts",
        "ALTER POLICY negmem_own ON negentropy.events USING (true)",
        "ALTER POLICY negmem_read ON negentropy.learnings TO PUBLIC",
        "ALTER TABLE negentropy.threads FORCE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON negentropy.users FOR SELECT USING (user_id = 'me')",
    ):
        database.rows(statement)
    altered = {"memories", "facts", "events", "learnings", "threads"}
    assert policies(cli) == {(name, "edited") for name in altered}
    assert cli("diff", "memories").code == 3
    doctor = cli("doctor", "--json").json
    assert "row_security_incomplete" in {f["code"] for f in doctor["findings"]}
    unmanaged = cli("diff", "--json").json["unmanaged"]
    assert {"kind": "policy", "name": "mine on users"} in unmanaged
    assert cli("sync", "--yes").ok()
    assert policies(cli) == set()
    findings = {f["code"]: f for f in cli("doctor", "--json").json["findings"]}
    assert findings["row_security_widened"]["evidence"] == "mine on users"
    assert cli("init", "--no-rls").ok() and policies(cli) == set()
    left = database.rows("SELECT relname::text FROM pg_class WHERE relrowsecurity")
    assert left == [("users",)]  # a policy of somebody else stands there
    assert database.value("SELECT count(*) FROM pg_policies WHERE schemaname = 'negentropy'") == 1


def test_a_schema_whose_name_needs_quotes(cli: CliRunner, empty_database: TestDatabase) -> None:
    env = {"NEGMEM_SCHEMA": "My Memory", "NEGMEM_DSN": empty_database.dsn}
    other = CliRunner(env={**cli.env, **env}, cwd=cli.cwd)
    other("init", "--roles", "--rls").ok()
    assert policies(other) == set()
    assert other("uninstall", "--yes").ok()
