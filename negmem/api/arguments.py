"""What callers give to the Python API, checked where it comes in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.core.text.names import check_user

if TYPE_CHECKING:
    from negmem.api.memory import Memory


class Noun:
    """A noun of the API, as `mem.memory`: its methods work in the session of the object it belongs to."""

    def __init__(self, owner: Memory) -> None:
        self._owner = owner


def id_of(id: UUID | str) -> UUID:
    """A memory's id. Raises: UsageError where it is none."""
    from negmem.core.memories import parse_id

    return parse_id(id)


def ids_of(ids: UUID | str | Iterable[UUID | str]) -> list[UUID]:
    """One id or several, as a list."""
    return [id_of(ids)] if isinstance(ids, (UUID, str)) else [id_of(one) for one in ids]


def user_of(user: str) -> str:
    """A user's name, as it is stored. Raises: UsageError for one that no row can have."""
    return check_user(user, 'user="NAME"')


def user_or_none(user: str | None) -> str | None:
    """As `user_of`, where a call may do without a user."""
    return None if user is None else user_of(user)
