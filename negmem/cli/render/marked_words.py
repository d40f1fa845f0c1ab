"""Two texts beside each other, with the words marked in which they differ."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher

from negmem.cli.render.text import columns, one_line

# a word, one Chinese or Japanese character, a blank, or a sign
_PIECE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]")
_LONGEST = 600
_ALIKE = 0.6


def marked_pair(
    one: str, other: str, mark: Callable[[str], str], width: int | None = None
) -> tuple[list[str], list[str]]:
    """The lines of both texts, cut to `width` columns a line, with `mark` around what only one has."""
    first, second = (_PIECE.findall(one_line(text, _LONGEST)) for text in (one, other))
    folded = [[piece.casefold() for piece in pieces] for pieces in (first, second)]
    same: tuple[set[int], set[int]] = (set(), set())
    matcher = SequenceMatcher(None, folded[0], folded[1], autojunk=False)
    # Of texts that share little, single pieces in common are chance.
    least = 1 if matcher.ratio() >= _ALIKE else 2
    for block in matcher.get_matching_blocks():
        if block.size < least:
            continue
        same[0].update(range(block.a, block.a + block.size))
        same[1].update(range(block.b, block.b + block.size))
    return (
        _lines(first, same[0], mark, width),
        _lines(second, same[1], mark, width),
    )


def _lines(
    pieces: list[str], same: set[int], mark: Callable[[str], str], width: int | None
) -> list[str]:
    runs: list[tuple[str, bool]] = []
    for place, piece in enumerate(pieces):
        is_own = place not in same and not piece.isspace()
        # A blank between two marked words belongs to them.
        beside = {place - 1, place + 1} & set(range(len(pieces)))
        is_own = is_own or (piece.isspace() and len(beside) == 2 and not beside & same)
        if runs and runs[-1][1] == is_own:
            runs[-1] = (runs[-1][0] + piece, is_own)
        else:
            runs.append((piece, is_own))
    lines, line, used = [], "", 0
    for text, is_own in runs:
        extra = columns(mark("")) if is_own and "\x1b" not in mark("") else 0
        for part in _broken(text, width, used, extra):
            if part is None:
                lines.append(line)
                line, used = "", 0
                continue
            line += mark(part) if is_own else part
            used += columns(part) + extra
    return [*lines, line]


def _broken(text: str, width: int | None, used: int, extra: int) -> list[str | None]:
    """The text in parts; None stands where a new line begins."""
    if width is None:
        return [text]
    parts: list[str | None] = []
    part = ""
    for piece in _PIECE.findall(text):
        if used + columns(part) + columns(piece) + extra > width and (used or part):
            if part:
                parts.append(part)
            parts.append(None)
            part, used = "", 0
            if piece.isspace():
                continue
        part += piece
    return [*parts, part] if part else parts
