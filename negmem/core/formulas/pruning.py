"""Which entries of a list go when it is pruned by age and by number.

Age first, then number among what is left. An entry's time is the later of its creation and its last
change. What is protected (pinned, or of a kind that never goes) and what has no readable time is
never removed, but counts towards the number that may stay.

Source: golden table of pruning, tests/golden/pruning.jsonl.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum

# A number beyond this many seconds since 1970 (the year 5138) is one of milliseconds.
_LARGEST_SECONDS = 1e11
_LONG_AGO = datetime(1, 1, 1, tzinfo=timezone.utc)
_ISO = re.compile(
    r"(?P<date>\d{4}-?\d{2}-?\d{2})"
    r"(?:[Tt ](?P<time>\d{2}(?::?\d{2}(?::?\d{2})?)?)(?:[.,](?P<fraction>\d{1,9}))?"
    r"\s*(?P<zone>[Zz]|[+-]\d{2}(?::?\d{2})?)?)?\Z"
)


class Reason(str, Enum):
    """Why an entry goes."""

    AGE = "age"
    COUNT = "count"


@dataclass(frozen=True)
class Entry:
    """One entry, in the order of insertion.

    `created` and `updated` are a moment, ISO 8601 text, or seconds or milliseconds since 1970; None
    and the empty text say nothing. What has no zone is UTC.
    """

    id: str
    created: datetime | str | float | None = None
    updated: datetime | str | float | None = None
    is_protected: bool = False


@dataclass(frozen=True)
class Pruning:
    """What stays, in stored order, and what goes and why.

    `undated` have no time, `unreadable` one that could not be read, `future` one after now: all kept
    unless `removed` names them.
    """

    kept: tuple[str, ...]
    removed: tuple[tuple[str, Reason], ...]
    undated: tuple[str, ...]
    unreadable: tuple[str, ...]
    future: tuple[str, ...]


def read_instant(value: datetime | str | float | None) -> datetime | None:
    """The moment that a value states, aware of its zone, or None where it states none.

    Raises: ValueError where it states something that is no moment.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no moment")
    seconds = value / 1000 if abs(value) >= _LARGEST_SECONDS else value
    try:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(f"{value!r} is no moment") from None


def _read_text(text: str) -> datetime:
    match = _ISO.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no moment")
    date = match["date"].replace("-", "")
    clock = (match["time"] or "").replace(":", "").ljust(6, "0")
    fraction = (match["fraction"] or "")[:6].ljust(6, "0")
    moment = datetime(
        int(date[:4]),
        int(date[4:6]),
        int(date[6:]),
        int(clock[:2]),
        int(clock[2:4]),
        int(clock[4:]),
        int(fraction),
        tzinfo=timezone.utc,
    )
    zone = match["zone"]
    if zone is None or zone in "Zz":
        return moment
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    try:
        return moment - offset if zone[0] == "+" else moment + offset
    except OverflowError:
        raise ValueError(f"{text!r} is no moment") from None


def _effective_time(entry: Entry) -> tuple[datetime | None, bool]:
    """The later of both times, and whether one of them could not be read."""
    found: list[datetime] = []
    is_unreadable = False
    for value in (entry.created, entry.updated):
        try:
            instant = read_instant(value)
        except ValueError:
            is_unreadable = True
            continue
        if instant is not None:
            found.append(instant)
    return (max(found) if found else None), is_unreadable


def prune(
    entries: Sequence[Entry],
    now: datetime,
    *,
    max_age_days: float = 0,
    max_count: int = 0,
    include_undated: bool = False,
) -> Pruning:
    """The plan for entries in the order of insertion; ids are unique.

    Args: now, aware of its zone; max_age_days and max_count, off at 0 and below: an entry exactly so
    old stays; include_undated lets those without a time go too, before all that have one.
    Among entries of one moment those inserted later stay.
    """
    times: dict[str, datetime | None] = {}
    unreadable: list[str] = []
    for entry in entries:
        times[entry.id], is_unreadable = _effective_time(entry)
        if is_unreadable:
            unreadable.append(entry.id)
    reasons: dict[str, Reason] = {}
    oldest = limit_of_age(now, max_age_days)
    for entry in entries:
        instant = times[entry.id]
        if not entry.is_protected and instant is not None and instant < oldest:
            reasons[entry.id] = Reason.AGE
    if max_count > 0:
        left = [entry for entry in entries if entry.id not in reasons]
        order = {entry.id: number for number, entry in enumerate(left)}
        movable = [
            entry.id
            for entry in left
            if not entry.is_protected and (include_undated or times[entry.id] is not None)
        ]
        slots = max(0, max_count - (len(left) - len(movable)))
        # What has no time sorts below all that has one.
        movable.sort(
            key=lambda i: (times[i] is not None, times[i] or _LONG_AGO, order[i]), reverse=True
        )
        reasons.update((gone, Reason.COUNT) for gone in movable[slots:])
    return Pruning(
        kept=tuple(entry.id for entry in entries if entry.id not in reasons),
        removed=tuple((e.id, reasons[e.id]) for e in entries if e.id in reasons),
        undated=tuple(e.id for e in entries if times[e.id] is None and e.id not in unreadable),
        unreadable=tuple(unreadable),
        future=tuple(i for i, instant in times.items() if instant is not None and instant > now),
    )


def limit_of_age(now: datetime, max_age_days: float) -> datetime:
    """The oldest moment that stays; an age that reaches beyond the calendar takes nothing."""
    if not max_age_days > 0:
        return _LONG_AGO
    try:
        return now - timedelta(days=max_age_days)
    except OverflowError:
        return _LONG_AGO
