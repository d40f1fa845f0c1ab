"""Times and key=value pairs as people type them."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any

from negmem.errors import UsageError

_AGE = re.compile(r"^(\d+(?:\.\d+)?)\s*([smhdw])$")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_moment(text: str | None, flag: str) -> datetime | None:
    """ISO 8601 (without a zone: UTC) or an age such as 7d or 12h, as a moment.

    Raises: UsageError `moment_malformed`.
    """
    if text is None:
        return None
    age = _AGE.match(text.strip().lower())
    try:
        if age is not None:
            seconds = float(age[1]) * _SECONDS[age[2]]
            return datetime.now(timezone.utc) - timedelta(seconds=seconds)
        moment = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip()))
    except (ValueError, OverflowError):
        raise UsageError(
            "moment_malformed",
            f"{flag} {text[:60]!r} is no moment",
            why="it is neither ISO 8601 nor an age",
            hint=f"{flag} 2026-03-02   or   {flag} 7d",
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def parse_pairs(pairs: list[str] | None, flag: str) -> dict[str, Any]:
    """KEY=VALUE pairs; a value that reads as JSON is taken as such, else as text.

    Raises: UsageError `pair_malformed`.
    """
    result: dict[str, Any] = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                "pair_malformed",
                f"{flag} {pair[:60]!r} is no KEY=VALUE",
                why="there is no = in it, or no key before it",
                hint=f"{flag} topic=travel",
            )
        try:
            result[key.strip()] = json.loads(value)
        except ValueError:
            result[key.strip()] = value
    return result
