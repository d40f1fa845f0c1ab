"""Dates as people give them to an event: a day, a month, a quarter, a year, in digits or in Chinese."""

from __future__ import annotations

import re
from datetime import datetime, timezone

_DATE = re.compile(r"^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$")
_CHINESE = re.compile(r"^(\d{4})年(?:(\d{1,2})月(?:(\d{1,2})[日号])?)?$")
_QUARTER = re.compile(
    r"^(?:(\d{4})[- ]?Q([1-4])|Q([1-4])[- ]?(\d{4})|(\d{4})年第?([一二三四1-4])季度)$", re.I
)
_NUMERALS = {"一": 1, "二": 2, "三": 3, "四": 4}


def said_date(text: str) -> tuple[datetime | None, str | None]:
    """When it begins, in UTC, and how exact it is: year, quarter, month, day or moment; else None twice."""
    said = text.strip()
    quarter = _QUARTER.match(said)
    try:
        if quarter:
            year = quarter[1] or quarter[4] or quarter[5]
            number = quarter[2] or quarter[3] or quarter[6]
            month = 3 * (_NUMERALS.get(number) or int(number)) - 2
            return datetime(int(year), month, 1, tzinfo=timezone.utc), "quarter"
        found = _DATE.match(said) or _CHINESE.match(said)
        if found:
            day = datetime(
                int(found[1]), int(found[2] or 1), int(found[3] or 1), tzinfo=timezone.utc
            )
            return day, "day" if found[3] else "month" if found[2] else "year"
        moment = datetime.fromisoformat(said.replace("Z", "+00:00"))
    except ValueError:
        return None, None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)), "moment"
