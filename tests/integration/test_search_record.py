"""What a search leaves behind: its log, its queued accesses, or nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from psycopg import sql

from negmem.core.session import Session, open_session
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.searching import ask, contents, remember

LOGS = (
    "SELECT id, query, search_level, counted, applied_at IS NULL, fallbacks,"
    " retrieved_memory_ids, items FROM negentropy.memory_retrieval_logs ORDER BY created_at"
)


def counts(database: TestDatabase) -> list[int]:
    database.rows("SELECT negentropy.apply_recorded_accesses()")
    rows = database.rows("SELECT access_count FROM negentropy.memories ORDER BY content")
    return [row[0] for row in rows]


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_a_search_is_logged_with_what_it_gave(session: Session, database: TestDatabase) -> None:
    (first, _) = remember(session, "喝咖啡 coffee", "另一件事")
    answer = ask(session, "咖啡 coffee", limit=1)
    ((log_id, query, level, counted, queued, fallbacks, ids, items),) = database.rows(LOGS)
    assert log_id == answer.retrieval_id and query == "咖啡 coffee" and level == "hybrid"
    assert counted and queued and fallbacks == [] and ids == [first]
    assert [(i["kind"], i["id"], i["rank"]) for i in items] == [("memory", str(first), 1)]
    assert items[0]["score"] == answer.results[0].score
    assert counts(database) == [0, 1]
    assert counts(database) == [0, 1]


def test_a_repeat_and_a_page_count_once(session: Session, database: TestDatabase) -> None:
    remember(session, "tea a", "tea b", "tea c")
    for offset in (0, 0, 2):
        ask(session, "tea", level="keyword", limit=2, offset=offset)
    assert [row[3] for row in database.rows(LOGS)] == [True, False, False]
    assert sum(counts(database)) == 2
    database.rows(
        "UPDATE negentropy.memory_retrieval_logs SET created_at = now() - interval '61 seconds'"
    )
    ask(session, "tea", level="keyword", limit=2)
    assert sum(counts(database)) == 4


def test_nothing_found_is_logged_and_not_queued(session: Session, database: TestDatabase) -> None:
    remember(session, "tea")
    assert ask(session, "zeppelin", level="keyword").results == []
    ((_, _, _, _, queued, _, ids, _),) = database.rows(LOGS)
    assert ids == [] and not queued


def test_fallbacks_are_logged(session: Session, database: TestDatabase) -> None:
    remember(session, "Transatlantic")
    session.use_embedder(FakeEmbedder(model="another"))
    ask(session, "satlant")
    ((_, _, level, _, _, fallbacks, _, _),) = database.rows(LOGS)
    assert level == "ilike"
    assert [(f["from"], f["to"], f["code"]) for f in fallbacks] == [
        ("hybrid", "keyword", "embedding_space_mismatch"),
        ("keyword", "ilike", "no_match"),
    ]


def test_nothing_is_left_when_it_shall_not(session: Session, database: TestDatabase) -> None:
    remember(session, "tea")
    assert ask(session, "tea", record=False).retrieval_id is None
    assert ask(session, "tea", "stranger").retrieval_id is None
    assert database.rows(LOGS) == []


def test_a_server_that_takes_no_writes_still_answers(
    session: Session, database: TestDatabase
) -> None:
    remember(session, "绿茶 tea")
    name = sql.Identifier(database.name).as_string(None)
    database.rows(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with open_session(dsn=database.dsn, env={}) as reader:
        reader.use_embedder(FakeEmbedder())
        answer = ask(reader, "绿茶")
        assert contents(answer) == ["绿茶 tea"] and answer.retrieval_id is None
        assert [w["code"] for w in reader.warnings] == ["retrieval_not_recorded"]


def test_a_role_that_may_only_read_still_gets_an_answer(
    session: Session, database: TestDatabase
) -> None:
    remember(session, "绿茶 tea")
    role = f"reader_{database.name}"
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA negentropy TO {role}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO {role}",
    ):
        database.rows(statement)
    try:
        with open_session(dsn=database.dsn, env={}) as reader:
            reader.use_embedder(FakeEmbedder())
            reader.database.target.params["user"] = role
            answer = ask(reader, "绿茶")
            assert contents(answer) == ["绿茶 tea"] and answer.retrieval_id is None
            assert [w["code"] for w in reader.warnings] == ["retrieval_not_recorded"]
            assert contents(ask(reader, "绿茶")) == ["绿茶 tea"]
    finally:
        database.rows(f"DROP OWNED BY {role}")
        database.rows(f"DROP ROLE {role}")


@pytest.mark.servers("pooled")
def test_through_a_pooler_with_few_connections(session: Session, database: TestDatabase) -> None:
    remember(session, *(f"note {n} 第{n}条" for n in range(20)))

    def search_on_its_own(number: int) -> list[str]:
        with open_session(dsn=database.dsn, env={}) as mine:
            mine.use_embedder(FakeEmbedder())
            return [c for _ in range(8) for c in contents(ask(mine, f"第{number}条", limit=1))]

    with ThreadPoolExecutor(6) as pool:
        for number, found in enumerate(pool.map(search_on_its_own, range(10, 16)), start=10):
            assert found == [f"note {number} 第{number}条"] * 8
    timeouts = {database.value("SELECT current_setting('statement_timeout')") for _ in range(8)}
    assert timeouts == {"0"}
