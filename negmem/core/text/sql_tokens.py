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
