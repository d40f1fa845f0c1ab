"""What the readers of Chinese profiles share."""

from __future__ import annotations

from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_things import ended
from negmem.core.formation.extraction.found import Found


def profile_fact(
    key: str, thing: str, negated: bool = False, confidence: float = 0.7
) -> Iterator[Found]:
    """A fact of the profile, if the thing is short enough to be one."""
    name = ended(thing).lstrip("的")
    if not name or len(name) > 40:
        return
    words = f"不是{name}" if negated else name
    if key.startswith("allergy:"):
        words = f"对{name}{'不' if negated else ''}过敏"
    yield Found("profile", key[:255], name, words, negated, confidence=confidence)
