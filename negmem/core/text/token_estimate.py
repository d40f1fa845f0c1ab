"""How many tokens a text has, guessed from its characters, for where no tokenizer can be had.

The guess errs upwards for prose, code, JSON and identifiers in the vocabularies cl100k_base and
o200k_base, so that what is packed by it fits. Its SQL twin is sql/functions/estimate_tokens.sql.
"""

from __future__ import annotations

import re

# Thirtieths of a token for each character of a class, whole so that Python and SQL round alike.
# The SQL twin has the same classes. A long unbroken run is no word but a key, a hash or base64.
_PER_TOKEN = 30
_UNBROKEN = (re.compile(r"[!-~]{24,}"), 30)
_CLASSES = (
    (re.compile(r"[A-Za-z \n]+"), 9),
    (re.compile(r"[0-9]+"), 18),
    (re.compile(r"[\x01-\x09\x0b-\x1f!-/:-@\[-`{-\x7f]+"), 27),
    (re.compile(r"[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]+"), 48),
    (re.compile(r"[\U00010000-\U0010ffff]+"), 96),
)
_OTHER = 36


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(match.end() - match.start() for match in pattern.finditer(text))


def estimate_tokens(text: str) -> int:
    """A conservative number of tokens; 0 only for the empty text."""
    unbroken, weight = _UNBROKEN
    total = _count(unbroken, text) * weight
    rest = unbroken.sub("", text)
    classified = 0
    for pattern, weight in _CLASSES:
        count = _count(pattern, rest)
        classified += count
        total += count * weight
    total += (len(rest) - classified) * _OTHER
    return -(-total // _PER_TOKEN)
