"""Names of users: what a row can be scoped by."""

from __future__ import annotations

import re

from negmem.errors import UsageError

MAX_NAME_CHARACTERS = 255
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_user(user: str, hint: str) -> str:
    """`user`, if rows can be scoped by it.

    Raises: UsageError `user_empty`, for an empty scope never means everyone; `user_invalid` for a name
    that is too long or holds what PostgreSQL can't store.
    """
    if not user.strip():
        raise UsageError(
            "user_empty",
            "the user is empty",
            why="an empty scope never means everyone",
            hint=hint,
        )
    if len(user) > MAX_NAME_CHARACTERS or _UNSTORABLE.search(user):
        why = f"at most {MAX_NAME_CHARACTERS} characters, got {len(user)}"
        if len(user) <= MAX_NAME_CHARACTERS:
            why = "it holds a NUL or a lone surrogate, which PostgreSQL can't store"
        raise UsageError("user_invalid", "this can't be the name of a user", why=why, hint=hint)
    return user
