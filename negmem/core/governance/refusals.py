"""What stands against a write or a deletion for one person, as errors."""

from __future__ import annotations

from negmem.errors import NegmemError


def held(user: str) -> NegmemError:
    """Nothing of the person may be deleted."""
    return NegmemError(
        "user_on_hold",
        "a legal hold stops every deletion for this person",
        why=f"user {user!r} is held; nothing was done",
        hint="ask who set it",
    )


def being_erased(user: str) -> NegmemError:
    """Nothing is written for the person any more."""
    return NegmemError(
        "user_being_erased",
        "this person is being erased",
        why=f"nothing is written for user {user!r} until that is done",
        hint="wait until that is done",
    )
