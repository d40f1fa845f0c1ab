"""Pages of lists as callers ask for them."""

from __future__ import annotations

from negmem.errors import UsageError

_MAX_ROWS = 2**31 - 1


def check_page(limit: int, offset: int, hint: str, most: int = _MAX_ROWS) -> None:
    """Raises: UsageError `limit_invalid`."""
    if limit < 1 or offset < 0 or limit + offset > most:
        raise UsageError(
            "limit_invalid",
            "no list goes so far",
            why=f"--limit from 1, --offset from 0, together at most {most:,}; got {limit:,} and"
            f" {offset:,}",
            hint=hint,
        )
