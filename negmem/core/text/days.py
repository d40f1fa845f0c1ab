"""Spans of days: what "last week" or 明年春天 is, once it is known when it was said. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Precision = Literal["day", "week", "month", "season", "year"]

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The first month of each season, as in the northern hemisphere; a winter ends in the next year."""

_FIRST, _LAST = date(1900, 1, 1), date(2199, 12, 31)


@dataclass(frozen=True)
class Span:
    """The days from `first` to `last`, both included; `precision` says how exactly they were named."""

    first: date
    last: date
    precision: Precision

    @property
    def iso(self) -> str:
        """`2026-03-13`, `2026-03`, `2026`; other spans as `first/last`."""
        if self.precision == "day" and self.first == self.last:
            return self.first.isoformat()
        if self.precision == "year":
            return f"{self.first.year:04d}"
        if self.precision == "month":
            return self.first.isoformat()[:7]
        if self.precision == "season":
            return f"{self.first.isoformat()[:7]}/{self.last.isoformat()[:7]}"
        return f"{self.first.isoformat()}/{self.last.isoformat()}"


class OutOfCalendarError(ValueError):
    """A day that no calendar of use has."""


def day(when: date) -> Span:
    """One day."""
    return Span(_checked(when), when, "day")


def days_from(today: date, count: int) -> Span:
    """The day so many days on; negative: back."""
    try:
        return day(today + timedelta(days=count))
    except OverflowError:
        raise OutOfCalendarError(f"{count} days") from None


def week(today: date, offset: int) -> Span:
    """The week from Monday to Sunday, so many weeks on."""
    monday = days_from(today, 7 * offset - today.weekday()).first
    return Span(monday, days_from(monday, 6).last, "week")


def weekend(today: date, offset: int) -> Span:
    """Saturday and Sunday of the week so many weeks on."""
    monday = week(today, offset).first
    return Span(monday + timedelta(days=5), monday + timedelta(days=6), "week")


def weekday(today: date, number: int, offset: int) -> Span:
    """The weekday (0 Monday) in the week so many weeks on."""
    return days_from(week(today, offset).first, number)


def month(year: int, number: int) -> Span:
    """A month; numbers outside 1..12 are months of other years."""
    year, number = year + (number - 1) // 12, (number - 1) % 12 + 1
    if not _FIRST.year <= year <= _LAST.year:
        raise OutOfCalendarError(f"{year}-{number}")
    first = date(year, number, 1)
    following = date(year + number // 12, number % 12 + 1, 1)
    return Span(first, following - timedelta(days=1), "month")


def months_from(today: date, count: int) -> Span:
    """The month so many months on."""
    return month(today.year, today.month + count)


def year(number: int) -> Span:
    """A calendar year."""
    if not _FIRST.year <= number <= _LAST.year:
        raise OutOfCalendarError(str(number))
    return Span(date(number, 1, 1), date(number, 12, 31), "year")


def season(number: int, name: str) -> Span:
    """A season of a year."""
    start = SEASONS[name]
    return Span(month(number, start).first, month(number, start + 2).last, "season")


def day_of(year_number: int, month_number: int, day_number: int) -> Span:
    """One day of a calendar. Raises: OutOfCalendarError for the 30th of February."""
    try:
        return day(date(year_number, month_number, day_number))
    except ValueError:
        raise OutOfCalendarError(f"{year_number}-{month_number}-{day_number}") from None


def nearest_day(today: date, month_number: int, day_number: int, *, ahead: bool | None) -> Span:
    """The day of that date that was meant: the next one (`ahead`), the last one, or the nearest."""
    found = []
    for offset in (-1, 0, 1):
        try:
            found.append(day_of(today.year + offset, month_number, day_number))
        except OutOfCalendarError:
            continue
    if ahead is True:
        found = [span for span in found if span.first >= today]
    elif ahead is False:
        found = [span for span in found if span.first <= today]
    if not found:
        raise OutOfCalendarError(f"{month_number}-{day_number}")
    return min(found, key=lambda span: abs((span.first - today).days))


def _checked(when: date) -> date:
    if not _FIRST <= when <= _LAST:
        raise OutOfCalendarError(when.isoformat())
    return when
