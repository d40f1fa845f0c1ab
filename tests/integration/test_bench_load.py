"""A load on a real server: nobody's access is lost, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from negmem.core.bench import load
from negmem.core.bench.history import history
from negmem.core.bench.load import LoadOptions, run
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase

SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'negmem_bench%'"


@pytest.fixture
def session(database: TestDatabase, tmp_path: Path) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={"NEGMEM_HOME": str(tmp_path / "home")}) as opened:
        yield opened


def test_clients_beside_one(session: Session, database: TestDatabase) -> None:
    options = LoadOptions(
        rows=120, users=2, clients=3, seconds=0.6, reads=0.7, bars=(("ratio", 1e9),)
    )
    found = run(session, options)
    assert (found.single.clients, found.many.clients) == (1, 3)
    assert found.many.searches > 0 and found.many.writes > 0
    assert (found.single.errors, found.many.errors, found.error_texts) == (0, 0, [])
    assert found.expected_accesses > 0
    assert (found.lost_accesses, found.lost_logs) == (0, 0)
    assert [bar.passed for bar in found.bars] == [False]
    assert database.rows(SCHEMAS) == []
    (kept,) = history(session, kind="load").runs
    assert kept.metrics["ratio"] == found.ratio


def test_a_client_that_dies_is_told(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load.sys, "executable", "/bin/false")
    with pytest.raises(NegmemError) as failed:
        run(session, LoadOptions(rows=20, users=1, clients=2, seconds=0.1))
    assert failed.value.code == "bench_client_failed"
    assert database.rows(SCHEMAS) == []


def test_what_makes_no_load_is_refused(session: Session, negmem: CliRunner) -> None:
    for wrong in (
        LoadOptions(rows=0),
        LoadOptions(rows=5, users=6),
        LoadOptions(clients=100_000),
        LoadOptions(seconds=0),
        LoadOptions(reads=2),
    ):
        with pytest.raises(UsageError) as refused:
            run(session, wrong)
        assert refused.value.code == "bench_load_malformed"
    for bar in ("ratio", "speed=1", "ratio=-1"):
        done = negmem("bench", "load", "--fail-under", bar, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "bench_bar_malformed")
