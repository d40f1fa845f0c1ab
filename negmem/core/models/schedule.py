"""When something recurs: cron text as pg_cron reads it, and PostgreSQL interval text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SECONDS = re.compile(r"(\d{1,9})\s+seconds?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class CronFields:
    """The five fields of a cron line as sets; Sunday is 0.

    `any_day` and `any_weekday` say that the field began with `*`: when neither does, a day counts
    if either field names it, as cron has always done.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool


@dataclass(frozen=True)
class EverySeconds:
    """pg_cron's `N seconds`, N from 1 to 59."""

    seconds: int


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        if text.lower() in self.names:
            return self.names.index(text.lower()) + self.low
        if not re.fullmatch(r"[0-9]{1,4}", text):
            raise ValueError(f"{self.name} {text!r} is not a number")
        value = int(text)
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.name} {value} is outside {self.low} to {self.high}")
        return value

    def values(self, text: str) -> set[int]:
        """The numbers that a field names. Raises: ValueError saying what is wrong with it."""
        found: set[int] = set()
        for part in text.split(","):
            span, slash, step_text = part.partition("/")
            low_text, dash, high_text = span.partition("-")
            if span == "*":
                low, high = self.low, self.high
            else:
                low = self.number(low_text)
                high = self.number(high_text) if dash else low
                if slash and not dash:
                    raise ValueError(f"{self.name} {part!r}: a step needs a range or *")
            if low > high:
                raise ValueError(f"{self.name} {part!r} runs backwards")
            step = 1
            if slash:
                if not re.fullmatch(r"[0-9]{1,4}", step_text) or int(step_text) == 0:
                    raise ValueError(f"{self.name} {part!r}: the step must be a number from 1")
                step = int(step_text)
            found.update(range(low, high + 1, step))
        return found


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("weekday", 0, 7, _WEEKDAYS),
)


def parse_cron(text: str) -> CronFields | EverySeconds:
    """The schedule that a cron text names: five fields, or `N seconds` as pg_cron 1.5 has it.

    Raises: ValueError saying which field is wrong, also for a date that never comes (31 February).
    """
    if match := _SECONDS.fullmatch(text.strip()):
        seconds = int(match.group(1))
        if not 1 <= seconds <= 59:
            raise ValueError(f"seconds must be from 1 to 59, got {seconds}")
        return EverySeconds(seconds)
    parts = text.split()
    if len(parts) != 5:
        raise ValueError(
            "a schedule has five fields (minute hour day month weekday) or is 'N seconds', "
            f"got {len(parts)} in {text!r}"
        )
    minutes, hours, days, months, weekdays = (
        field.values(part) for field, part in zip(_FIELDS, parts, strict=True)
    )
    any_day, any_weekday = parts[2].startswith("*"), parts[4].startswith("*")
    if any_weekday and not any(min(days) <= _LONGEST_MONTH[month - 1] for month in months):
        raise ValueError(f"{text!r} names a date that never comes")
    return CronFields(
        minutes=frozenset(minutes),
        hours=frozenset(hours),
        days=frozenset(days),
        months=frozenset(months),
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day=any_day,
        any_weekday=any_weekday,
    )


@dataclass(frozen=True)
class Interval:
    """A PostgreSQL interval in its three stored parts."""

    months: int
    days: int
    microseconds: int

    @property
    def total_seconds(self) -> Fraction:
        """Its length as PostgreSQL compares it: 24 hours a day, 30 days a month."""
        return Fraction((self.months * 30 + self.days) * 86_400) + Fraction(
            self.microseconds, 1_000_000
        )


_HOUR, _DAY = 3_600_000_000, 86_400_000_000
_UNITS: dict[str, tuple[str, int]] = {}
_SAME_UNIT: dict[str, frozenset[str]] = {}
for _names, _part, _size in (
    ("us usec usecs microsecond microseconds", "microseconds", 1),
    ("ms msec msecs millisecond milliseconds", "microseconds", 1_000),
    ("s sec secs second seconds", "microseconds", 1_000_000),
    ("m min mins minute minutes", "microseconds", 60_000_000),
    ("h hr hrs hour hours", "microseconds", _HOUR),
    ("d day days", "days", 1),
    ("w week weeks", "days", 7),
    ("mon mons month months", "months", 1),
    ("y yr yrs year years", "months", 12),
):
    for _name in _names.split():
        _UNITS[_name] = (_part, _size)
        _SAME_UNIT[_name] = frozenset(_names.split())
_SECONDS_UNITS = _SAME_UNIT["s"] | _SAME_UNIT["ms"] | _SAME_UNIT["us"]
_CLOCK_UNITS = _SAME_UNIT["h"] | _SAME_UNIT["m"] | _SECONDS_UNITS

_QUANTITY = re.compile(r"([+-]?[0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([A-Za-z]+)(?:\s+|$)")
_CLOCK = re.compile(r"([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6}))?)?$")


def parse_interval(text: str) -> Interval:
    """The interval that a text such as `1 hour`, `1 day 02:30:00` or `1.5 days` names.

    It takes quantities with PostgreSQL's unit names, and hours:minutes:seconds at the end: a part
    of what PostgreSQL reads, with the same length (tests/parity). Raises: ValueError.
    """
    text = text.strip()
    parts = {"months": 0, "days": 0, "microseconds": 0}
    position, seen = 0, set[str]()
    while match := _QUANTITY.match(text, position):
        unit = match.group(2).lower()
        if unit not in _UNITS:
            raise ValueError(f"{match.group(2)!r} is not a unit of time")
        part, size = _UNITS[unit]
        if unit in seen:
            raise ValueError(f"the unit {match.group(2)!r} stands twice in {text!r}")
        seen |= _SECONDS_UNITS if unit in _SECONDS_UNITS else _SAME_UNIT[unit]
        amount = Fraction(match.group(1)) * size
        if part != "days" and amount.denominator != 1:
            smallest = "month" if part == "months" else "microsecond"
            raise ValueError(f"{match.group().strip()!r} is no whole number of {smallest}s")
        whole = int(amount)
        parts[part] += whole
        if part == "days":
            parts["microseconds"] += round((amount - whole) * _DAY)
        position = match.end()
    clock = _CLOCK.match(text, position)
    if clock and not seen & _CLOCK_UNITS:
        hours, minutes, seconds, fraction = clock.groups()
        parts["microseconds"] += (
            int(hours) * _HOUR
            + int(minutes) * 60_000_000
            + int(seconds or 0) * 1_000_000
            + int((fraction or "").ljust(6, "0"))
        )
    elif position < len(text) or not seen:
        raise ValueError(f"{text!r} is not an interval such as '1 hour' or '1 day 02:00:00'")
    return Interval(**parts)
