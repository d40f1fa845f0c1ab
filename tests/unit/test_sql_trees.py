"""When two SQL texts count as the same beyond spacing and comments: tokens decide, trees only confirm."""

from __future__ import annotations

import pytest

from negmem.core.text.sql_tokens import may_be_same_sql
from negmem.db.sql_trees import same_tree


def are_same(one: str, other: str) -> bool:
    return may_be_same_sql(one, other) and same_tree(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a + b * c", "SELECT a + (b * c)"),
        ("SELECT (a)", "SELECT a"),
        ("SELECT a AS x FROM t", "SELECT a x FROM t"),
        ("SELECT 1 FROM t AS u", "SELECT 1 FROM t u"),
        ("SELECT a FROM t ORDER BY a ASC", "SELECT a FROM t ORDER BY a"),
        ("SELECT a != b", "SELECT a <> b"),
        ("SELECT '记忆' WHERE (a = 1) AND (b = 2);", "SELECT '记忆' WHERE a = 1 AND b = 2"),
    ],
)  # fmt: skip
def test_what_is_only_written_otherwise(one: str, other: str) -> None:
    assert are_same(one, other)
    assert are_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT (a + b) * c", "SELECT a + b * c"),
        ("SELECT a - (b - c)", "SELECT a - b - c"),
        ("SELECT a OR (b AND c)", "SELECT (a OR b) AND c"),
        ("SELECT 'A'", "SELECT 'a'"),
        ("SELECT \"A\"", "SELECT \"a\""),
        ("SELECT a <=> b", "SELECT a IS NOT DISTINCT FROM b"),
        ("SELECT (a <=> b) = c", "SELECT a <=> (b = c)"),
        ("SELECT (a <#> b)", "SELECT a <#> b"),
        ("SELECT a = b IS NULL", "SELECT a = (b IS NULL)"),
        ("SELECT a || b + c", "SELECT (a || b) + c"),
        ("SELECT a::real", "SELECT a::float"),
        ("SELECT a::integer", "SELECT a::int"),
        ("SELECT ln(a)", "SELECT log(a)"),
        ("SELECT now()", "SELECT current_timestamp"),
        ("SELECT a FROM t", "SELECT b FROM t"),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER BY a"),
        ("SELECT 1", "SELECT 1; SELECT 1"),
        ("this is (no sql", "this is no sql"),
    ],
)  # fmt: skip
def test_what_may_mean_something_else(one: str, other: str) -> None:
    assert not are_same(one, other)
    assert not are_same(other, one)
