"""The stores that the curator keeps, by their names; whose, and who may."""

from __future__ import annotations

from uuid import UUID

from negmem.core.evolution.dedup_shared import EntityStore, LearningStore
from negmem.core.evolution.dedup_stores import (
    SHARED,
    FactStore,
    MemoryStore,
    Store,
    check_store,
)
from negmem.core.evolution.removable import require_removable
from negmem.core.learning.access import Owner, access_of, owner_of
from negmem.core.session import Session
from negmem.errors import UsageError


def parse_run(text: str) -> UUID:
    """The id of a run of the curator. Raises: UsageError `id_malformed`."""
    try:
        return UUID(str(text))
    except ValueError:
        raise UsageError(
            "id_malformed",
            f"{str(text)[:60]!r} is no id of a run",
            why="it is a UUID: told where a run removes, and kept in the metadata of what went (merge_run)",
            hint="negmem memory list --deleted --user NAME --json",
        ) from None


def shared_owner(session: Session, user: str | None, namespace: str) -> Owner:
    """Whose shared store a curator may work on.

    Raises: UsageError `user_missing`, `namespace_invalid`; NegmemError `namespace_denied`, `user_on_hold`.
    """
    if namespace == "all":
        raise UsageError(
            "namespace_invalid",
            "a store is curated one namespace at a time",
            why="--namespace all stands for all that may be read",
            hint="--namespace global",
        )
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    if owner.kind == "user":
        require_removable(session, owner.name)
    return owner


def store_of(
    session: Session, user: str | None, name: str = "memory", *, namespace: str | None = None
) -> Store:
    """The store of that name, of a user or of a namespace (default: global).

    Raises: UsageError `store_unknown`, `user_missing`, `namespace_unfit`; as `shared_owner`.
    """
    check_store(name)
    if name in SHARED:
        owner = shared_owner(session, user, namespace or "global")
        return (LearningStore if name == "learning" else EntityStore)(session, user, owner)
    owned_by = require_user(user, name, namespace)
    require_removable(session, owned_by)
    return FactStore(session, owned_by) if name == "fact" else MemoryStore(session, owned_by)


def require_user(user: str | None, name: str, namespace: str | None) -> str:
    """The user of a store that has no namespaces. Raises: UsageError `user_missing`, `namespace_unfit`."""
    if namespace is not None:
        raise UsageError(
            "namespace_unfit",
            f"the store {name} has no namespaces",
            why="memories and facts belong to one user",
            hint=f"--store {name} --user NAME",
        )
    if user is None:
        raise UsageError(
            "user_missing",
            f"the curator needs to know whose {name} store it works on",
            why="no user was given",
            hint=f"negmem curator dedup --store {name} --user NAME",
        )
    return user
