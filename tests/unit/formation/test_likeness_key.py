"""What says the same by rule shares its meaning key, or a whole store could not be compared in one pass."""

from __future__ import annotations

import json

from negmem.core.text.likeness import likeness
from negmem.core.text.likeness_key import likeness_key
from tests.labelled.score_duplicates import DEVELOPMENT

PAIRS = [json.loads(line) for line in DEVELOPMENT.read_text("utf-8").splitlines()]


def test_all_that_the_rules_merge_shares_its_key() -> None:
    same = [pair for pair in PAIRS if likeness(pair["a"], pair["b"]).same]
    assert len(same) > 40
    apart = [pair["id"] for pair in same if likeness_key(pair["a"]) != likeness_key(pair["b"])]
    assert apart == []
    shared = sum(likeness_key(pair["a"]) == likeness_key(pair["b"]) for pair in PAIRS)
    assert shared < len(same) + 20  # coarser than the rules, but not by much


def test_texts_without_words_and_long_ones() -> None:
    assert likeness_key("…") is None
    long = "word " * 1000
    assert likeness_key(long) == likeness_key(f" {long}") != likeness_key(f"{long} more")
