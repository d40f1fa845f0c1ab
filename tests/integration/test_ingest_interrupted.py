"""Eight at once, killed at any moment, interrupted, cut off: the same command ends in the same rows."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.errors import NegmemError
from tests.support import databases
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import (
    contents,
    conversation,
    ingest_file,
    many_conversations,
    session_on,
    write_lines,
)
from tests.support.signals import hear_interrupts
from tests.support.waiting import eventually


def expected_contents(database: TestDatabase, path: Path, embedder: FakeEmbedder | None) -> object:
    """What one undisturbed run leaves, in a database of its own."""
    template = databases.migrated_template(database.server)
    other = databases.create(database.server, template=template)
    try:
        with session_on(other, *([embedder] if embedder else [])) as session:
            ingest_file(session, path)
        return contents(other)
    finally:
        databases.drop(other)


@pytest.mark.servers("embedded", "pooled")
def test_eight_ingests_of_one_file_at_once_end_in_the_same_rows(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(40))
    with session_on(database, FakeEmbedder()):
        pass
    results, failures = [], []
    start = threading.Barrier(8)

    def work() -> None:
        try:
            with session_on(database, FakeEmbedder()) as session:
                start.wait()
                results.append(ingest_file(session, path))
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert sum(result.memories for result in results) == 400
    assert sum(result.events + result.duplicates for result in results) == 8 * 400
    assert contents(database) == expected_contents(database, path, FakeEmbedder())


def test_files_that_overlap_in_opposite_orders_do_not_block_each_other(
    database: TestDatabase, tmp_path: Path
) -> None:
    values = many_conversations(60)
    paths = [
        write_lines(tmp_path / "a.jsonl", values),
        write_lines(tmp_path / "b.jsonl", values[::-1]),
    ]
    failures: list[BaseException] = []

    def work(path: Path) -> None:
        try:
            with session_on(database) as session:
                ingest_file(session, path)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(path,)) for path in paths * 2]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert contents(database) == expected_contents(database, paths[0], None)


def started(negmem: CliRunner, path: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "negmem.cli", "ingest", str(path), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=negmem.environment({"NEGMEM_CONFIG": str(quiet_config(negmem))}),
        cwd=negmem.cwd,
        preexec_fn=hear_interrupts,
    )


def quiet_config(negmem: CliRunner) -> Path:
    path = negmem.cwd / "negmem.yaml"
    path.write_text("embedding:\n  provider: none\nformation:\n  batch_turns: 50\n")
    return path


def stored_events(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    row = connection.execute("SELECT count(*) FROM negentropy.events").fetchone()
    return int(str(row[0])) if row else 0


def wait_until(process: subprocess.Popen[bytes], is_due: Callable[[], bool]) -> None:
    assert eventually(lambda: process.poll() is not None or is_due(), limit_s=120)


def test_killed_at_random_moments_a_rerun_completes(
    negmem: CliRunner, database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(250))
    watcher = database.connect()
    chance = random.Random(20_260_302)
    kills = 0
    for _ in range(5):
        process = started(negmem, path)
        goal = stored_events(watcher) + chance.randrange(0, 400)
        wait_until(process, lambda goal=goal: stored_events(watcher) > goal)  # type: ignore[misc]
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        contents(database)
    assert kills >= 3
    last = started(negmem, path, "--json")
    out, _ = last.communicate()
    assert last.returncode == 0, out
    assert contents(database) == expected_contents(database, path, None)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_rolls_the_batch_back_says_what_is_done_and_leaves_130(
    negmem: CliRunner, database: TestDatabase, tmp_path: Path, sign: signal.Signals
) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(800))
    watcher = database.connect()
    process = started(negmem, path)
    wait_until(process, lambda: stored_events(watcher) > 0)
    process.send_signal(sign)
    _, err = process.communicate()
    assert process.returncode == 130, err.decode()
    count = database.value("SELECT count(*) FROM negentropy.memories")
    assert 0 < count < 8_000 and count % 50 == 0
    assert f"interrupted: {count:,} memories are stored" in err.decode()
    assert "Traceback" not in err.decode()
    rerun = started(negmem, path)
    assert rerun.wait() == 0
    assert database.value("SELECT count(*) FROM negentropy.memories") == 8_000


def test_a_server_that_goes_away_half_way_is_told_and_the_rerun_completes(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(60))
    killer = database.connect()

    class Cutting(FakeEmbedder):
        def embed_batch(self, texts):  # type: ignore[no-untyped-def]
            if len(self.calls) == 6:
                killer.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            return super().embed_batch(texts)

    with session_on(database, Cutting()) as session:
        run = Ingest(session, IngestOptions(path=str(path)))
        with pytest.raises(NegmemError) as refused:
            run.run()
        assert refused.value.code == "connection_lost"
        assert run.result.interrupted and 0 < run.result.memories < 600
        assert run.result.memories == database.value("SELECT count(*) FROM negentropy.memories")
        again = ingest_file(session, path)
    assert again.memories == 600 - run.result.memories
    assert contents(database) == expected_contents(database, path, FakeEmbedder())


def test_no_transaction_is_open_while_the_model_works(
    database: TestDatabase, tmp_path: Path
) -> None:
    watcher = database.connect()
    states: list[list[tuple[object, ...]]] = []

    class Watched(FakeEmbedder):
        def embed_batch(self, texts):  # type: ignore[no-untyped-def]
            states.append(
                watcher.execute(
                    "SELECT state FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
                ).fetchall()
            )
            return super().embed_batch(texts)

    with session_on(database, Watched()) as session:
        ingest_file(session, write_lines(tmp_path / "a.jsonl", many_conversations(60)))
    assert len(states) > 3
    assert {state for rows in states for (state,) in rows} == {"idle"}


def test_one_bad_batch_leaves_nothing_half_done(database: TestDatabase, tmp_path: Path) -> None:
    values = [conversation("good", "a", "b"), conversation("bad", "c", "d")]
    path = write_lines(tmp_path / "a.jsonl", values)
    database.rows(
        "ALTER TABLE negentropy.memories ADD CONSTRAINT refuse_d CHECK (content <> 'd') NOT VALID"
    )
    with session_on(database) as session:
        with pytest.raises(NegmemError) as refused:
            ingest_file(session, path)
        assert "refuse_d" in refused.value.why
        assert contents(database)["turns"] == []
        database.rows("ALTER TABLE negentropy.memories DROP CONSTRAINT refuse_d")
        assert ingest_file(session, path).memories == 4


def test_the_process_that_is_killed_leaves_no_temporary_table_behind(
    database: TestDatabase, tmp_path: Path
) -> None:
    with session_on(database) as session:
        ingest_file(session, write_lines(tmp_path / "a.jsonl", many_conversations(5)))
    assert database.value("SELECT count(*) FROM pg_class WHERE relpersistence = 't'") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
