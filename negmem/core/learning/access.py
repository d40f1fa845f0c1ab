"""Who may read and write which shared store: the one rule, asked before every act on one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from negmem.core.session import Session
from negmem.core.text.names import MAX_NAME_CHARACTERS, check_name
from negmem.errors import NegmemError, UsageError

RESERVED = ("global", "user", "all")
"""Names that no team can have: they name the app's store, the user's own, and all that may be read."""
_WRITERS = frozenset(("writer", "admin"))


@dataclass(frozen=True)
class Owner:
    """Whose a row of a shared store is: user and id, team and name, global and the empty name."""

    kind: str
    name: str

    @property
    def namespace(self) -> str:
        """What `--namespace` calls it: global, user, or the team."""
        return self.name if self.kind == "team" else self.kind

    @property
    def person(self) -> str | None:
        """The user whose it is alone; None where it is a team's or the app's."""
        return self.name if self.kind == "user" else None

    @property
    def on_trail(self) -> str:
        """How the trail keeps whose it is: the user, or the namespace behind a prefix."""
        if self.kind == "user":
            return self.name
        said = f"namespace:{self.namespace}"
        if len(said) <= MAX_NAME_CHARACTERS:
            return said
        return f"namespace:{hashlib.sha256(self.name.encode()).hexdigest()}"

    def params(self, session: Session) -> dict[str, Any]:
        """The parameters that begin the key of its rows."""
        return {"owner_kind": self.kind, "owner": self.name, "app_name": session.app}


@dataclass(frozen=True)
class Access:
    """What one user, or nobody in particular, may reach."""

    user: str | None
    roles: dict[Owner, str]

    @property
    def readable(self) -> list[Owner]:
        """All owners whose rows may be read."""
        return list(self.roles)

    def may(self, owner: Owner, want: Literal["read", "write"]) -> bool:
        """Whether rows of an owner may be read, or written."""
        role = self.roles.get(owner)
        return role is not None and (want == "read" or role in _WRITERS)

    def require(self, owner: Owner, want: Literal["read", "write"]) -> None:
        """Raises: NegmemError `namespace_denied`, the same for a team that does not exist."""
        if not self.may(owner, want):
            who = "nobody in particular" if self.user is None else f'user "{self.user}"'
            team = owner.namespace
            raise NegmemError(
                "namespace_denied",
                f"{who} may not {want} in the namespace {team[:60]!r}",
                why=f"the role there is {self.roles.get(owner, 'none')}",
                hint=f"negmem namespace grant {team} {self.user or 'USER'} --role"
                f" {'reader' if want == 'read' else 'writer'}",
            )


def access_of(session: Session, user: str | None) -> Access:
    """What a user may reach now; None: who asks is not known, and only the app's own store counts."""
    params = {
        "user_id": user,
        "app_name": session.app,
        "global_access": session.config.learning.global_access,
    }
    rows = session.database.rows("namespaces", "accessible", params)
    return Access(user, {Owner(row["kind"], row["name"]): row["role"] for row in rows})


def owner_of(user: str | None, namespace: str) -> Owner:
    """Whose store a namespace names for a user; says nothing of rights.

    Raises: UsageError `user_missing` for what depends on a user, `name_invalid`.
    """
    check_name(namespace, "namespace")
    if namespace == "global":
        return Owner("global", "")
    if user is None:
        raise UsageError(
            "user_missing",
            f"the namespace {namespace[:60]!r} needs to know who asks",
            why="no --user was given, and only global is open to nobody in particular",
            hint=f"--namespace {namespace} --user NAME",
        )
    return Owner("user", user) if namespace == "user" else Owner("team", namespace)


def reach(
    session: Session, user: str | None, namespace: str, want: Literal["read", "write"]
) -> list[Owner]:
    """The owners that a namespace stands for: one, or with `all` every one that may be read.

    Raises: UsageError `user_missing`, `name_invalid`, `namespace_invalid`; NegmemError
    `namespace_denied`.
    """
    if namespace == "all":
        if want == "write":
            raise UsageError(
                "namespace_invalid",
                "nothing is written into all namespaces",
                why="--namespace all stands for all that may be read",
                hint="--namespace global",
            )
        return access_of(session, user).readable
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, want)
    return [owner]
