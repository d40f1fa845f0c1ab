"""Benchmarks on a real server: what they measure, and that they leave nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from negmem.core.bench import scratch
from negmem.core.bench.history import history
from negmem.core.bench.retrieval import BenchOptions, run
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder

SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'negmem_bench%'"


@pytest.fixture
def session(database: TestDatabase, tmp_path: Path) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={"NEGMEM_HOME": str(tmp_path / "home")}) as opened:
        opened.use_embedder(FakeEmbedder())
        yield opened


@pytest.fixture
def options(tmp_path: Path) -> BenchOptions:
    sessions, asked = [], []
    for store, pet in (("c1", "cat 猫"), ("c2", "dog 狗")):
        turns = [
            {"turn_id": "t1", "speaker": "Ada", "text": f"I have a {pet}"},
            {"turn_id": "t2", "speaker": "Bo", "text": "the weather is fine 天气"},
        ]
        sessions.append({"conversation_id": store, "session_id": "s1", "turns": turns})
        asked.append(
            {
                "question_id": store,
                "conversation_id": store,
                "question": "Which pet, cat 猫 or dog 狗?",
                "evidence": ["t1"],
                "evidence_sessions": ["s1"],
            }
        )
    for name, rows in (("sessions", sessions), ("qa", asked)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return BenchOptions(dataset="own", folder=tmp_path)


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_levels_side_by_side(
    session: Session, options: BenchOptions, database: TestDatabase
) -> None:
    wanted = BenchOptions(**{**vars(options), "compare": ("hybrid", "vector", "keyword")})
    found = run(session, wanted)
    assert found.questions == 2 and found.metrics["recall@1"] == 1
    assert [r.config.name for r in found.compared] == ["vector", "keyword"]
    assert found.intervals["recall@1"] == (1.0, 1.0)
    assert {d.metric for d in found.differences} >= {"recall@5", "ndcg@10"}
    assert not any(d.is_clear for d in found.differences if d.name == "vector")
    assert found.config.embedding == "fake hashed-words 1" and found.config.conversations == 2
    assert found.fallbacks == {} and found.latency_ms.p50 > 0
    assert database.rows(SCHEMAS) == []


def test_runs_are_recorded_and_compared_over_time(
    session: Session, options: BenchOptions, database: TestDatabase
) -> None:
    bars = (("recall@1", 1.0), ("session.recall@1", 1.0), ("session.mrr@10", 1.0))
    wanted = BenchOptions(**{**vars(options), "compare": ("keyword", "vector"), "bars": bars})
    first = run(session, wanted)
    assert all(bar.passed for bar in first.bars)
    assert len(first.recorded) == 2
    run(session, BenchOptions(**{**vars(options), "record": False}))
    again = run(session, BenchOptions(**{**vars(options), "level": "keyword"}))
    found = history(session, kind="retrieval", dataset="own")
    assert [r.name for r in found.runs[:1]] == ["keyword"]
    assert {r.id for r in found.runs} == {*first.recorded, *again.recorded}
    newest = found.runs[0]
    assert newest.changes["recall@1"] == 0.0
    assert (newest.data_hash, newest.seed) == (first.data_hash, first.seed)
    assert newest.versions["negmem"] and newest.config["memories"] == 4
    with (options.folder / "qa.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert run(session, options).data_hash != first.data_hash
    assert history(session, limit=1).truncated
    database.rows("DROP TABLE negentropy.benchmark_runs")
    assert run(session, options).recorded == []
    assert [w["code"] for w in session.warnings] == ["bench_not_recorded"]


def test_documents_are_embedded_once_for_all_runs(session: Session, options: BenchOptions) -> None:
    embedder = FakeEmbedder()
    session.use_embedder(embedder)
    run(session, options)
    embedded = [count for kind, count in embedder.calls if kind == "documents"]
    assert sum(int(count) for count in embedded) == 3
    embedder.calls.clear()
    run(session, options)
    assert {kind for kind, _ in embedder.calls} == {"query"}


@pytest.mark.parametrize("when", ["storing", "asking"])
def test_ctrl_c_leaves_nothing(
    session: Session, options: BenchOptions, database: TestDatabase, when: str
) -> None:
    def stop(step: str) -> None:
        if step.startswith(when):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(session, options, on_step=stop)
    assert database.rows(SCHEMAS) == []


def test_what_a_killed_run_left_is_removed_by_the_next(
    session: Session,
    options: BenchOptions,
    database: TestDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with monkeypatch.context() as killed:
        killed.setattr(scratch, "_drop", lambda *given: False)
        killed.setattr("os.getpid", lambda: ended.pid)
        run(session, options)
    assert len(database.rows(SCHEMAS)) == 1
    heard: list[str] = []
    run(session, options, on_step=heard.append)
    assert database.rows(SCHEMAS) == []
    assert any("a run that was cut off" in step for step in heard)


def test_what_could_not_be_removed_is_told(
    session: Session,
    options: BenchOptions,
    database: TestDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(opened: Session) -> None:
        raise NegmemError("lock_timeout", "another session holds the lock")

    monkeypatch.setattr(scratch.installation, "uninstall", refuse)
    heard: list[str] = []
    run(session, options, on_step=heard.append)
    ((schema,),) = database.rows(SCHEMAS)
    assert f"negmem uninstall --schema {schema} --yes" in heard[-1]


def test_a_level_that_can_not_be_had_is_not_measured(
    session: Session, options: BenchOptions
) -> None:
    session.use_embedder(EmbedderAbsent("embedder_disabled", "embedding is switched off"))
    with pytest.raises(NegmemError, match="switched off"):
        run(session, BenchOptions(**{**vars(options), "level": "hybrid"}))
    found = run(session, options)
    assert found.fallbacks == {"hybrid to keyword": 2}
    assert [w["code"] for w in session.warnings] == ["embedder_disabled"]
