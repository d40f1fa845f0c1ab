"""What is read off the rows of a search."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from negmem.core.models.retrieval import Contributions, Fallback
from negmem.core.retrieval.explain import raw_score, recency, shortfall_of, total
from negmem.core.retrieval.search import Filters, Question, fallbacks_of
from negmem.errors import UsageError

NOW = datetime(2026, 3, 2, tzinfo=timezone.utc)
PARTS = (
    "semantic",
    "keyword",
    "neighbours",
    "session",
    "speaker",
    "intent",
    "relevance",
    "retention",
)


def row(**changed: Any) -> dict[str, Any]:
    return {
        "user_known": True,
        "is_same_space": True,
        "planned_level": "hybrid",
        "search_level": "hybrid",
        "id": 1,
        "provider": "local",
        "model": "m",
        "version": "1",
        "dims": 3,
        "score": 0.5,
        "cosine": 0.75,
        "bm25": 7.5,
        "retention_part": 0.25,
        "relevance_part": -0.1,
        **changed,
    }


def question(level: str = "hybrid") -> Question:
    return Question("q", level, space=("onnx", "n", "2", 3))


def test_parts_of_millionths_add_up_exactly() -> None:
    parts = Contributions(
        **dict(zip(PARTS, (0.1, 0.2, 0.000001, 0.3, 0.0, -0.05, 0.000002, 0.0), strict=True))
    )
    assert total(parts) == 0.550003


@pytest.mark.parametrize(
    ("days", "wanted"), [(0, 1.0), (15, 0.5), (30, 0.0), (400, 0.0), (-3, 1.0)]
)
def test_recency_falls_within_a_month(days: int, wanted: float) -> None:
    assert recency(NOW - timedelta(days=days), NOW) == wanted
    assert recency(None, NOW) is None


@pytest.mark.parametrize(
    ("level", "wanted"), [("hybrid", 0.6), ("vector", 0.25), ("keyword", 7.5), ("ilike", 0.25)]
)
def test_the_raw_score_is_that_of_the_level(level: str, wanted: float) -> None:
    assert raw_score(row(search_level=level)) == pytest.approx(wanted)


def codes(steps: list[Fallback]) -> list[tuple[str, str, str]]:
    return [(step.from_level, step.to_level, step.code) for step in steps]


def test_no_step_is_told_where_none_was_taken() -> None:
    assert fallbacks_of(question(), row()) == []
    assert fallbacks_of(question(), row(id=None, search_level=None)) == []
    stranger = row(user_known=False, planned_level="keyword", id=None, search_level=None)
    assert fallbacks_of(question(), stranger) == []


def test_each_step_down_is_told_with_its_reason() -> None:
    planned = {"planned_level": "keyword", "search_level": "keyword"}
    assert codes(fallbacks_of(question(), row(**planned))) == [
        ("hybrid", "keyword", "nothing_embedded")
    ]
    (step,) = fallbacks_of(question(), row(is_same_space=False, **planned))
    assert step.code == "embedding_space_mismatch"
    assert "local m (1, 3 dimensions)" in step.reason and "onnx n (2, 3" in step.reason
    unset = row(is_same_space=None, model=None, **planned)
    assert codes(fallbacks_of(question(), unset)) == [
        ("hybrid", "keyword", "embedding_model_unset")
    ]
    both = row(planned_level="keyword", search_level="ilike")
    assert codes(fallbacks_of(question("vector"), both)) == [
        ("vector", "keyword", "nothing_embedded"),
        ("keyword", "ilike", "no_match"),
    ]


def test_a_step_is_printed_with_from_and_to() -> None:
    step = Fallback(from_level="hybrid", to_level="keyword", reason="没有模型", code="c")
    assert step.model_dump(mode="json") == {
        "from": "hybrid",
        "to": "keyword",
        "reason": "没有模型",
        "code": "c",
        "hint": "",
    }


def test_metadata_of_a_filter_is_cleaned() -> None:
    assert Filters(where={"城市": "a\0b"}).params["metadata"] == '{"城市": "a\ufffdb"}'
    assert Filters(where={}).params["metadata"] is None
    with pytest.raises(UsageError) as caught:
        _ = Filters(where={"n": 10**4000}).params
    assert caught.value.code == "text_refused"


@pytest.mark.parametrize(
    ("level", "count", "offset", "filtered", "wanted"),
    [
        ("hybrid", 10, 0, False, None),
        (
            "hybrid",
            3,
            0,
            False,
            "3 in all: the user has no more that has a vector or shares a word",
        ),
        ("keyword", 2, 10, False, "12 in all share a word with the question"),
        ("keyword", 2, 0, True, "2 in all share a word with the question and pass the filters"),
        ("ilike", 1, 0, False, "1 in all contain the text"),
        ("keyword", 0, 0, False, "nothing matched"),
        ("keyword", 0, 20, False, "at most 20 in all share a word with the question"),
    ],
)
def test_fewer_than_asked_for_is_said(
    level: str, count: int, offset: int, filtered: bool, wanted: str | None
) -> None:
    head = row(search_level=level, planned_level=level)
    assert shortfall_of(head, count, 10, offset, filtered) == wanted
