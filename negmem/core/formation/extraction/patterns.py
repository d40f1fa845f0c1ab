"""The pattern extractor: facts in one turn of the user, without a model. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from negmem.core.formation.extraction.chinese import read_chinese
from negmem.core.formation.extraction.english import read_english
from negmem.core.formation.extraction.found import Found
from negmem.core.models.extraction import ExtractedFact
from negmem.core.text.sentences import sentences

EXTRACTOR = "pattern"
MAX_TURN_CHARS = 20_000
"""A longer turn is a pasted document, not talk: only its beginning is read."""


def found_in(text: str) -> Iterator[tuple[Found, str]]:
    """What patterns find in a turn, each with the sentence that says so, in order, once."""
    seen: set[tuple[str, str, str, bool]] = set()
    previous = ""
    for sentence in sentences(text[:MAX_TURN_CHARS]):
        read = read_chinese if sentence.is_chinese else read_english
        for found in read(sentence, previous):
            mark = (found.type, found.key, found.object.casefold(), found.negated)
            if mark not in seen:
                seen.add(mark)
                yield found, sentence.said
        previous = sentence.text


def extract(text: str, event_id: UUID, occurred_at: datetime | None) -> list[ExtractedFact]:
    """The facts in one turn of the user."""
    return [
        ExtractedFact(
            type=found.type,
            key=found.key[:255],
            value={"text": found.statement, "object": found.object, "negated": found.negated},
            text=said,
            confidence=found.confidence,
            event_ids=[event_id],
            occurred_at=occurred_at,
            negated=found.negated,
            extractor=EXTRACTOR,
        )
        for found, said in found_in(text)
    ]
