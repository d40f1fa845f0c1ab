"""What a Chinese sentence says of its speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from negmem.core.formation.extraction.chinese_clauses import clauses
from negmem.core.formation.extraction.chinese_plans import found_plans
from negmem.core.formation.extraction.chinese_preferences import (
    compared_with,
    found_preferences,
    is_implied,
)
from negmem.core.formation.extraction.chinese_profile import found_profile
from negmem.core.formation.extraction.chinese_relations import found_relations
from negmem.core.formation.extraction.chinese_rules import found_rules
from negmem.core.formation.extraction.found import Found
from negmem.core.text.sentences import Sentence


def read_chinese(sentence: Sentence, previous: str = "") -> Iterator[Found]:
    """Facts in a sentence; `previous` is the sentence before it in the same turn."""
    parts = list(clauses(sentence.text, sentence.is_question))
    wholes = [part.whole for part in parts]
    other: str | None = None
    speaker_named = False
    for number, part in enumerate(parts):
        if part.whose == "kin" and part.kin:
            yield from found_relations(part.kin, part.text)
            continue
        compared = compared_with(part.whole) or compared_with(part.text)
        if compared:
            other = compared
            continue
        is_own = part.whose in ("mine", "ours")
        implied = not is_own or not re.match(r"^(?:我|俺|咱)", part.whole)
        speaker_named = speaker_named or (part.whose == "mine" and not implied)
        if implied or re.match(
            r"^我(?:希望|更希望|要求|想让|需要)你|^我[^，]{1,16}(?:的时候|之前|前)$", part.whole
        ):
            rules = list(found_rules(wholes, number))
            if rules:
                yield from rules
                continue
        if part.is_past:
            continue
        unnamed = implied and not speaker_named and not is_own
        results = list(_own(part.text, other, unnamed, part.whose == "ours"))
        other = None
        yield from (replace(one, confidence=0.6) if unnamed else one for one in results)


def _own(text: str, other: str | None, implied: bool, ours: bool) -> Iterator[Found]:
    likes = list(found_preferences(text, other)) if not implied or is_implied(text) else []
    if ours:
        yield from list(found_plans(text, implied, ours)) or [
            one for one in found_profile(text) if one.key.startswith(("has:", "location"))
        ]
        return
    profile = list(found_profile(text, implied=implied))
    plans = list(found_plans(text, implied))
    strong = [one for one in profile if one.key.startswith(("allergy", "diet", "health", "name"))]
    yield from strong or likes or plans or profile
