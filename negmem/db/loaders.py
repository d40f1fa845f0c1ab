"""How values of the database become Python's, where the driver's own way stops at what PostgreSQL can hold."""

from __future__ import annotations

import re
from datetime import datetime, timezone

import psycopg
from psycopg.adapt import Buffer
from psycopg.types.datetime import TimestamptzLoader

FIRST = datetime.min.replace(tzinfo=timezone.utc)
LAST = datetime.max.replace(tzinfo=timezone.utc)
_YEAR = re.compile(rb"\d+")
_IN_SECONDS = len("2026-03-02 09:00:00+00")
_IN_MICROSECONDS = len("2026-03-02 09:00:00.123456+00")


class BoundedMomentLoader(TimestamptzLoader):
    """A timestamptz in UTC; beyond Python's years, infinity among them, the first or last moment of those.

    One such row, which any SQL client may write, would otherwise fail every list and search that meets it.
    """

    def load(self, data: Buffer) -> datetime:
        """The moment in UTC, whatever the session's zone."""
        text = bytes(data)
        # As nearly all are: read in half the time, of which a search with context has some hundreds.
        if text.endswith(b"+00") and len(text) in (_IN_SECONDS, _IN_MICROSECONDS):
            return datetime.fromisoformat(text[:-3].decode()).replace(tzinfo=timezone.utc)
        try:
            return super().load(data).astimezone(timezone.utc)
        except (psycopg.DataError, OverflowError):
            year = _YEAR.match(text)
            is_early = text.startswith(b"-") or text.endswith(b"BC")
            return FIRST if is_early or (year and int(year[0]) < LAST.year // 2) else LAST
