"""The change of the embedding model: priced, resumable, searched throughout, with a way back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from negmem.core import embedding_change as change
from negmem.core import memories
from negmem.core.models.embed import EmbedChange
from negmem.core.retrieval.search import search
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.contexts import add_fact, add_learning
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.embedding_server import EmbeddingServer, Reply, embedding_server, failure, good
from tests.support.ingesting import session_on
from tests.support.searching import ask, remember
from tests.support.waiting import eventually

OLD = FakeEmbedder()
ACTIVE = "SELECT model, status FROM negentropy.embedding_models ORDER BY id"


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database, OLD) as opened:
        yield opened


def migrate(session: Session, action: str = "migrate", **options: Any) -> EmbedChange:
    return change.apply(session, change.plan(session, action), **options)


def test_there_and_back_again(session: Session, database: TestDatabase) -> None:
    remember(session, *(f"咖啡 coffee number {n}" for n in range(150)))
    gone = remember(session, "coffee removed")[0]
    memories.remove(session, "ada", [gone])
    add_fact(database, "coffee", "no sugar 不加糖")
    session.use_embedder(FakeEmbedder(48, model="newer", version="2"))
    assert change.status(session).state == "pending"
    planned = change.plan(session)
    shown = change.preview(planned)
    assert (shown.price.texts, shown.dry_run, shown.embedded) == (151, True, 0)
    assert 151 * 3 < shown.price.tokens < 151 * 20
    assert database.rows(ACTIVE) == [("hashed-words", "active")]
    heard: list[tuple[int, int]] = []
    done = change.apply(session, planned, on_progress=lambda now, of: heard.append((now, of)))
    assert (done.embedded, done.switched, done.parked, done.stopped) == (151, True, 0, None)
    assert heard[-1] == (151, 151)
    assert database.rows(ACTIVE) == [("hashed-words", "retired"), ("newer", "active")]
    answer = ask(session, "coffee 咖啡")
    assert (answer.level, answer.fallbacks) == ("hybrid", [])
    assert change.status(session).state == "unconfirmed"

    later = remember(session, "coffee that came later")[0]
    session.use_embedder(OLD)
    back = migrate(session, "rollback")
    assert (back.embedded, back.switched) == (2, True)  # the fact had none either
    answer = search(session, "ada", "coffee that came later", level="vector")
    assert (answer.level, answer.results[0].id) == ("vector", later)
    confirmed = migrate(session, "confirm")
    assert confirmed.removed_vectors == 152
    assert database.rows(ACTIVE) == [("hashed-words", "active")]
    assert change.status(session).state == "current"
    with pytest.raises(NegmemError, match="no way back"):
        change.plan(session, "rollback")


def test_learnings_entities_past_facts_and_topics_follow(
    session: Session, database: TestDatabase
) -> None:
    from datetime import datetime, timezone

    from negmem.core import facts
    from negmem.core.learning import learnings
    from negmem.core.retrieval.as_of import search_at
    from negmem.core.topics import cluster_new

    remember(session, "green tea 绿茶", "green tea again 绿茶")
    for city, year in (("Kyoto 京都", 2024), ("Lisbon 里斯本", 2025)):
        day = datetime(year, 1, 1, tzinfo=timezone.utc)
        facts.set_fact(session, "ada", "profile", "city", city, valid_from=day)
    add_learning(database, "Tea", "water of 80 degrees 水温八十度")
    assert cluster_new(session, "ada", threshold=0.5) is not None
    session.use_embedder(FakeEmbedder(48, model="newer", version="2"))
    planned = change.plan(session)
    assert planned.price.texts == 5
    assert change.apply(session, planned).embedded == 5
    (active,) = [m for m in change.status(session).models if m.status == "active"]
    assert (active.memories, active.facts, active.shared, active.missing) == (2, 1, 1, 0)
    found = learnings.search_learnings(session, "ada", "water 水温")
    assert (found.level, len(found.learnings)) == ("hybrid", 1)
    past = datetime(2024, 6, 1, tzinfo=timezone.utc)
    (then,) = search_at(session, "ada", "Kyoto", as_of=past, level="vector", kinds=["fact"]).results
    assert (then.content, then.search_level) == ("city: Kyoto 京都", "vector")
    dims = "SELECT DISTINCT model_id, vector_dims(centroid) FROM negentropy.memory_topics"
    assert database.rows(dims) == [(2, 48)]
    assert migrate(session, "confirm").removed_vectors == 4
    assert database.value("SELECT count(*) FROM negentropy.shared_vectors") == 1
    assert change.preview(change.plan(session)).next is None


def test_what_changes_meanwhile_is_caught_up(session: Session, database: TestDatabase) -> None:
    ids = remember(session, *(f"tea {n} 茶" for n in range(100)))
    new = FakeEmbedder(48, model="newer")
    plain = new.embed_batch
    with session_on(database, OLD) as other:

        def meddle(texts: Any) -> Any:
            if len(new.calls) == 1:  # beside the first batch, by a process that knows the old model
                memories.edit(other, "ada", ids[0], content="changed while it was embedded")
                memories.remove(other, "ada", [ids[1]])
                remember(other, "came while others were embedded")
            return plain(texts)

        new.embed_batch = meddle  # type: ignore[method-assign]
        session.use_embedder(new)
        done = migrate(session)
    assert done.switched
    (row,) = [m for m in change.status(session).models if m.status == "active"]
    assert (row.memories, row.memories_missing) == (100, 0)
    found = search(session, "ada", "changed while it was embedded", level="vector")
    assert found.results[0].id == ids[0]


def test_a_refused_text_is_parked_and_the_rest_goes_on(session: Session) -> None:
    remember(session, "good tea", "bad tea", "more tea")
    session.use_embedder(FakeEmbedder(48, model="newer", park=["bad tea"]))
    done = migrate(session)
    assert (done.embedded, done.parked, done.switched) == (2, 1, True)
    session.use_embedder(FakeEmbedder(48, model="newer"))
    assert migrate(session).embedded == 1


def test_a_failure_keeps_what_was_done(session: Session, database: TestDatabase) -> None:
    remember(session, *(f"tea {n}" for n in range(130)))
    new = FakeEmbedder(48, model="newer")
    plain = new.embed_batch

    def fail_later(texts: Any) -> Any:
        if len(new.calls) > 1:
            raise NegmemError("embedder_billing", "the account is empty")
        return plain(texts)

    new.embed_batch = fail_later  # type: ignore[method-assign]
    session.use_embedder(new)
    planned = change.plan(session)
    with pytest.raises(NegmemError, match="account"):
        change.apply(session, planned)
    assert database.rows(ACTIVE)[0] == ("hashed-words", "active")
    assert change.status(session).state == "changing"
    other = FakeEmbedder(40, model="third")
    session.use_embedder(other)
    with pytest.raises(NegmemError) as open_change:
        change.plan(session)
    assert open_change.value.code == "embedding_change_open"
    session.use_embedder(FakeEmbedder(48, model="newer"))
    again = change.plan(session)
    assert 0 < again.already < 130
    assert change.apply(session, again).embedded == 130 - again.already


def test_two_at_once_do_not_pay_twice(session: Session, database: TestDatabase) -> None:
    remember(session, "tea")
    session.use_embedder(FakeEmbedder(48, model="newer"))
    planned = change.plan(session)
    database.rows(
        "INSERT INTO negentropy.embedding_models (app_name, id, provider, model, version, dims,"
        " status, lease_by, lease_until) VALUES ('negmem', 2, 'fake', 'newer', '1', 48, 'building',"
        " 'elsewhere 1', now() + interval '1 minute')"
    )
    for plan in (planned, change.plan(session)):
        with pytest.raises(NegmemError) as refused:
            change.apply(session, plan)
        assert refused.value.code == "embedding_change_running"
    database.rows("UPDATE negentropy.embedding_models SET lease_until = now()")
    assert migrate(session).switched
    assert migrate(session, "cancel").removed_vectors == 0


def test_the_length_of_vectors_is_checked_first(session: Session, database: TestDatabase) -> None:
    remember(session, "tea")
    wrong = FakeEmbedder(48, model="newer")
    wrong.dims = 64
    wrong.embed_documents = FakeEmbedder(48).embed_documents  # type: ignore[method-assign]
    session.use_embedder(wrong)
    with pytest.raises(NegmemError) as refused:
        change.plan(session)
    assert refused.value.code == "embedding_dims_mismatch"
    assert "embedding.dims 48" in refused.value.hint
    assert len(database.rows(ACTIVE)) == 1


def hosted(path: Path, server: EmbeddingServer, model: str, dims: int = 8) -> Path:
    """A configuration whose model is served on this machine."""
    path.write_text(
        "embedding:\n  provider: litellm\n"
        f"  model: openai/{model}\n  api_base: {server.base_url}\n  dims: {dims}\n"
        "  api_key_env: NEGMEM_TEST_KEY\n  max_batch_texts: 10\n  max_retries: 0\n",
        encoding="utf-8",
    )
    return path


def opened(database: TestDatabase, config: Path) -> Session:
    env = {"NEGMEM_TEST_KEY": "sk-test"}
    return open_session(dsn=database.dsn, config_path=str(config), env=env)


def test_killed_midway_it_goes_on_and_search_is_never_blind(
    database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEGMEM_TEST_KEY", "sk-test")
    with embedding_server() as server:
        old = hosted(tmp_path / "old.yaml", server, "old-model")
        new = hosted(tmp_path / "new.yaml", server, "new-model")
        with opened(database, old) as session:
            from negmem.core import installation

            installation.install(session)
            remember(session, *(f"咖啡 coffee {n}" for n in range(30)))
        served: list[str] = []

        def mood(texts: list[str]) -> Reply | None:
            model = server.bodies[-1]["model"]
            served.append(model)
            long_enough = len([m for m in served if "new" in m]) > 3 and len(texts) > 1
            return Reply(hang=True) if "new" in model and long_enough else None

        server.mood = mood
        words = ["--dsn", database.dsn, "--config", str(new), "--yes", "--json"]
        running = subprocess.Popen(
            [sys.executable, "-m", "negmem.cli", "embed", "migrate", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "NEGMEM_TEST_KEY": "sk-test"},
        )
        done = "SELECT count(*) FROM negentropy.memory_vectors WHERE model_id = 2"
        with opened(database, new) as reader:
            reader.require_installed()
            eventually(lambda: database.value(done) >= 20, limit_s=60)
            running.send_signal(signal.SIGKILL)
            running.wait()
            answer = search(reader, "ada", "coffee 咖啡 7")
            assert (answer.level, answer.fallbacks) == ("hybrid", [])
            assert {w["code"] for w in reader.warnings} == {"embedding_change_pending"}
            server.mood = lambda texts: None
            with opened(database, new) as session:
                planned = change.plan(session)
                assert planned.already >= 20
                finished = change.apply(session, planned)
                assert (finished.embedded, finished.switched) == (30 - planned.already, True)
                assert search(session, "ada", "coffee 7").level == "hybrid"
            # a process that began before the swap
            after = search(reader, "ada", "coffee 咖啡 8")
            assert (after.level, after.fallbacks) == ("hybrid", [])
        with opened(database, old) as session:  # the YAML lags behind
            session.require_installed()
            assert search(session, "ada", "coffee").level == "hybrid"
            assert migrate(session, "rollback").switched
            assert search(session, "ada", "coffee").level == "hybrid"


def test_limits_of_a_batch(
    database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten texts a request and 8,192 tokens in all; one text of 9,000, one that is refused."""
    monkeypatch.setenv("NEGMEM_TEST_KEY", "sk-test")
    with embedding_server() as server:
        old = hosted(tmp_path / "old.yaml", server, "old-model")
        with opened(database, old) as session:
            from negmem.core import installation

            installation.install(session)
            session.use_embedder(EmbedderAbsent("embedder_disabled", "stored without vectors"))
            texts = [f"text {n} 文字" for n in range(20)] + ["word " * 9_000, "refused text"]
            remember(session, *texts)

        def mood(texts: list[str]) -> Reply | None:
            if any("refused text" in text for text in texts):
                return failure(400, "invalid input", code="invalid_request_error")
            if len(texts) > 10:
                return failure(400, "too many inputs: at most 10")
            if sum(len(text.split()) for text in texts) > 8_192:
                return failure(400, "maximum context length is 8192 tokens")
            return Reply(document=good(texts))

        server.mood = mood
        new = hosted(tmp_path / "new.yaml", server, "new-model")
        new.write_text(new.read_text().replace("max_batch_texts: 10", "max_batch_texts: 20"))
        with opened(database, new) as session:
            done = migrate(session)
        assert (done.embedded, done.parked, done.switched) == (21, 1, True)
