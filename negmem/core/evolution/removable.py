"""Whether anything of a user may be removed at all."""

from __future__ import annotations

import shlex

from negmem.core.session import Session
from negmem.errors import NegmemError


def require_removable(session: Session, user: str) -> None:
    """Warn where the user is unknown.

    Raises: NegmemError `user_on_hold` where a legal hold or an erasure forbids to remove anything.
    """
    scope = {"user_id": user, "app_name": session.app}
    standing = session.database.row("curator", "standing", scope)
    if standing is None:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    elif standing["is_held"] or standing["is_erasing"]:
        raise NegmemError(
            "user_on_hold",
            "the memories of this user may not be removed",
            why="the user is under legal hold"
            if standing["is_held"]
            else "the user is being erased",
            hint=f"negmem user show --user {shlex.quote(user)}    says since when and why",
        )
