"""Where items came from and who changed them: what `show` of a store and a user's picture tell of each."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from negmem.core.learning.access import Owner
from negmem.core.models.origin import ItemChange, Origin
from negmem.core.session import Session

_CHANGES = 20


def origins_of(session: Session, user: str | None, ids: Sequence[UUID]) -> dict[UUID, list[Origin]]:
    """The turns of one user that items rest on, at most three an item, the newest first.

    What others said stays with them, also where what was learned from it is shared: without a user there
    are none.
    """
    found: dict[UUID, list[Origin]] = {}
    if user is None or not ids:
        return found
    params = {"user_id": user, "app_name": session.app, "ids": list(ids)}
    for row in session.database.rows("stores", "sources", params):
        found.setdefault(row.pop("item_id"), []).append(Origin(**row))
    return found


def changes_of(session: Session, owner: Owner, kind: str, item: UUID) -> list[ItemChange]:
    """The last twenty changes of an item, newest first."""
    params = {**owner.params(session), "item_kind": kind, "id": item, "row_limit": _CHANGES}
    return [ItemChange(**row) for row in session.database.rows("shared_items", "changes", params)]


def taking_back(command: str, owner: Owner, user: str | None) -> str:
    """A command that takes the last change back, as a person would paste it."""
    where = "" if owner.kind == "global" else f" --namespace {owner.namespace}"
    whose = "" if user is None else f" --user {user}"
    return command + (where if " entity " in command else "") + whose
