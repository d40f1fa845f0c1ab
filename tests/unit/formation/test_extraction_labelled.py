"""The pattern extractor against the labelled turns that may be looked at."""

from __future__ import annotations

import pytest

from tests.labelled.score_facts import DEV, agree, read, score

SCORE = score(read(DEV))


@pytest.mark.parametrize("lang", ["en", "zh", "all"])
def test_precision_and_recall_on_the_dev_half(lang: str) -> None:
    tally = SCORE.of(lang)
    assert tally.labelled >= 50
    assert tally.precision >= 0.9, "\n".join(SCORE.wrong)
    assert tally.recall >= 0.6, "\n".join(SCORE.wrong)


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
