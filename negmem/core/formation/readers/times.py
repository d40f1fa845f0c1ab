"""Times as people and data sets write them. A time without a zone is UTC unless told otherwise."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone, tzinfo

from negmem.core.text.moments import EARLIEST_YEAR, LATEST_YEAR

_ISO = re.compile(
    r"(\d{4})-?(\d{2})-?(\d{2})"
    r"(?:[T ]+(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?"
    r"\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII | re.IGNORECASE,
)
_SLASHED = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})(?:\s*\(\w+\))?(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?"
)
_SPOKEN = re.compile(
    r"(\d{1,2}):(\d{2})\s*(am|pm)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)
_HAN = re.compile(
    r"(\d{4})年(\d{1,2})月(\d{1,2})[日号](?:\s*(\d{1,2})[:：](\d{2})(?:[:：](\d{2}))?)?"
)
_NUMBER = re.compile(r"-?\d{9,}(?:\.\d+)?", re.ASCII)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class BadTimeError(ValueError):
    """A time that can't be read, or lies centuries off. The message says why."""


def parse_time(value: object, zone: tzinfo = timezone.utc) -> datetime | None:
    """The time in UTC, or None where the value is null or empty.

    Reads ISO 8601, seconds or milliseconds since 1970, `2023/05/20 (Sat) 02:21`,
    `1:56 pm on 8 May, 2023` and `2023年5月8日 13:56`. A date alone is its midnight.

    Raises: BadTimeError for anything else and for years outside EARLIEST_YEAR to LATEST_YEAR.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        raise BadTimeError(f"{value} is not a time")
    if isinstance(value, datetime):
        return _bounded(value if value.tzinfo else value.replace(tzinfo=zone), value.isoformat())
    if isinstance(value, (int, float)):
        return _from_number(float(value))
    if not isinstance(value, str):
        raise BadTimeError(f"{type(value).__name__} is not a time")
    text = value.strip()
    if not text:
        return None
    if _NUMBER.fullmatch(text):
        return _from_number(float(text))
    return _bounded(_from_text(text, zone), text)


def _from_text(text: str, zone: tzinfo) -> datetime:
    try:
        if found := _ISO.fullmatch(text):
            year, month, day, hour, minute, second, fraction, offset = found.groups()
            return datetime(
                int(year),
                int(month),
                int(day),
                int(hour or 0),
                int(minute or 0),
                int(second or 0),
                int((fraction or "0").ljust(6, "0")[:6]),
                _offset(offset) if offset else zone,
            )
        if found := _SLASHED.fullmatch(text) or _HAN.fullmatch(text):
            parts = [int(part or 0) for part in found.groups()]
            return datetime(*parts, tzinfo=zone)  # type: ignore[misc,arg-type]
        if found := _SPOKEN.fullmatch(text):
            hour, minute, half, day, month, year = found.groups()
            return datetime(
                int(year),
                _month(month),
                int(day),
                _twelve_hours(int(hour), half),
                int(minute),
                tzinfo=zone,
            )
    except ValueError as error:
        raise BadTimeError(f"{_short(text)!r} is not a time: {error}") from None
    raise BadTimeError(f"{_short(text)!r} is not a time, for example 2026-03-02T09:00:00Z")


def _from_number(number: float) -> datetime:
    if not math.isfinite(number):
        raise BadTimeError(f"{number} is not a time")
    seconds = number / 1000 if abs(number) >= 1e11 else number
    try:
        return _bounded(_EPOCH + timedelta(seconds=seconds), f"{number:g}")
    except OverflowError:
        raise BadTimeError(f"{number:g} seconds since 1970 is no time") from None


def _bounded(moment: datetime, shown: str) -> datetime:
    if not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
        raise BadTimeError(f"{_short(shown)!r} lies outside {EARLIEST_YEAR} to {LATEST_YEAR}")
    return moment.astimezone(timezone.utc)


def _offset(text: str) -> tzinfo:
    if text in ("Z", "z"):
        return timezone.utc
    digits = text[1:].replace(":", "").ljust(4, "0")
    if int(digits[:2]) > 23 or int(digits[2:]) > 59:
        raise ValueError(f"no zone {text}")
    distance = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-distance if text[0] == "-" else distance)


def _twelve_hours(hour: int, half: str) -> int:
    if not 1 <= hour <= 12:
        raise ValueError("the hour must be 1 to 12 before am or pm")
    return hour % 12 + (12 if half.lower() == "pm" else 0)


def _month(name: str) -> int:
    for number, month in enumerate(_MONTHS, start=1):
        if len(name) >= 3 and month.startswith(name.lower()):
            return number
    raise ValueError(f"no month {name!r}")


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
