"""`sync` beside others: eight at once, writers that take no lock, killed half way, readers in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from negmem.core.automation import sync as module
from negmem.core.automation.sync import Consent, diff, sync
from negmem.core.session import Session, open_session
from negmem.db import functions
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase
from tests.support.round_trips import round_trips
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
ALTERED = (
    "DROP FUNCTION negentropy.proactive_rank",
    "DROP FUNCTION negentropy.weighted_score",
    "DROP INDEX negentropy.idx_memories_due",
    "UPDATE pg_index SET indisvalid = false"
    " WHERE indexrelid = 'negentropy.idx_memories_thread'::regclass",
)
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'negmem sync'"
    " AND wait_event_type = 'Lock'"
)


@pytest.fixture
def altered(database: TestDatabase) -> TestDatabase:
    """A database with two functions and an index less, and an invalid index."""
    for statement in ALTERED:
        database.rows(statement)
    return database


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={}) as opened:
        yield opened


def started(database: TestDatabase) -> subprocess.Popen[bytes]:
    """`negmem sync` as a process of its own."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "NEGMEM_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "negmem.cli", "sync", "--dsn", database.dsn],
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.servers("embedded", "pooled")
def test_eight_at_once_end_in_one_result(altered: TestDatabase) -> None:
    def run(_: int) -> list[str]:
        with open_session(dsn=altered.dsn, env={}) as own:
            return [change.name for change in sync(own).applied]

    with ThreadPoolExecutor(8) as pool:
        made = [name for names in pool.map(run, range(8)) for name in names]
    assert sorted(made) == [
        "idx_memories_due",
        "idx_memories_thread",
        "proactive_rank",
        "weighted_score",
    ]
    with open_session(dsn=altered.dsn, env={}) as session:
        assert diff(session).changes == []


@pytest.mark.servers("embedded", "full")
def test_a_writer_in_reverse_order_without_the_lock_breaks_nothing(
    session: Session, database: TestDatabase
) -> None:
    """Somebody runs all the files in one transaction, last first, while others sync."""
    from negmem.config.model import Automation

    values = functions.variables(Automation().model_dump(mode="json"), "negentropy", "public")
    texts = [str(one.text) for one in functions.wanted_functions(values)]
    undo = [f"ALTER FUNCTION negentropy.{name} COST 77" for name in ("rrf_score", "weighted_score")]

    def reverse(_: int) -> None:
        with database.connect(autocommit=False) as connection:
            for text in reversed(texts):
                try:
                    connection.execute(text.encode())
                except psycopg.Error:  # the catalog refused one of two, and negmem's stood
                    connection.rollback()
            connection.commit()

    def run(_: int) -> None:
        with open_session(dsn=database.dsn, env={}) as own:
            sync(own, Consent(overwrite_edited=True))

    for statement in (*undo, "DROP FUNCTION negentropy.proactive_rank"):
        database.rows(statement)
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(act, 0) for act in (run, reverse, run, run, reverse, run)]
        for future in futures:
            future.result()
    sync(session, Consent(overwrite_edited=True))
    assert diff(session).changes == []


def test_killed_in_the_middle_of_its_transaction_it_leaves_nothing(
    altered: TestDatabase, session: Session
) -> None:
    before = {change.name for change in diff(session).changes}
    blocker = altered.connect(autocommit=False)
    blocker.execute("SELECT * FROM negentropy.managed_objects FOR UPDATE")
    process = started(altered)
    try:
        assert eventually(lambda: altered.value(WAITING) > 0, limit_s=60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    blocker.rollback()
    assert eventually(lambda: altered.value(WAITING) == 0)
    assert {change.name for change in diff(session).changes} == before
    assert {change.name for change in sync(session).applied} == before
    assert diff(session).changes == []


def test_an_index_build_that_is_cut_off_is_resumed_and_stops_no_reader(
    altered: TestDatabase, session: Session
) -> None:
    """A build waits for older snapshots; readers and writers go on, and a second sync finishes it."""
    holder = altered.connect(autocommit=False)
    holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    holder.execute("SELECT count(*) FROM negentropy.memories")
    process = started(altered)
    try:
        assert eventually(lambda: altered.value(WAITING) > 0, limit_s=60)
        reader = altered.connect()
        reader.execute("SET lock_timeout = '1s'")
        reader.execute("SELECT count(*) FROM negentropy.memories")
        reader.execute("DELETE FROM negentropy.memories")
        altered.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
            " current_database() AND application_name = 'negmem sync' AND query LIKE 'CREATE%'"
        )
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert b"error[index_not_built]" in said or b"error[connection_lost]" in said
    holder.rollback()
    left = {(change.name, change.reason) for change in diff(session).changes}
    assert ("idx_memories_thread_negmem_new", "leftover") in left
    assert not any(kind == "function" for kind in (c.kind for c in diff(session).changes))
    sync(session)
    assert diff(session).changes == []


def test_an_index_that_data_forbids_is_told_and_all_else_stays(
    altered: TestDatabase, session: Session
) -> None:
    altered.rows("DROP INDEX negentropy.memory_automation_configs_one_main")
    altered.rows(
        "INSERT INTO negentropy.memory_automation_configs (app_name, is_main) VALUES ('双', true)"
    )
    with pytest.raises(NegmemError) as refused:
        sync(session)
    assert refused.value.code == "index_not_built"
    assert "Key (is_main)=(t) is duplicated" in refused.value.why
    altered.rows("DELETE FROM negentropy.memory_automation_configs WHERE app_name = '双'")
    sync(session)
    assert diff(session).changes == []


def test_a_held_lock_is_waited_for_a_bounded_time_and_named(
    altered: TestDatabase, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = altered.connect(autocommit=False, application_name="another sync")
    holder.execute("SELECT pg_advisory_xact_lock(hashtextextended('negmem:schema:negentropy', 0))")
    monkeypatch.setattr(module, "_PATIENCE_S", 0.3)
    session.database.lock_timeout_ms = 100
    with pytest.raises(NegmemError) as refused:
        sync(session)
    assert refused.value.code == "schema_locked"
    assert "another sync" in refused.value.why
    assert len(diff(session).changes) == 4
    holder.rollback()
    holder.execute("LOCK TABLE negentropy.managed_objects IN SHARE MODE")
    with pytest.raises(NegmemError) as refused:
        sync(session)
    assert refused.value.code == "lock_timeout"
    assert f"pid {holder.info.backend_pid} (another sync) holds ShareLock on managed_objects" in (
        refused.value.why
    )
    holder.rollback()
    assert len(sync(session).applied) == 4


@pytest.mark.servers("embedded", "full", "sixteen")
def test_nothing_to_do_takes_twelve_round_trips_at_most(session: Session, tmp_path: Path) -> None:
    assert 1 <= round_trips(session, tmp_path / "diff", diff) <= 12
    assert 1 <= round_trips(session, tmp_path / "sync", sync) <= 12


def test_a_declared_config_of_a_further_app_takes_thirteen_at_most(
    database: TestDatabase, tmp_path: Path
) -> None:
    """The most that a look can take: YAML, not the main app, a job switched on."""
    path = tmp_path / "negmem.yaml"
    path.write_text("automation: {consolidation: {enabled: true}}\n", encoding="utf-8")
    database.rows("INSERT INTO negentropy.memory_automation_configs (app_name) VALUES ('第二')")
    with open_session(dsn=database.dsn, app="第二", config_path=str(path), env={}) as session:
        assert [change.kind for change in sync(session).applied] == ["config"]
        assert 1 <= round_trips(session, tmp_path / "diff", diff) <= 12
        assert 1 <= round_trips(session, tmp_path / "sync", sync) <= 13
