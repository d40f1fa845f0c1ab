"""Names of users, threads and types: what rows can be found by."""

from __future__ import annotations

import re

from negmem.errors import UsageError

MAX_NAME_CHARACTERS = 255
MAX_NOTE_CHARACTERS = 10_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_user(user: str, hint: str) -> str:
    """`user`, if rows can be scoped by it.

    Raises: UsageError `user_empty`, for an empty scope never means everyone; `user_invalid` for a name
    that is too long or holds what PostgreSQL can't store.
    """
    if isinstance(user, str) and not user.strip():
        raise UsageError(
            "user_empty",
            "the user is empty",
            why="an empty scope never means everyone",
            hint=hint,
        )
    if why := _why_not(user):
        raise UsageError("user_invalid", "this can't be the name of a user", why=why, hint=hint)
    return user


def check_name(name: str, what: str) -> str:
    """`name`, if a `what` (thread, type) can have that name. Raises: UsageError `name_invalid`."""
    if why := _why_not(name):
        raise UsageError(
            "name_invalid",
            f"this can't be the name of a {what}",
            why=why,
            hint=f"leave the {what} out, or name it as the app knows it",
        )
    return name


def check_note(text: str, what: str = "the note", most: int = MAX_NOTE_CHARACTERS) -> str:
    """`text`, if it can be kept beside an entry of the trail. Raises: UsageError `text_refused`."""
    if not text.strip() or len(text) > most or _UNSTORABLE.search(text):
        raise UsageError(
            "text_refused",
            f"{what} can't be stored",
            why=f"it is blank, longer than {most:,} characters, or holds what PostgreSQL can't store",
            hint="another text, or none",
        )
    return text


def _why_not(name: str) -> str:
    if not isinstance(name, str):
        return f"it is {type(name).__name__}, not text"
    if not name.strip():
        return "it is blank"
    if len(name) > MAX_NAME_CHARACTERS:
        return f"at most {MAX_NAME_CHARACTERS} characters, got {len(name)}"
    if _UNSTORABLE.search(name):
        return "it holds a NUL or a lone surrogate, which PostgreSQL can't store"
    return ""
