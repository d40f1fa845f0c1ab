"""Text that may be shown: memory content is untrusted."""

from __future__ import annotations

import re
import textwrap
import unicodedata

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe_text(text: str) -> str:
    """`text` without control characters (escape sequences, direction overrides, lone surrogates)."""
    return _CONTROL.sub("\ufffd", text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide character, none for a mark on another."""
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def counted(count: int, noun: str) -> str:
    """A number and what it counts, which ends in s but for one: `1 row`, `1,200 rows`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def one_line(text: str, width: int | None = None) -> str:
    """`text` safe and on one line, cut to `width` columns of a terminal with … when it is given."""
    line = " ".join(safe_text(text).split())
    if width is None or columns(line) <= width:
        return line
    used, end = 0, 0
    for char in line:
        used += _columns(char)
        if used > width - 1:
            break
        end += 1
    return line[:end] + "…"


def wrapped(text: str, room: int | None) -> list[str]:
    """`text` in lines of at most `room` columns, broken at blanks; one line for None, at least one in all."""
    if room is None:
        return [text]
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
