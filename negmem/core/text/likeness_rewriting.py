"""Rewriting by a table of patterns, each tried in its turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

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
        if pattern.search(text):
            text = pattern.sub(plain, text)
    return text


def by_script(table: Rules) -> tuple[Rules, Rules]:
    """The rules that a text without Chinese characters can meet, and those that one without Latin words can."""
    latin = tuple(
        rule for rule in table if not _HAN.search(rule[0].pattern) or _WORD.search(rule[0].pattern)
    )
    han = tuple(
        rule for rule in table if _HAN.search(rule[0].pattern) or not _WORD.search(rule[0].pattern)
    )
    return latin, han
