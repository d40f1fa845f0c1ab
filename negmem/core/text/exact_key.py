"""The key under which texts count as the same to the letter, for all that letters may differ in."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# All full- and half-width forms that Unicode has stand here.
_FORMS = re.compile("[\u3000\uff01-\uffee]")
_UNSEEN = re.compile("[\u200b\ufeff\u2060\u00ad\ufe00-\ufe0f]")
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂「」『』", '"'),
        **dict.fromkeys("‘’‚‛＇", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "。": ".",
        "、": ",",
        "…": "...",
    }
)
_BULLET = re.compile(r"^[-*•·]\s+")
_TAIL = re.compile(r"[.!,;:\s]+$")
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_GAP = re.compile(rf"(?<=[{_HAN}]) (?=[{_HAN}])")
_WRAPPED = re.compile(r"^([\"'])(.*)\1$", re.DOTALL)


@lru_cache(maxsize=4096)
def exact_key(text: str) -> str | None:
    """The key of a text: two texts with one key are exact duplicates. None for a text without words.

    Width, case, composition, quotes, dashes, blanks, one bullet and closing marks are levelled; signs
    that carry meaning stay (C++ and C, 3.5 and 35, -5 and 5, 10² and 102, a question mark).
    """
    key = _FORMS.sub(_narrow, text)
    key = unicodedata.normalize("NFC", key)
    key = unicodedata.normalize("NFC", key.casefold())
    key = _UNSEEN.sub("", key).translate(_SIGNS)
    key = " ".join(key.split())
    key = _BULLET.sub("", key)
    key = _TAIL.sub("", key)
    wrapped = _WRAPPED.match(key)
    if wrapped:
        key = wrapped[2].strip()
    return _HAN_GAP.sub("", key) or None


def _narrow(match: re.Match[str]) -> str:
    """A full- or half-width form as the plain one; other compatibility forms carry meaning and stay."""
    decomposed = unicodedata.decomposition(match[0])
    if decomposed.startswith(("<wide>", "<narrow>")):
        return "".join(chr(int(code, 16)) for code in decomposed.split()[1:])
    return match[0]
