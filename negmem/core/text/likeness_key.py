"""The key under which texts that may say the same meet, so that a whole store is compared in one pass."""

from __future__ import annotations

from negmem.core.text.likeness import ASKED, MAX_CHARACTERS, MEASURED
from negmem.core.text.likeness_meaning import LOOSE, light_keys, meaning
from negmem.core.text.likeness_script import one_script


def likeness_key(text: str) -> tuple[object, ...] | None:
    """A key that two texts share wherever `likeness` finds that they say the same; None without words.

    Coarser than the rules: texts of one key may still differ in a name, in order or in time. It is made of
    the words that must stand in both, the amounts, how often the text denies, and whether it asks. What only
    the lexicon knows as the same, or what only is the same beside the other text (北大, 北京大学), has two keys.
    """
    if len(text) > MAX_CHARACTERS:
        return ("long", text.strip())
    said = meaning(one_script(text))
    if not said.words and not said.amounts:
        return None
    light = light_keys() | LOOSE
    kinds = {amount.partition(":")[0] for amount in said.amounts}
    kinds |= {"cny"} if "n" in kinds else set()  # 三十万 beside 三十万元
    light |= {word for word, says in MEASURED.items() if kinds & says}
    light |= ASKED  # where the one is an order
    words = {_coarse(word) for word in said.words if word.partition(" ")[0] not in light}
    amounts = {amount.replace("cny:", "n:") for amount in said.amounts} - {"n:1"}
    return said.is_question, said.denials, tuple(sorted(words)), tuple(sorted(amounts))


def _coarse(word: str) -> str:
    """A word without the silent e, which stays where the word begins a sentence."""
    stem, blank, turn = word.partition(" ")
    return stem.rstrip("e") + blank + turn if stem.isascii() and len(stem) > 3 else word
