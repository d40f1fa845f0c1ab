"""Moments that a caller gives: with a zone, within the years that memories may be of."""

from __future__ import annotations

from datetime import datetime, timezone

from negmem.errors import UsageError

EARLIEST_YEAR = 1900
LATEST_YEAR = 2099


def in_utc(moment: datetime | None, name: str) -> datetime | None:
    """The moment with its zone, UTC where it names none: never the zone of a database.

    Raises: UsageError `moment_malformed` for anything but a datetime.
    """
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise UsageError(
            "moment_malformed",
            f"{name} is no moment",
            why=f"it is {type(moment).__name__}, not a datetime",
            hint=f"{name}=datetime(2026, 3, 2, tzinfo=timezone.utc)",
        )
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def said_at(moment: datetime | None, name: str) -> datetime | None:
    """As `in_utc`, for when something was said. Raises: UsageError `moment_malformed` also centuries off."""
    found = in_utc(moment, name)
    if found is not None and not EARLIEST_YEAR <= found.year <= LATEST_YEAR:
        raise UsageError(
            "moment_malformed",
            f"{name} lies too far off",
            why=f"the year {found.year} is not within {EARLIEST_YEAR} to {LATEST_YEAR}",
            hint=f"{name} 2026-03-02",
        )
    return found
