"""Whether a legal hold forbids to delete something; what removes a person's rows asks here or in SQL."""

from __future__ import annotations

from negmem.core.session import Session
from negmem.core.text.refusals import held
from negmem.errors import NegmemError


def check_may_delete(session: Session, user: str, owner_kind: str = "user") -> None:
    """In the transaction that deletes: no hold begins until it ends. Rows of teams and of the app are no person's.

    Raises: NegmemError `user_on_hold`.
    """
    if owner_kind != "user":
        return
    if is_held(session, user):
        raise held(user)
    session.database.execute("user", "may_delete", {"user_id": user, "app_name": session.app})


def is_held(session: Session, user: str) -> bool:
    """Whether nothing of this person may be deleted."""
    row = session.database.row("user", "standing", {"user_id": user, "app_name": session.app})
    return row is not None and row["held_at"] is not None


def require_no_holds(session: Session) -> None:
    """Refuse what would remove everybody's rows while anybody of any app is held.

    Raises: NegmemError `user_on_hold`.
    """
    row = session.database.row("user", "held_persons")
    if row is not None and row["persons"]:
        raise NegmemError(
            "user_on_hold",
            "a legal hold stops every deletion; nothing was removed",
            why=f"{row['persons']:,} persons are held, the first of app {row['app']!r}",
            hint=f"negmem user release --app {row['app']} --user NAME",
        )
