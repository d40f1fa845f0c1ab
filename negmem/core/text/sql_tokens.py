"""Whether two SQL texts say the same to the server: spacing, comments and the case of words aside."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*)
  | (?P<comment>/\*)
  | (?P<text>[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<number>\d[\w.]*|\.\d[\w.]*)
  | (?P<operator>(?:(?!--|/\*)[-+*/<>=~!@\#%^&|`?])+|:=|::|\.\.)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# What PostgreSQL lets one leave out or write otherwise, where the grouping stays the same.
_PARENTHESES = frozenset({"(", ")"})
_OPTIONAL = frozenset({";", "as", "asc"})
_SAME = {"!=": "<>"}
_PLAIN_OPERATORS = frozenset(
    {"+", "-", "*", "/", "%", "=", "<", ">", "<=", ">=", "<>", "!=", "||", "::", ".."}
)
_OPERATOR_SIGNS = frozenset("-+*/<>=~!@#%^&|`?:")
# Beside these other parsers group otherwise than PostgreSQL does, so that parentheses matter.
_GROUPED_OTHERWISE = frozenset(
    {"is", "isnull", "notnull", "||", "collate", "at", "%", "like", "ilike", "between", "in"}
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def sql_tokens(text: str) -> Iterator[str]:
    """The tokens of a SQL or PL/pgSQL text, words in lower case, comments left out."""
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None
        place = found.end()
        if found["comment"]:
            place = _after_comment(text, place)
        elif found["word"]:
            yield found[0].lower()
        elif not found["space"]:
            yield found[0]


def same_sql(one: str, other: str) -> bool:
    """Whether both texts have the same tokens."""
    return list(sql_tokens(one)) == list(sql_tokens(other))


def may_be_same_sql(one: str, other: str) -> bool:
    """Whether equal syntax trees of another parser would prove both the same.

    Only where the texts differ in parentheses and optional words alone, and no operator stands there
    that such a parser reads otherwise than PostgreSQL with its extensions does (`<=>`).
    """
    ours, theirs = list(sql_tokens(one)), list(sql_tokens(other))
    dropped = _OPTIONAL | _PARENTHESES
    if _without(ours, dropped) != _without(theirs, dropped):
        return False
    if any(set(t) <= _OPERATOR_SIGNS and t not in _PLAIN_OPERATORS for t in ours):
        return False
    same_groups = _without(ours, _OPTIONAL) == _without(theirs, _OPTIONAL)
    return same_groups or not _GROUPED_OTHERWISE & set(ours)


def _without(tokens: list[str], dropped: frozenset[str]) -> list[str]:
    return [_SAME.get(token, token) for token in tokens if token not in dropped]


def _after_comment(text: str, place: int) -> int:
    """Where a block comment ends that was opened just before `place`; they nest."""
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(text, place)
        if edge is None:
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        place = edge.end()
    return place
