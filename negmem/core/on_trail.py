"""The trail of what is changed and taken away by hand of what is held about a person."""

from __future__ import annotations

from collections.abc import Sequence

from negmem.core.session import Session
from negmem.core.text.names import check_note


def record_rectified(
    session: Session, user: str | None, subjects: Sequence[str], said: str, note: str | None = None
) -> None:
    """One entry `rectify` for each of `subjects`, in the open transaction: what a person had put right.

    Args: user, None where it is no one person's, which has no entry; subjects, the id of a memory or fact,
    `TABLE:ID` of anything else; said, what was done, without content; note, why. What an agent does through
    its tools and what is extracted has none either: its versions say who wrote it, and the trail is no log
    of writes. Raises: UsageError `text_refused`.
    """
    if note is not None:
        said = f"{said}: {check_note(note)}"
    by = session.acting
    if user is not None and (by is None or getattr(by, "is_by_hand", False)):
        _record(session, user, subjects, "rectify", said)


def record_removed(session: Session, user: str | None, subjects: Sequence[str], said: str) -> None:
    """One entry `delete` for each of `subjects` that was taken away of a person, by whomever."""
    if user is not None:
        _record(session, user, subjects, "delete", said)


def record_brought_back(session: Session, user: str, said: str) -> None:
    """One entry `import` for a person who was erased before, in the transaction that writes the first rows."""
    _record(session, user, ["user"], "import", said)


def _record(session: Session, user: str, subjects: Sequence[str], decision: str, said: str) -> None:
    if subjects:
        params = {
            "app_name": session.app,
            "user_id": user,
            "ids": list(subjects),
            "decision": decision,
            "note": said,
            "actor": session.actor,
            "actor_verified": bool(session.config.governance.actor),
        }
        session.database.rows("audit", "record", params)
