"""When two SQL texts say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.text.sql_tokens import same_sql, sql_tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 1", "select\n\t1  -- 注释"),
        ("SELECT a+b", "SELECT a + /* outer /* inner */ still */ b"),
        ("RETURN x ;", "return X;"),
        ("IF a THEN b; END IF;", "IF a\nTHEN\n  b;\nEND IF;"),
        ("", "  -- nothing\n"),
    ],
)
def test_spacing_comments_and_case_of_words_do_not_count(one: str, other: str) -> None:
    assert same_sql(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a <=> b", "a IS NOT DISTINCT FROM b"),
        ("a <=> b", "a <= > b"),
        ("SELECT 'A'", "SELECT 'a'"),
        ("SELECT 'a  b'", "SELECT 'a b'"),
        ('SELECT "A"', 'SELECT "a"'),
        ("SELECT '--x'", "SELECT '--y'"),
        ("SELECT E'\\'--'", "SELECT E'\\'' -- '"),
        ("SELECT $q$ a $q$", "SELECT $q$ b $q$"),
        ("LIMIT 10", "LIMIT 100"),
        ("0.20", "0.2"),
        ("x := 1", "x : = 1"),
        ("SELECT 喜欢", "SELECT 不喜欢"),
    ],
)
def test_what_the_server_would_read_otherwise_counts(one: str, other: str) -> None:
    assert not same_sql(one, other)


def test_an_open_comment_ends_with_the_text() -> None:
    assert list(sql_tokens("a /* b")) == ["a"]


@given(st.text())
def test_any_text_is_taken_apart_and_equals_itself(text: str) -> None:
    assert same_sql(text, text)
