"""The search functions as SQL clients call them, and pgvector in a schema of its own."""

from __future__ import annotations

import pytest

from negmem.core import memories
from negmem.core.session import Session
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder, hash_vector
from tests.support.ingesting import session_on
from tests.support.searching import ask, contents, remember


def vector(text: str) -> str:
    return str(hash_vector(text, 32))


@pytest.mark.servers("embedded", "sixteen")
def test_hybrid_search_is_the_weighted_sum(session: Session, database: TestDatabase) -> None:
    remember(session, "绿茶 tea", "coffee 咖啡", "tea and coffee", metadata={"place": "home"})
    remember(session, "tea elsewhere", metadata={"place": "office"})
    remember(session, "tea of somebody else", user="eve")
    (gone,) = remember(session, "tea that was removed")
    memories.remove(session, "ada", [gone])
    rows = database.rows(
        "SELECT content, semantic_score, keyword_score, combined_score, metadata ->> 'place'"
        " FROM negentropy.hybrid_search('ada', 'negmem', 'tea 绿茶', %s::vector)",
        (vector("tea 绿茶"),),
    )
    assert rows[0][0] == "绿茶 tea" and {row[0] for row in rows} == {
        "绿茶 tea", "coffee 咖啡", "tea and coffee", "tea elsewhere"
    }  # fmt: skip
    for _, semantic, keyword, combined, _ in rows:
        assert 0 <= semantic <= 1 and 0 <= keyword <= 1
        assert combined == pytest.approx(0.7 * semantic + 0.3 * keyword, abs=1e-5)
    assert [row[3] for row in rows] == sorted((row[3] for row in rows), reverse=True)
    some = database.rows(
        "SELECT content FROM negentropy.hybrid_search('ada', 'negmem', 'tea', %s::vector, 1, 0.2,"
        ' 0.8, \'{"place": "office"}\')',
        (vector("tea"),),
    )
    assert some == [("tea elsewhere",)]
    by_words = database.rows(
        "SELECT content, semantic_score FROM negentropy.hybrid_search('ada', 'negmem', '咖啡', NULL)"
    )
    assert by_words == [("coffee 咖啡", 0)]


def test_rrf_search_joins_ranks(session: Session, database: TestDatabase) -> None:
    remember(session, "绿茶 tea", "coffee 咖啡", "tea and coffee")
    rows = database.rows(
        "SELECT content, rrf_score, semantic_rank, keyword_rank"
        " FROM negentropy.rrf_search('ada', 'negmem', 'tea', %s::vector, 10, 60)",
        (vector("tea"),),
    )
    assert len(rows) == 3
    for _, score, semantic, keyword in rows:
        wanted = sum(1 / (60 + rank) for rank in (semantic, keyword) if rank is not None)
        assert score == pytest.approx(wanted, abs=1e-6)
    assert [row[3] for row in rows if row[0] == "coffee 咖啡"] == [None]


@pytest.mark.servers("embedded", "sixteen")
def test_pgvector_in_a_schema_of_its_own(empty_database: TestDatabase) -> None:
    empty_database.rows("CREATE SCHEMA extensions")
    empty_database.rows("CREATE EXTENSION vector SCHEMA extensions")
    with session_on(empty_database, FakeEmbedder()) as session:
        remember(session, "绿茶 tea", "coffee 咖啡")
        for level in ("hybrid", "vector"):
            answer = ask(session, "绿茶", level=level)
            assert answer.level == level and answer.fallbacks == []
            assert contents(answer)[0] == "绿茶 tea"
    rows = empty_database.rows(
        "SELECT content FROM negentropy.hybrid_search('ada', 'negmem', 'tea',"
        " %s::extensions.vector)",
        (vector("tea"),),
    )
    assert rows[0] == ("绿茶 tea",)


def test_a_hostile_search_path_changes_nothing(session: Session, database: TestDatabase) -> None:
    remember(session, "绿茶 tea")
    connection = database.connect()
    connection.execute("CREATE SCHEMA trap")
    connection.execute(
        "CREATE FUNCTION trap.lower(text) RETURNS text LANGUAGE sql AS 'SELECT ''x'''"
    )
    connection.execute("CREATE TABLE trap.memories (id uuid)")
    connection.execute("SET search_path = trap, pg_catalog")
    found = connection.execute(
        "SELECT count(*) FROM negentropy.search_items('ada', 'negmem', 'TEA 绿茶')"
    ).fetchall()
    assert found == [(1,)]
