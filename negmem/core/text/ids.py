"""Ids as callers give them."""

from __future__ import annotations

from uuid import UUID

from negmem.errors import UsageError


def parsed_id(
    text: str | UUID, what: str, hint: str, why: str = "an id is a UUID such as 9f2c1d4e-…"
) -> UUID:
    """The id of a `what`. Raises: UsageError `id_malformed`."""
    if isinstance(text, UUID):
        return text
    try:
        return UUID(str(text))
    except ValueError:
        raise UsageError(
            "id_malformed", f"{str(text)[:60]!r} is no id of a {what}", why=why, hint=hint
        ) from None
