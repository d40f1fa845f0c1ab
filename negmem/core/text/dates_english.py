"""Words of time in English and the days that they mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from negmem.core.text import days
from negmem.core.text.days import Span

_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "a couple of": 2,
    "a couple": 2,
    "half a": 0,
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_NUMBER = r"(?P<n>\d{1,4}|a couple of|a couple|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)"
_UNIT = r"(?P<unit>day|week|fortnight|month|year|decade)s?"
_WEEKDAY = r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues?|wed|thurs?|thu|fri|sat|sun)"
_MONTH = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_SEASON = r"(?P<season>spring|summer|fall|autumn|winter)"

_FIXED = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "tomorrow": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "yesterday": -1, "last night": -1,
    "the day before yesterday": -2, "day before yesterday": -2, "tomorrow morning": 1, "tomorrow night": 1,
}  # fmt: skip
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"\b{pattern}\b", re.I))
    for name, pattern in (
        ("fixed", "|".join(sorted(map(re.escape, _FIXED), key=len, reverse=True)).join(("(?P<fixed>", ")"))),
        ("ago", rf"{_NUMBER} {_UNIT} (?P<dir>ago|earlier|back)"),
        ("ahead", rf"(?:in (?:about |around |exactly )?{_NUMBER} {_UNIT}(?:' time|'s time)?|{_NUMBER.replace('?P<n>', '?P<n2>')} {_UNIT.replace('?P<unit>', '?P<unit2>')} (?:from (?:now|today)|later))"),
        ("full", rf"(?:(?:on |the )*(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH.replace('?P<month>', '?P<month2>')}\.? (?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?)(?!\d)(?:,? (?:of )?(?P<year>(?:19|20)\d\d))?"),
        ("monthyear", rf"(?:in |of |since )?{_MONTH},? (?:of )?(?P<year>(?:19|20)\d\d)"),
        ("which", rf"(?P<which>last|this past|past|this|next|the coming|coming|the following|this coming|the previous|the past) (?:{_WEEKDAY}|{_MONTH}|{_SEASON}|(?P<span>week|weekend|month|year|quarter))"),
        ("on", rf"(?:on|by|until|before|after|since) {_WEEKDAY}(?!s)"),
        ("in month", rf"(?:in|by|until|since) (?:early |late |mid-?)?{_MONTH}(?! \d)"),
        ("season", rf"(?:in|since) the {_SEASON} of (?P<year>(?:19|20)\d\d)"),
        ("iso", r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"),
    )
)  # fmt: skip
_FUTURE = re.compile(
    r"\b(?:will|'ll|going to|gonna|plan(?:s|ning)?|tomorrow|next|have (?:a|an|to)|(?:'m|am|are|'re|is) \w+ing|appointment"
    r"|interview|flight|due|scheduled|booked|want to|upcoming|leave|leaves|start|starts|begins|until|by)\b",
    re.I,
)
_PASTNESS = re.compile(
    r"\b(?:was|were|had|did|went|got|came|saw|met|took|bought|made|said|told|ate|left|began|found|gave|lost|won|since|ago|yesterday)\b",
    re.I,
)

_PARTICIPLE = re.compile(r"\b[a-z]{2,}ed\b", re.I)


def spans(text: str, today: date) -> Iterator[tuple[int, int, Span]]:
    """(start, end, days) of each word of time that can be told, in the order of the patterns."""
    for name, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            try:
                span = _meant(name, match, today, _is_ahead(text))
            except days.OutOfCalendarError:
                continue
            if span is not None:
                yield match.start(), match.end(), span


def _is_ahead(text: str) -> bool | None:
    """Whether the clause looks ahead; None where it does not show."""
    future = bool(_FUTURE.search(text))
    if _PASTNESS.search(text):
        return None if future else False
    if future:
        return True
    return False if _PARTICIPLE.search(text) else None


def _meant(name: str, match: re.Match[str], today: date, ahead: bool | None) -> Span | None:
    found = match.groupdict()
    if name == "fixed":
        return days.days_from(today, _FIXED[" ".join(found["fixed"].lower().split())])
    if name == "iso":
        return days.day_of(*(int(part) for part in found["iso"].split("-")))
    if name in ("ago", "ahead"):
        count = _number(found.get("n") or found.get("n2") or "")
        unit = (found.get("unit") or found.get("unit2") or "").lower()
        return _moved(today, unit, -count if name == "ago" else count)
    if name == "full":
        number, day = _month(found["month"] or found["month2"]), int(found["d1"] or found["d2"])
        if found["year"]:
            return days.day_of(int(found["year"]), number, day)
        return days.nearest_day(today, number, day, ahead=ahead)
    if name == "monthyear":
        return days.month(int(found["year"]), _month(found["month"]))
    if name == "season":
        return days.season(int(found["year"]), _season(found["season"]))
    if name == "on":
        if ahead is None:
            return None
        number = _weekday(found["weekday"])
        gap = (number - today.weekday()) % 7
        return days.days_from(today, gap if ahead else -((today.weekday() - number) % 7))
    if name == "in month":
        if found["month"].lower() in ("may", "mar", "march") and not found["month"][0].isupper():
            return None
        return _month_near(today, _month(found["month"]), ahead)
    return _which(found, today)


def _month_near(today: date, number: int, ahead: bool | None) -> Span | None:
    if ahead is None:
        return None
    offset = 0
    if ahead and number < today.month:
        offset = 1
    if not ahead and number > today.month:
        offset = -1
    return days.month(today.year + offset, number)


def _moved(today: date, unit: str, count: int) -> Span:
    if unit == "day":
        return days.days_from(today, count)
    if unit in ("week", "fortnight"):
        return days.week(today, count * (2 if unit == "fortnight" else 1))
    if unit == "month":
        return days.months_from(today, count)
    return days.year(today.year + count * (10 if unit == "decade" else 1))


def _which(found: dict[str, str | None], today: date) -> Span | None:
    which = (found["which"] or "").lower()
    step = -1 if which in ("last", "past", "this past", "the previous", "the past") else 1
    if which == "this":
        step = 0
    if found["weekday"]:
        number = _weekday(found["weekday"])
        if step < 0:
            return days.days_from(today, -((today.weekday() - number - 1) % 7 + 1))
        if which == "next":
            return days.weekday(today, number, 1)
        return days.days_from(today, (number - today.weekday()) % 7)
    if found["month"]:
        number = _month(found["month"])
        if which == "this":
            return days.month(today.year, number)
        offset = 0 if (number > today.month) == (step > 0) and number != today.month else step
        return days.month(today.year + offset, number)
    if found["season"]:
        name = _season(found["season"])
        if which == "this":
            return days.season(today.year, name)
        spans = [days.season(today.year + offset, name) for offset in (-2, -1, 0, 1)]
        if step < 0:
            return max((one for one in spans if one.last < today), key=lambda one: one.first)
        return min((one for one in spans if one.first > today), key=lambda one: one.first)
    unit = (found["span"] or "").lower()
    if unit == "week":
        return days.week(today, step)
    if unit == "weekend":
        if step < 0 and today.weekday() >= 5:
            return days.weekend(today, -1)
        return days.weekend(today, step if which != "the coming" else 0)
    if unit == "month":
        return days.months_from(today, step)
    if unit == "quarter":
        return None
    return days.year(today.year + step)


def _number(text: str) -> int:
    word = text.lower()
    return int(word) if word.isdigit() else _NUMBERS[word]


def _weekday(text: str) -> int:
    return next(place for place, name in enumerate(_WEEKDAYS) if name.startswith(text.lower()[:3]))


def _month(text: str) -> int:
    return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(text.lower()[:3]))


def _season(text: str) -> str:
    return "autumn" if text.lower() == "fall" else text.lower()
