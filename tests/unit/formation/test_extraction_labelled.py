"""The pattern extractor against the labelled turns: those to tune on, and those of the measurement."""

from __future__ import annotations

import pytest

from tests.labelled.score_facts import DEV, TEST, agree, read, score

SCORES = {"dev": score(read(DEV)), "test": score(read(TEST))}


@pytest.mark.parametrize("lang", ["en", "zh", "all"])
@pytest.mark.parametrize("half", ["dev", "test"])
def test_precision_and_recall(half: str, lang: str) -> None:
    tally = SCORES[half].of(lang)
    assert tally.labelled >= 50
    assert tally.precision >= 0.9
    assert tally.recall >= 0.6


def test_the_rule_of_matching_is_not_too_kind() -> None:
    from negmem.core.formation.extraction.found import Found

    label = {"type": "preference", "value": "the green tea", "negated": False}
    for found, fits in (
        (Found("preference", "likes:tea", "Green tea", "likes green tea"), True),
        (Found("preference", "likes:tea", "strong green tea", "likes strong green tea"), True),
        (Found("preference", "likes:tea", "tea", "likes tea"), False),
        (Found("preference", "likes:tea", "green tea", "does not like green tea", True), False),
        (Found("profile", "drink", "green tea", "green tea"), False),
    ):
        assert agree(label, found) is fits, found
