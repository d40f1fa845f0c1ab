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


class BoundedMomentLoader(TimestamptzLoader):
    """A timestamptz in UTC; beyond Python's years, infinity among them, the first or last moment of those.

    One such row, which any SQL client may write, would otherwise fail every list and search that meets it.
    """

    def load(self, data: Buffer) -> datetime:
        """The moment in UTC, whatever the session's zone."""
        try:
            return super().load(data).astimezone(timezone.utc)
        except (psycopg.DataError, OverflowError):
            text = bytes(data)
            year = _YEAR.match(text)
            is_early = text.startswith(b"-") or text.endswith(b"BC")
            return FIRST if is_early or (year and int(year[0]) < LAST.year // 2) else LAST
