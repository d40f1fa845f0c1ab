"""What the readers of English profiles share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_things import ended
from negmem.core.formation.extraction.found import Found

ADVERBS = (
    r"(?:(?:currently|now|also|just|actually|recently|really|still|officially|only|already|originally|mostly|mainly|proudly|formally|always|usually"
    r"|permanently|finally|happily|newly|basically|technically|all|both|never|not|no longer|don't|do not|even|temporarily|freshly|'ve|have|happen to) ){0,6}"
)
NATIONALITY = re.compile(
    r"(?:(?:\w+(?:ese|ish|ian|ean|ican)|german|french|dutch|greek|thai|turk|iraqi|pakistani|israeli|czech|swiss|polish|welsh|scottish|irish|filipin[oa]|afghan|kurd(?:ish)?|uzbek"
    r"|korean|texan|african|american|mexican|moroccan|norwegian|dane|finn|swede|cuban|chilean|kiwi|aussie|brit|new yorker|berliner|londoner|parisian)(?:[- ](?:american|canadian|born|british|chinese))?(?: citizen| national)?)$",
    re.I,
)


def profile_fact(
    key: str, thing: str, negated: bool = False, confidence: float = 0.7
) -> Iterator[Found]:
    """A fact of the profile, if the thing is short enough to be one."""
    name = ended(thing)
    if not name or len(name.split()) > 14:
        return
    words = f"allergic to {name}" if key.startswith("allergy:") else name
    words = f"not {words}" if negated else words
    yield Found("profile", key[:255], name, words, negated, confidence=confidence)


def is_negative(text: str | None) -> bool:
    """Whether words deny."""
    return bool(
        text
        and re.search(r"\b(?:not|never|no longer|don't|do not|can't|cannot|no)\b|n't", text, re.I)
    )
