"""One script for what is written in several: simplified Chinese, Latin letters without accents, one middle dot."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from negmem.core.text.lexicon import lines_of

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_ACCENTED = re.compile("[À-ɏ]")
_UMLAUT = re.compile("[ÄÖÜäöü]")
_WORD = re.compile(r"[^\W\d_]+")
# What has no letter and accent of its own to be parted into.
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "ł": "l", "Ł": "L"})
_DOTS = str.maketrans("・‧•∙⋅･", "······")


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    text = "".join(lines_of("simplified.txt"))
    return dict(zip(map(ord, text[::2]), text[1::2], strict=True))


@lru_cache(maxsize=4096)
def one_script(text: str) -> str:
    """`text` in simplified characters and plain Latin letters; the same again of what it gives."""
    if not _BEYOND_ASCII.search(text):
        return text
    text = text.translate(_DOTS).translate(_simplified())
    text = re.sub("著(?![名作称书者录])", "着", text)
    text = re.sub("(?<=[回答])覆", "复", text)
    return _ACCENTED.sub(_plain_letter, text)


def _plain_letter(match: re.Match[str]) -> str:
    parts = unicodedata.normalize("NFD", match[0].translate(_LETTERS))
    return "".join(char for char in parts if not unicodedata.combining(char))


def spelled_as(one: str, other: str) -> str:
    """`one` with ae, oe and ue for an umlaut where `other` has the word so: Müller, Mueller."""
    if not _UMLAUT.search(one):
        return one
    words = set(_WORD.findall(other.casefold()))

    def spelled(match: re.Match[str]) -> str:
        word = _UMLAUT.sub(lambda m: unicodedata.normalize("NFD", m[0])[0] + "e", match[0])
        return word if word.casefold() in words else match[0]

    return _WORD.sub(spelled, one)


_UNIVERSITY = re.compile("([\u4e00-\u9fff]{2,3}?)大学(?![生们城路])")
_BEFORE_NAME = "于在是从去读上考到入进的"


def shortened_as(one: str, other: str) -> str:
    """`one` with the short name of a university where `other` has that: 北京大学, 北大; 清华大学, 清华."""
    if "大学" not in one or "大学" in other:
        return one

    def short(match: re.Match[str]) -> str:
        name = match[1].lstrip(_BEFORE_NAME)
        before = match[1][: len(match[1]) - len(name)]
        for form in (f"{name[:1]}大", name):
            if len(form) > 1 and form in other:
                return before + form
        return match[0]

    return _UNIVERSITY.sub(short, one)
