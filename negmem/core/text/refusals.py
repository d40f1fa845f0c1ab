"""What stands against a write or a deletion for one person, as errors."""

from __future__ import annotations

from negmem.errors import NegmemError


def held(user: str) -> NegmemError:
    """Nothing of the person may be deleted."""
    return NegmemError(
        "user_on_hold",
        "a legal hold stops every deletion for this person",
        why=f"user {user!r} is held; nothing was done",
        hint=f"negmem user release --user {user}    ends the hold",
    )


def being_erased(user: str) -> NegmemError:
    """Nothing is written for the person any more."""
    return NegmemError(
        "user_being_erased",
        "this person is being erased",
        why=f"nothing is written for user {user!r} until that is done",
        hint=f"negmem audit erase --user {user} --yes    goes on where it was cut off",
    )


def paused(user: str) -> NegmemError:
    """Nothing is remembered of the person."""
    return NegmemError(
        "user_paused",
        "nothing is to be remembered of this person",
        why=f"user {user!r} is paused",
        hint=f"negmem user resume --user {user}",
    )
