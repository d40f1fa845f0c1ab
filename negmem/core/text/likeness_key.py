"""The key under which texts that may say the same meet, so that a whole store is compared in one pass."""

from __future__ import annotations

import re
from functools import lru_cache

from negmem.core.text.likeness import MAX_CHARACTERS, meaning
from negmem.core.text.likeness_meaning import LOOSE
from negmem.core.text.likeness_words import LIGHT_EN, LIGHT_VERBS
from negmem.core.text.likeness_words_zh import LIGHT_ZH

_BEFORE = "zz"


def likeness_key(text: str) -> tuple[object, ...] | None:
    """A key that two texts share wherever `likeness` finds that they say the same; None without words.

    Coarser than the rules: texts of one key may still differ in a name, in order or in time. It is made of
    the words that must stand in both, the amounts, how often the text denies, and whether it asks.
    """
    if len(text) > MAX_CHARACTERS:
        return ("long", text.strip())
    said = meaning(text)
    if not said.words and not said.amounts:
        return None
    light = _light_keys()
    words = {_coarse(word) for word in said.words if word.partition(" ")[0] not in light}
    return said.is_question, said.denials, tuple(sorted(words)), tuple(sorted(_bare(said.amounts)))


def _bare(amounts: frozenset[str]) -> set[str]:
    """Amounts without the unit of money and the one that a text may leave unsaid."""
    return {re.sub("^cny:", "n:", amount) for amount in amounts} - {"n:1"}


@lru_cache(maxsize=1)
def _light_keys() -> frozenset[str]:
    """Words that may stand in one of two texts alone, as `meaning` keeps them."""
    found: set[str] = set(LIGHT_EN | LIGHT_VERBS | LIGHT_ZH | LOOSE)
    for word in LIGHT_EN | LIGHT_VERBS:
        # not at the beginning, where a word might be a name
        said = meaning(f"{_BEFORE} {word}")
        found |= said.light | said.words
    return frozenset(found - {_BEFORE})


def _coarse(word: str) -> str:
    """A word without the silent e, which stays where the word begins a sentence."""
    stem, blank, turn = word.partition(" ")
    return stem.rstrip("e") + blank + turn if stem.isascii() and len(stem) > 3 else word
