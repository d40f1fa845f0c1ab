"""Whether the database role sees the rows of all users: what is counted over them is wrong otherwise."""

from __future__ import annotations

from negmem.core.session import Session
from negmem.errors import NegmemError


def require_all_users(session: Session) -> None:
    """Refuse to count over users where row-level security shows this role one at a time.

    Raises: NegmemError `one_user_seen`.
    """
    database = session.database
    if not database.facts.sees_one_user:
        return
    raise NegmemError(
        "one_user_seen",
        "row-level security shows this role one user at a time",
        why=f"no policy on memories lets {database.facts.role} read the rows of all users",
        hint="connect as a member of the role owner or auditor: negmem init --roles",
    )
