"""The estimate of tokens, in Python and in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from negmem.core.text.token_estimate import estimate_tokens
from tests.support.databases import TestDatabase

pytestmark = pytest.mark.servers("embedded", "sixteen")

SAMPLES = [
    "",
    " ",
    "I booked the train to the coast for the second Friday in May.",
    "我订了五月第二个星期五去海边的火车票，早上九点半出发。",
    "def f(x: int) -> int:\n\treturn x ** 2  # 3.14",
    "3f2b8c1e-9d4a-4b7e-8a6f-0c1d2e3f4a5b and aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Q=",
    "한국어 と 日本語、全角ＡＢＣ１２３",
    "Привет, мир · naïve café",
    "👍🎉 👨‍👩‍👧 𠀀𠮷",
    "a" * 23 + " " + "b" * 24,
    "\x01\x7f\x80\u2e7f\u2e80\ua4cf\ua4d0\uffef\ufff0\U00010000\U0010ffff",
]
text = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
        st.sampled_from("aZ09 \n\t!~[`{\x7f\x80你ｱ가👍"),
    ),
    max_size=80,
)


@pytest.fixture
def connection(database: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    with database.connect() as opened:
        yield opened


def in_sql(connection: psycopg.Connection[Any], value: str) -> int:
    row = connection.execute("SELECT negentropy.estimate_tokens(%s::text)", (value,)).fetchone()
    assert row is not None
    return int(row[0])


def test_the_samples_agree(connection: psycopg.Connection[Any]) -> None:
    for sample in SAMPLES:
        assert in_sql(connection, sample) == estimate_tokens(sample), sample


def test_any_text_agrees(connection: psycopg.Connection[Any]) -> None:
    @settings(max_examples=300, suppress_health_check=list(HealthCheck))
    @given(text)
    def check(value: str) -> None:
        assert in_sql(connection, value) == estimate_tokens(value)

    check()


def test_a_missing_text_has_no_estimate(connection: psycopg.Connection[Any]) -> None:
    row = connection.execute("SELECT negentropy.estimate_tokens(NULL) IS NULL").fetchone()
    assert row == (True,)
