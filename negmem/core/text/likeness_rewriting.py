"""Rewriting by a table of patterns, each tried in its turn where the text holds what it needs.

Most of some hundred patterns meet nothing in a text. What each needs (one of a few pieces of text) is read
off the pattern, and looking for that costs a twentieth of a search by the pattern.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Plain = str | Callable[[re.Match[str]], str]
Rules = tuple[tuple[re.Pattern[str], Plain], ...]
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"(?<![\\a-z])[a-z]{3,}")


def rules(*pairs: tuple[str, Plain]) -> Rules:
    """Patterns, compiled, with what each is replaced by."""
    return tuple((re.compile(pattern), plain) for pattern, plain in pairs)


def rewritten(text: str, table: Iterable[tuple[re.Pattern[str], Plain]]) -> str:
    """`text` with each pattern replaced. Searched first: a template costs more to read than most texts do."""
    for pattern, plain in table:
        pieces = _pieces(pattern)
        if pieces is not None:
            for piece in pieces:  # may_match(), written out: it is asked some hundred times a text
                if piece in text:
                    break
            else:
                continue
        if pattern.search(text):
            text = pattern.sub(plain, text)
    return text


def may_match(pattern: re.Pattern[str], text: str) -> bool:
    """Whether `text` holds what `pattern` can't do without; where not, it does not match anywhere."""
    pieces = _pieces(pattern)
    if pieces is None:
        return True
    for piece in pieces:  # noqa: SIM110
        if piece in text:
            return True
    return False


_MOST_PIECES = 60


# By the identity of the pattern, which is kept: to hash one takes as long as to search with it.
_KNOWN: dict[int, tuple[re.Pattern[str], tuple[str, ...] | None]] = {}


def _pieces(pattern: re.Pattern[str]) -> tuple[str, ...] | None:
    """Pieces of which a text must hold one for `pattern` to match; None where nothing can be said."""
    known = _KNOWN.get(id(pattern))
    if known is None:
        is_blind = bool(pattern.flags & re.IGNORECASE)
        found = None if is_blind else _needed(_parsed(pattern.pattern))
        known = pattern, None if found is None else _shortest(found)
        _KNOWN[id(pattern)] = known
    return known[1]


def _shortest(pieces: frozenset[str]) -> tuple[str, ...]:
    """The pieces without those that hold a shorter one, which says as much."""
    kept: list[str] = []
    for piece in sorted(pieces, key=lambda one: (len(one), one)):
        if not any(shorter in piece for shorter in kept):
            kept.append(piece)
    return tuple(kept)


def _parsed(pattern: str) -> Any:
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import sre_parse as _parser
    return _parser.parse(pattern)


def _needed(parts: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    """Of all parts that must be there the one that says most: the longest pieces, then the fewest."""
    candidates: list[frozenset[str] | None] = []
    run = _NOTHING
    for operation, argument in parts:
        exact = _exactly(str(operation), argument)
        if exact is not None and len(run) * len(exact) <= _MOST_PIECES:
            run = frozenset(one + other for one in run for other in exact)
            continue
        candidates += [run, _needed_of(str(operation), argument)]
        run = exact or _NOTHING
    candidates.append(run)
    said = [one for one in candidates if one and "" not in one and len(one) <= _MOST_PIECES]
    return max(said, key=_says, default=None)


_NOTHING = frozenset(("",))
_ZERO_WIDTH = ("AT", "ASSERT", "ASSERT_NOT")


def _says(pieces: frozenset[str]) -> tuple[int, int]:
    return min(5, min(map(len, pieces))), -len(pieces)


def _exactly(operation: str, argument: Any) -> frozenset[str] | None:
    """All that a part can stand for, where it can be listed; what has no width stands for nothing."""
    if operation in _ZERO_WIDTH:
        return _NOTHING
    if operation == "LITERAL":
        return frozenset((chr(argument),))
    if operation == "IN":
        return _one_of(argument)
    if operation == "SUBPATTERN":
        return _all_of(argument[-1])
    if operation == "BRANCH":
        found = [_all_of(branch) for branch in argument[1]]
        return None if None in found else frozenset().union(*[one for one in found if one])
    if operation in ("MAX_REPEAT", "MIN_REPEAT") and argument[:2] == (0, 1):
        once = _all_of(argument[2])
        return None if once is None else once | _NOTHING
    return None


def _all_of(parts: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    found = _NOTHING
    for operation, argument in parts:
        exact = _exactly(str(operation), argument)
        if exact is None or len(found) * len(exact) > _MOST_PIECES:
            return None
        found = frozenset(one + other for one in found for other in exact)
    return found


def _needed_of(operation: str, argument: Any) -> frozenset[str] | None:
    """Pieces that a part needs which stands for more than can be listed."""
    if operation == "SUBPATTERN":
        return _needed(argument[-1])
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _needed(argument[2]) if argument[0] else None
    if operation == "ASSERT":
        return _needed(argument[1])
    if operation == "ATOMIC_GROUP":
        return _needed(argument)
    if operation == "BRANCH":
        found = [_needed(branch) for branch in argument[1]]
        return None if None in found else frozenset().union(*[one for one in found if one])
    return None


def _one_of(members: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    """The characters of a set of few; None of a large one, and of one that says what is not."""
    found: set[str] = set()
    for operation, argument in members:
        if str(operation) == "LITERAL":
            found.add(chr(argument))
        elif str(operation) == "RANGE" and argument[1] - argument[0] < _MOST_PIECES:
            found |= {chr(code) for code in range(argument[0], argument[1] + 1)}
        else:
            return None
    return frozenset(found) if len(found) <= _MOST_PIECES else None


def by_script(table: Rules) -> tuple[Rules, Rules]:
    """The rules that a text without Chinese characters can meet, and those that one without Latin words can."""
    latin = tuple(
        rule for rule in table if not _HAN.search(rule[0].pattern) or _WORD.search(rule[0].pattern)
    )
    han = tuple(
        rule for rule in table if _HAN.search(rule[0].pattern) or not _WORD.search(rule[0].pattern)
    )
    return latin, han
