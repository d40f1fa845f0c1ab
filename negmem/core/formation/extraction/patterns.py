"""The pattern extractor: facts in one turn of the user, without a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timezone
from uuid import UUID

from negmem.core.formation.extraction.chinese import read_chinese
from negmem.core.formation.extraction.corrections import (
    corrected,
    taken_back,
    taken_back_inside,
)
from negmem.core.formation.extraction.english import read_english
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key
from negmem.core.formation.extraction.values import MAX_KEY_CHARS, fact_value
from negmem.core.models.extraction import ExtractedFact
from negmem.core.text.dates import dated, find_dates
from negmem.core.text.orders import gives_orders
from negmem.core.text.sentences import Sentence, sentences

EXTRACTOR = "pattern"
MAX_TURN_CHARS = 20_000
"""A longer turn is a pasted document, not talk: only its beginning is read."""

# A change that has a date began to hold on it: "I moved to Berlin last month".
_BEGAN = re.compile(
    r"\b(?:moved|relocated|started|joined|since|became|switched|got|turned|adopted|bought)\b"
    r"|搬|入职|加入|跳槽|开始|换|当上|结婚|转行|升|买了|领养",
    re.I,
)

_PLAY = re.compile(
    r"^(?:(?:ok|okay|now|so|please|hey),? )?(?:let's |let us |can we |could we |we )?(?:imagine|suppose|pretend|role-?play)\b"
    r"|\brole[- ]?play|\bin (?:my|the|this) (?:story|novel|game|script)\b|角色扮演|^(?:假设|假如|想象|假装|就当|设想)|(?:小说|剧本|故事)里",
    re.I,
)
_ONE_OF_MANY = frozenset(
    (
        "location",
        "employer",
        "occupation",
        "hometown",
        "nationality",
        "school",
        "work location",
        "major",
    )
)
_NO_LONGER = re.compile(r"\bno longer\b|\bany ?more\b|\bnow\b|不再|已经不|早就不|了[。！!]?$", re.I)


def found_in(text: str) -> Iterator[tuple[Found, str]]:
    """What patterns find in a turn, each with the sentence that says so, in order, once.

    What is taken back in the same breath is not found, but what was put in its place.
    """
    seen: set[tuple[str, str, str, bool]] = set()
    for told in _told(text[:MAX_TURN_CHARS]):
        for found in told.found:
            mark = (found.type, found.key, found.object.casefold(), found.negated)
            if mark not in seen:
                seen.add(mark)
                yield found, told.said


@dataclass(frozen=True)
class _Told:
    """A sentence and what it says, with the words in which it is quoted."""

    sentence: Sentence
    previous: str
    said: str
    found: list[Found]


def _told(text: str) -> list[_Told]:
    told: list[_Told] = []
    previous = ""
    for sentence in sentences(text):
        if _PLAY.search(sentence.text) or gives_orders(sentence.text):
            # What follows is said in a part, or is a text that speaks to a model; not of oneself.
            break
        thing = taken_back(sentence.text)
        if thing is not None and told:
            told[-1] = _corrected(told[-1], thing, f"{told[-1].said} {sentence.said}")
            continue
        inside = taken_back_inside(sentence.text)
        if inside is None:
            told.append(_Told(sentence, previous, sentence.said, _read(sentence, previous)))
        else:
            head = replace(sentence, text=inside[0])
            one = _Told(head, previous, sentence.said, _read(head, previous))
            told.append(_corrected(one, inside[1], sentence.said))
        previous = sentence.text
    return told


def _read(sentence: Sentence, previous: str) -> list[Found]:
    read = read_chinese if sentence.is_chinese else read_english
    return list(read(sentence, previous))


def _corrected(told: _Told, thing: str, said: str) -> _Told:
    """The sentence read again with the thing in the place of the last one that it named."""
    if not told.found:
        return told
    last = told.found[-1]
    words = corrected(told.sentence.text, last.object, thing)
    if words is None:
        return told
    sentence = replace(told.sentence, text=words)
    found = _read(sentence, told.previous)
    if not any(one.type == last.type and thing in one.object for one in found):
        return told
    return _Told(sentence, told.previous, said, found)


def extract(text: str, event_id: UUID, occurred_at: datetime | None) -> list[ExtractedFact]:
    """The facts in one turn of the user; relative dates are made absolute by `occurred_at`.

    A plan names its days in `value.when`; a change of the profile with a date holds from that day.
    """
    return [_fact(found, said, event_id, occurred_at) for found, said in found_in(text)]


def _fact(found: Found, said: str, event_id: UUID, occurred_at: datetime | None) -> ExtractedFact:
    value = fact_value(found.statement, found.object, found.negated)
    key = found.key
    if found.negated and key in _ONE_OF_MANY and not _NO_LONGER.search(said):
        # "I don't live in Rome" says nothing against living in Paris.
        key = f"{key}:{thing_key(found.object)}"
    valid_from = None
    if occurred_at is not None:
        if found.type in ("plan", "relation"):
            value["text"] = dated(found.statement, occurred_at)
        dates = find_dates(found.statement if found.type == "plan" else said, occurred_at)
        if found.type == "plan" and dates:
            value["when"] = dates[0].span.iso
            value["when_precision"] = dates[0].span.precision
        if found.type == "profile" and len(dates) == 1 and _BEGAN.search(said):
            first = datetime.combine(dates[0].span.first, time(), timezone.utc)
            valid_from = first if first < occurred_at else None
    return ExtractedFact(
        type=found.type,
        key=key[:MAX_KEY_CHARS],
        value=value,
        text=said,
        confidence=found.confidence,
        event_ids=[event_id],
        occurred_at=occurred_at,
        valid_from=valid_from,
        negated=found.negated,
        extractor=EXTRACTOR,
    )
