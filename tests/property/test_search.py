"""Whatever is asked, and whatever is stored: an answer whose parts add up, and nothing foreign."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from negmem.core.retrieval.explain import total
from negmem.core.retrieval.search import clean_question
from negmem.core.session import Session
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on
from tests.support.searching import ask, remember, remember_talk

ON_ONE_DATABASE = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
QUERIES = st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
ODD = [
    "'; DROP TABLE memories; --",
    "a\x00b",
    "\ud83d alone",
    "{}[]()%_\\'\"",
    "👩‍👩‍👧‍👦",
    "喝\n茶",
    "-" * 500,
]


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database, FakeEmbedder()) as opened:
        remember_talk(
            opened, ("Ada", "喝咖啡 or tea?"), ("Bo", "tea, 谢谢"), ("Ada", "order-1234 is late")
        )
        remember(opened, "100% sure", "who am i", "C:\\tmp", "😀")
        remember(opened, "不是你的 not yours", user="eve")
        yield opened


@ON_ONE_DATABASE
@given(
    query=QUERIES | st.sampled_from(ODD),
    level=st.sampled_from(["auto", "vector", "keyword", "ilike"]),
    weight=st.floats(0, 1),
)
@example(query=ODD[0], level="ilike", weight=0.5)
@example(query=ODD[1], level="keyword", weight=0.5)
@example(query=ODD[2], level="auto", weight=0.5)
@example(query=ODD[0], level="auto", weight=1e-200)
@example(query=ODD[0], level="auto", weight=5e-324)
def test_any_question_has_an_answer_that_adds_up(
    session: Session, query: str, level: str, weight: float
) -> None:
    answer = ask(
        session,
        query,
        level=level,
        semantic_weight=weight,
        keyword_weight=1 - weight / 2,
        explain=True,
        record=False,
    )
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    for result in answer.results:
        assert 0 <= result.score <= 1
        assert "不是你的" not in result.content
        assert result.explain is not None
        assert total(result.explain.contributions) == result.explain.sum == result.score


@ON_ONE_DATABASE
@given(text=QUERIES)
def test_what_is_stored_has_the_terms_of_the_same_question(session: Session, text: str) -> None:
    missing = session.database.connection.execute(
        b"SELECT t.term FROM negentropy.search_terms(%(text)s) AS t"
        b" EXCEPT SELECT i.term FROM negentropy.index_terms(NULL, %(text)s, now()) AS i",
        {"text": clean_question(text)},
    ).fetchall()
    assert missing == []


def test_a_question_of_a_megabyte(session: Session) -> None:
    for unit in ("coffee 喝茶 ", "茶", "'x' \\ % "):
        query = unit * (1_000_000 // len(unit.encode()))
        assert ask(session, query, level="auto").level in ("hybrid", "ilike")
        assert ask(session, query, level="ilike").results == []
