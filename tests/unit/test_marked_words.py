"""Two texts beside each other, the words marked that only one has."""

from __future__ import annotations

import pytest

from negmem.cli.render.marked_words import marked_pair
from negmem.cli.render.text import columns, one_line


def marked(one: str, other: str, width: int | None = None) -> tuple[list[str], list[str]]:
    return marked_pair(one, other, lambda text: f"[{text}]", width)


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("likes tea", "Likes tea", ("likes tea", "Likes tea")),
        ("port 8080 is open", "port 8081 is open", ("port [8080] is open", "port [8081] is open")),
        ("I like it", "I do not like it", ("I like it", "I [do not] like it")),
        ("很满意这个房子", "很不满意这个房子", ("很满意这个房子", "很[不]满意这个房子")),
        ("用 Python 写的", "用 Rust 写的", ("用 [Python] 写的", "用 [Rust] 写的")),
        ("", "x", ("", "[x]")),
    ],
)
def test_what_differs_is_marked(one: str, other: str, shown: tuple[str, str]) -> None:
    first, second = marked(one, other)
    assert ("".join(first), "".join(second)) == shown


def test_lines_fit_in_columns() -> None:
    assert columns("茶 tea é") == 8
    one = "用户每天早上六点半起床 and walks the dog around the lake"
    other = "用户每天早上七点半起床 and walks the cat around the lake, slowly"
    for lines in marked(one, other, 20):
        assert all(columns(line) <= 20 for line in lines)
        assert len(lines) > 2
    assert "".join(marked(one, other)[1]).count("[") == 3


def test_nothing_reaches_the_terminal_raw() -> None:
    first, _ = marked("a \x1b[31mred\x1b[0m text\u202e", "b")
    assert "\x1b" not in "".join(first) and "\u202e" not in "".join(first)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("我对虾过敏，吃饭时别点虾", 12, "我对虾过敏…"),
        ("我对虾过敏", 10, "我对虾过敏"),
        ("a shrimp allergy", 8, "a shrim…"),
        ("虾 shrimp", 1, "…"),
        ("two\nlines", None, "two lines"),
    ],
)
def test_a_line_is_cut_by_columns(text: str, width: int | None, shown: str) -> None:
    assert one_line(text, width) == shown
    assert width is None or columns(shown) <= width
