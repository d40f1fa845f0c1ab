"""Namespaces: made, shared with users, and taken back. Who may do what there says `access`."""

from __future__ import annotations

from typing import Any

from negmem.core.learning.access import RESERVED
from negmem.core.models.namespace import ROLES, Namespace, NamespaceChange, Namespaces
from negmem.core.session import Session
from negmem.core.text.names import check_name
from negmem.errors import NegmemError, UsageError


def create(
    session: Session, name: str, *, admin: str | None = None, dry_run: bool = False
) -> NamespaceChange:
    """Make a team's namespace; `admin` becomes its first member. One that exists is left as it is.

    Raises: UsageError `name_invalid`, `namespace_invalid`; NegmemError `namespace_exists` where it
    exists and `admin` is no member of it.
    """
    check_name(name, "namespace")
    if name in RESERVED or name != name.strip() or not name.isprintable():
        raise UsageError(
            "namespace_invalid",
            f"no team can have the name {name[:60]!r}",
            why=f"{', '.join(RESERVED)} have their own meaning; blanks at the ends and control"
            " characters can't be typed again",
            hint="negmem namespace create sales",
        )
    place = {"app_name": session.app, "name": name, "kind": "team"}
    with session.database.transaction():
        # The plan of a dry run reads the same rows that the act would meet.
        stands = session.database.row("namespaces", "lock", place) is not None
        if stands and admin is not None and _role(session, place, admin) is None:
            raise NegmemError(
                "namespace_exists",
                f"there is a namespace {name[:60]!r} already",
                why=f'user "{admin}" is no member of it',
                hint=f"negmem namespace grant {name} {admin} --role admin",
            )
        if not stands and not dry_run:
            made = session.database.row("namespaces", "create", {**place, "actor": session.actor})
            stands = made is None
            if admin is not None:
                _write_grant(session, place, admin, "admin")
    return NamespaceChange(
        action="create",
        namespace=name,
        user=admin,
        role=None if admin is None else "admin",
        changed=not stands,
        dry_run=dry_run,
    )


def grant(
    session: Session, name: str, user: str, *, role: str = "reader", dry_run: bool = False
) -> NamespaceChange:
    """Give a user a role in a team or in global, in place of the one before.

    Raises: UsageError `role_unknown`, `namespace_invalid`; NegmemError `namespace_unknown`.
    """
    if role not in ROLES:
        raise UsageError(
            "role_unknown",
            f"{role[:60]!r} is no role in a namespace",
            why=f"the roles are {', '.join(ROLES)}",
            hint="--role writer",
        )
    with session.database.transaction():
        place = _place(session, name)
        before = _role(session, place, user)
        if before != role and not dry_run:
            _write_grant(session, place, user, role)
    return NamespaceChange(
        action="grant",
        namespace=name,
        user=user,
        role=role,
        previous_role=before,
        changed=before != role,
        dry_run=dry_run,
    )


def revoke(session: Session, name: str, user: str, *, dry_run: bool = False) -> NamespaceChange:
    """Take a user's role in a team or in global away; what the user wrote there stays there.

    Raises: UsageError `namespace_invalid`; NegmemError `namespace_unknown`.
    """
    with session.database.transaction():
        place = _place(session, name)
        before = _role(session, place, user)
        if before is not None and not dry_run:
            session.database.execute("namespaces", "revoke", {**place, "user_id": user})
    return NamespaceChange(
        action="revoke",
        namespace=name,
        user=user,
        previous_role=before,
        changed=before is not None,
        dry_run=dry_run,
    )


def list_namespaces(session: Session, *, user: str | None = None) -> Namespaces:
    """The namespaces of the app with their members; with `user` those where the user has a role."""
    params = {"app_name": session.app, "user_id": user, "name": None, "kind": None}
    rows = session.database.rows("namespaces", "list", params)
    return Namespaces(
        namespaces=[Namespace(**row) for row in rows],
        global_access=session.config.learning.global_access,
    )


def _place(session: Session, name: str) -> dict[str, Any]:
    """The row of a namespace, locked. Raises as `grant`."""
    check_name(name, "namespace")
    if name in ("user", "all"):
        raise UsageError(
            "namespace_invalid",
            f"the namespace {name} can't be shared",
            why="user is each user's own, all is what a user may read",
            hint="negmem namespace list",
        )
    is_global = name == "global"
    place = {
        "app_name": session.app,
        "name": "" if is_global else name,
        "kind": "global" if is_global else "team",
    }
    if session.database.row("namespaces", "lock", place) is None and not is_global:
        raise NegmemError(
            "namespace_unknown",
            "there is no such namespace",
            why=f'app "{session.app}" has no namespace {name[:60]!r}',
            hint=f"negmem namespace create {name}",
        )
    return place


def _role(session: Session, place: dict[str, Any], user: str) -> str | None:
    row = session.database.row("namespaces", "role_of", {**place, "user_id": user})
    return None if row is None else str(row["role"])


def _write_grant(session: Session, place: dict[str, Any], user: str, role: str) -> None:
    values = {**place, "user_id": user, "role": role, "actor": session.actor}
    session.database.execute("namespaces", "grant", values)
