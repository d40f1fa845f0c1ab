"""Relative dates made absolute, by the day on which they were said. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from negmem.core.text import dates_chinese, dates_english
from negmem.core.text.days import Span

_HAN = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE = re.compile(r"[^.!?;。！？；\n]+")


@dataclass(frozen=True)
class FoundDate:
    """Characters `start` to `end` of a text name the days of `span`."""

    start: int
    end: int
    words: str
    span: Span


def find_dates(text: str, said_at: datetime | date) -> list[FoundDate]:
    """The days that words of time in a text mean, in their order; longest first where they overlap.

    A date without a year or a bare weekday is taken by the tense of its sentence, and left alone where
    the tense does not show. Weeks begin on Monday, seasons are those of the north.
    """
    today = said_at.date() if isinstance(said_at, datetime) else said_at
    found: list[FoundDate] = []
    for sentence in _CLAUSE.finditer(text):
        words = sentence.group()
        readers = [dates_english.spans]
        if _HAN.search(words):
            readers.append(dates_chinese.spans)
        for reader in readers:
            for start, end, span in reader(words, today):
                start, end = start + sentence.start(), end + sentence.start()
                if all(end <= one.start or start >= one.end for one in found):
                    found.append(FoundDate(start, end, text[start:end], span))
    return sorted(found, key=lambda one: one.start)


def dated(text: str, said_at: datetime) -> str:
    """The text with each relative word of time followed by the date that it means.

    "I fly tomorrow" becomes "I fly tomorrow (2026-03-14)"; 明天 becomes 明天（2026-03-14）. Words that
    name their date in full stay as they are.
    """
    pieces: list[str] = []
    place = 0
    for one in find_dates(text, said_at):
        if one.span.iso in one.words or re.search(r"(?:19|20)\d\d", one.words):
            continue
        pieces.append(text[place : one.end])
        pieces.append(f"（{one.span.iso}）" if _HAN.search(one.words) else f" ({one.span.iso})")
        place = one.end
    return "".join(pieces) + text[place:]
