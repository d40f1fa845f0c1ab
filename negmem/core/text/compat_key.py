"""The key of duplicates as the first design ships it; kept for those who compare, `exact_key` is safer."""

from __future__ import annotations

import re

_NEITHER_WORD_NOR_BLANK = re.compile(r"[^\w\s]")
_BLANKS = re.compile(r"\s+")


def compat_key(text: str) -> str:
    """Lower case, trimmed, without signs, blanks made one: C++ and C share a key, and so do 👍 and 👎.

    Never None: all texts of signs alone share the empty key.
    """
    return _BLANKS.sub(" ", _NEITHER_WORD_NOR_BLANK.sub("", text.lower().strip()))
