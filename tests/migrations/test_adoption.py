"""`init` on a schema that the first design's own migrations made."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import first_design
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.waiting import eventually

SERVERS = pytest.mark.servers("embedded", "full", "sixteen")
MEMORY = "30000000-0000-0000-0000-00000000000"
FACT = "40000000-0000-0000-0000-00000000000"


@pytest.fixture
def cli(run_cli: CliRunner, empty_database: TestDatabase) -> CliRunner:
    env = {**run_cli.env, "NEGMEM_DSN": empty_database.dsn, "NEGMEM_EMBEDDING__PROVIDER": "none"}
    return CliRunner(env=env, cwd=run_cli.cwd)


def test_the_plan_shows_everything_and_touches_nothing(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    first_design.make(empty_database)
    before = first_design.everything(empty_database)
    planned = cli("init", "--dry-run", "--json").ok().json["adoption"]
    assert planned["kept_as"] == "negentropy_before_negmem"
    assert planned["rows"]["memories"] == 4
    assert planned["left_aside"] == ["memory_preload_cache", "alembic_version"]
    assert planned["repaired"] == {
        "associations of a thing with itself, left behind": 1,
        "deleted in metadata, deleted_at now": 2,
        "facts superseded by themselves, active again": 1,
        "links to a thread or fact of another user, cut": 1,
        "queued jobs that repeat another, cancelled": 1,
        "quote characters around a status or type": 8,
    }
    text = cli("init", "--dry-run").ok().stdout
    assert "-- would adopt memories: 4 rows" in text
    assert first_design.everything(empty_database) == before


@SERVERS
def test_rows_keep_their_ids_and_lose_their_faults(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    first_design.make(empty_database)
    name = empty_database.name
    empty_database.rows(f"ALTER DATABASE \"{name}\" SET timezone = 'Pacific/Auckland'")
    made = cli("init", "--json").ok().json
    empty_database.rows(f'ALTER DATABASE "{name}" RESET timezone')
    assert made["adopted"]["rows"]["facts"] == 3
    # The vectors are of an unknown model, and this run has no embedder: told, and all else is well.
    assert made["diagnosis"]["degraded_reasons"] == ["embedder_absent"]
    rows = empty_database.rows
    assert rows(
        "SELECT id::text, thread_id IS NOT NULL, memory_type, relevance_weight, access_count, deleted_reason,"
        " deleted_at IS NOT NULL, occurred_at = created_at FROM negentropy.memories ORDER BY id"
    ) == [
        (f"{MEMORY}1", True, "preference", 1.2, 3, None, False, True),
        (f"{MEMORY}2", False, "episodic", 1.0, 0, "asked", True, True),
        (f"{MEMORY}3", False, "episodic", 1.0, 0, "merged", True, True),
        (f"{MEMORY}4", False, "core", 1.0, 0, None, False, True),
    ]
    assert rows("SELECT id::text, status, superseded_by FROM negentropy.facts ORDER BY id") == [
        (f"{FACT}{n}", "active", None) for n in (1, 2, 3)
    ]
    assert rows("SELECT provider, model, dims, status FROM negentropy.embedding_models") == [
        ("unknown", "unknown", 1536, "active")
    ]
    assert rows(
        "SELECT memory_id::text, live, embedding::vector::text = %s FROM negentropy.memory_vectors"
        " ORDER BY 1",
        (first_design.VECTOR,),
    ) == [(f"{MEMORY}1", True, True), (f"{MEMORY}2", False, True)]
    assert rows(
        "SELECT position, sequence_num, user_id, negentropy.event_text(content)"
        " FROM negentropy.events ORDER BY 1"
    ) == [(1, 41, "ann", "我不吃辣"), (2, 42, "ann", "noted")]
    assert empty_database.value("SELECT nextval('negentropy.events_sequence_num_seq')") == 43
    assert rows("SELECT external_id = id::text FROM negentropy.threads") == [(True,), (True,)]
    assert rows("SELECT status, count(*) FROM negentropy.consolidation_jobs GROUP BY 1 ORDER BY 1") == [
        ("cancelled", 1), ("completed", 1), ("pending", 1),
    ]  # fmt: skip
    assert rows(
        "SELECT app_name, is_main, config #>> '{retention,min_age_days}'"
        " FROM negentropy.memory_automation_configs ORDER BY 1"
    ) == [("negmem", True, "14"), ("shop", False, None)]
    assert rows(
        "SELECT decision, l.user_id = 'ann', d.note, d.actor"
        " FROM negentropy.memory_audit_logs AS l JOIN negentropy.audit_details AS d ON d.log_id = l.id"
    ) == [("delete", False, "她要求删除", "unknown, recorded 2026-03-05T10:00:00Z before negmem")]
    assert rows("SELECT scope, owner, label FROM negentropy.memory_core_blocks ORDER BY 1") == [
        ("app", "", "persona"), ("user", "ann", "persona"),
    ]  # fmt: skip
    assert rows("SELECT source_type, association_type FROM negentropy.memory_associations") == [
        ("memory", "semantic")
    ]
    assert rows("SELECT conflict_type, resolution FROM negentropy.memory_conflicts") == [
        ("contradiction", "supersede")
    ]
    assert empty_database.value("SELECT count(*) FROM negentropy_before_negmem.memories") == 4
    assert cli("diff", "--json").ok().json["changes"] == []


def test_what_was_adopted_is_found_and_never_compared(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    first_design.make(empty_database)
    cli("init").ok()
    found = cli("search", "不吃辣", "--user", "ann", "--json").ok().json
    assert {r["id"] for r in found["results"]} >= {f"{MEMORY}1", f"{FACT}1"}
    gone = cli("search", "Lisbon flew", "--user", "ann", "--json").ok().json
    assert f"{MEMORY}2" not in {r["id"] for r in gone["results"]}
    local = cli(
        "search", "food", "--user", "ann", "--json", env={"NEGMEM_EMBEDDING__PROVIDER": "local"}
    ).json
    assert [f["code"] for f in local["fallbacks"]][:1] == ["embedding_space_mismatch"]
    assert cli("memory", "restore", f"{MEMORY}2", "--json").ok()


def test_a_second_init_does_nothing(cli: CliRunner, empty_database: TestDatabase) -> None:
    first_design.make(empty_database)
    cli("init").ok()
    before = first_design.everything(empty_database)
    again = cli("init", "--json").ok().json
    assert (again["adopted"], again["migrations"]) == (None, [])
    assert first_design.everything(empty_database) == before


def test_two_at_once_adopt_once(cli: CliRunner, empty_database: TestDatabase) -> None:
    first_design.make(empty_database)

    def init(_: int) -> object:
        return cli("init", "--json", subprocess=True).ok().json["adopted"]

    with ThreadPoolExecutor(2) as pool:
        assert sorted(found is None for found in pool.map(init, range(2))) == [False, True]
    assert empty_database.value("SELECT count(*) FROM negentropy.memories") == 4


def test_doctor_knows_it(cli: CliRunner, empty_database: TestDatabase) -> None:
    first_design.make(empty_database)
    found = cli("doctor", "--json").json
    [finding] = [f for f in found["findings"] if f["code"] == "schema_foreign"]
    assert finding["remedy"].startswith("negmem init --dry-run")


REFUSALS = [
    ("CREATE TABLE negentropy.corpora (id integer)", "table corpora"),
    ("CREATE VIEW negentropy.latest AS SELECT id FROM negentropy.memories", "view latest"),
    ("CREATE VIEW public.latest AS SELECT id FROM negentropy.memories", "depends on it"),
    ("ALTER TABLE negentropy.memories ADD COLUMN tenant text", "column memories.tenant"),
    ("UPDATE negentropy.memories SET content = '' WHERE user_id = 'bob'", "memories without a text (1)"),
    ("UPDATE negentropy.facts SET user_id = '' WHERE user_id = 'bob'", "facts without a user or an app (1)"),
    ("UPDATE negentropy.facts SET status = 'draft' WHERE user_id = 'bob'", "unknown status: draft (1)"),
    (
        "UPDATE negentropy.memory_core_blocks SET content = '另一个' WHERE user_id = 'bob'",
        "say different things under one label (1)",
    ),
    (
        "UPDATE negentropy.memory_automation_configs SET config = '{\"retention\": {\"min_age_days\": -1}}'"
        " WHERE app_name = 'shop'",
        'the config of app "shop"',
    ),
    ("CREATE SCHEMA negentropy_before_negmem", "schema negentropy_before_negmem exists"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "told"), REFUSALS)
def test_what_it_cannot_take_is_listed_and_nothing_changed(
    cli: CliRunner, empty_database: TestDatabase, statement: str, told: str
) -> None:
    first_design.make(empty_database)
    empty_database.rows(statement)
    before = first_design.everything(empty_database)
    for words in (("init", "--dry-run", "--json"), ("init", "--json")):
        refused = cli(*words)
        assert (refused.code, refused.json["error"]["code"]) == (1, "adoption_refused")
        assert told in refused.json["error"]["why"]
    assert first_design.everything(empty_database) == before


def test_all_reasons_are_told_at_once(cli: CliRunner, empty_database: TestDatabase) -> None:
    first_design.make(empty_database)
    empty_database.rows("UPDATE negentropy.memories SET content = '' WHERE user_id = 'bob'")
    empty_database.rows("UPDATE negentropy.facts SET status = 'draft' WHERE user_id = 'bob'")
    why = cli("init", "--json").json["error"]["why"]
    assert "without a text" in why and "draft" in why


def test_tables_of_somebody_else_are_no_first_design(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    empty_database.rows("CREATE SCHEMA negentropy")
    empty_database.rows("CREATE TABLE negentropy.memories (id integer)")
    refused = cli("init", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "schema_foreign")


def test_an_older_schema_without_later_columns(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    first_design.make(empty_database)
    empty_database.rows("DROP TABLE negentropy.memory_conflicts, negentropy.memory_associations")
    empty_database.rows(
        "ALTER TABLE negentropy.facts DROP COLUMN status, DROP COLUMN superseded_by,"
        " DROP COLUMN superseded_at, DROP COLUMN importance_score"
    )
    empty_database.rows(
        "ALTER TABLE negentropy.memories DROP COLUMN importance_score, DROP COLUMN updated_at,"
        " ALTER COLUMN created_at TYPE timestamp USING created_at AT TIME ZONE 'UTC'"
    )
    made = cli("init", "--json").ok().json["adopted"]
    assert any("memories.created_at" in note for note in made["notes"])
    assert empty_database.rows(
        "SELECT status, importance_score FROM negentropy.facts GROUP BY 1, 2"
    ) == [("active", 0.5)]
    assert empty_database.value(
        "SELECT created_at = '2026-03-01T09:00Z' FROM negentropy.memories WHERE id = %s",
        (f"{MEMORY}1",),
    )


def test_killed_in_the_middle_it_leaves_the_old_schema(
    cli: CliRunner, empty_database: TestDatabase
) -> None:
    first_design.make(empty_database)
    before = first_design.everything(empty_database)
    holder = empty_database.connect(autocommit=False)
    # The trail is moved last: when init waits for its lock, the schema has been set aside and filled anew.
    holder.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('negmem:trail:negentropy:negmem', 0))"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "negmem", "init"],
        env={**cli.environment(), "PYTHONPATH": str(Path.cwd())},
        cwd=cli.cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    assert eventually(lambda: bool(empty_database.rows(waiting)))
    process.send_signal(signal.SIGKILL)
    process.wait()
    holder.rollback()
    assert eventually(
        lambda: (
            not empty_database.rows(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'negmem init'"
            )
        )
    )
    assert first_design.everything(empty_database) == before
    cli("init").ok()
    assert empty_database.value("SELECT count(*) FROM negentropy.memories") == 4


def test_roles_and_adoption_in_one_go(cli: CliRunner, empty_database: TestDatabase) -> None:
    first_design.make(empty_database)
    named = {
        f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": f"{empty_database.name}_{key}"
        for key in ("owner", "app", "reader", "auditor")
    }
    try:
        cli("init", "--roles", env=named).ok()
        assert cli("diff", "--json", env=named).ok().json["changes"] == []
    finally:
        removed = cli("uninstall", "--yes", "--json", env=named).ok().json
        assert len(removed["roles"]) == 4
