"""What calls that write would change, for their review: profile facts, and memories that are observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negmem.core.fact_names import profile_names_of
from negmem.core.learning.access import Owner
from negmem.core.review import Target
from negmem.core.session import Session
from negmem.core.text.profile_names import PROFILE
from negmem.core.text.profile_values import plain_value

OBSERVATION = "observation"


def profile_key(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """The fact that stands under a field of the profile."""
    names = profile_names_of(session)
    keys = names.keys_of(arguments.get("field") or arguments.get("key") or "")
    rows = _facts(session, user, keys=keys)[:1]
    for row in rows:
        row["value"] = plain_value(row["value"], names.kinds.get(keys[0]))
    return _of(user, rows, "value")


def profile_facts(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """The facts of some ids; one alone has a version to be compared."""
    rows = _facts(session, user, ids=arguments.get("ids"))
    return _of(user, rows if len(rows) == 1 else [], "value")


def is_profile(session: Session, user: str | None, arguments: Mapping[str, Any]) -> bool:
    """Whether a call for facts by their ids concerns the profile."""
    rows = _facts(session, user, ids=arguments.get("ids"))
    return any(row["fact_type"] == PROFILE for row in rows)


def is_profile_type(session: Session, user: str | None, arguments: Mapping[str, Any]) -> bool:
    """Whether a call for a fact by its type and key concerns the profile."""
    return arguments.get("fact_type") == PROFILE


def memories(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """The memory that a call names; several have no version to be compared."""
    rows = _memories(session, user, arguments)
    return _of(user, rows if len(rows) == 1 else [], "content")


def is_observation(session: Session, user: str | None, arguments: Mapping[str, Any]) -> bool:
    """Whether a call concerns memories of the store user memory."""
    said = (arguments.get("metadata") or {}).get("source")
    if said == OBSERVATION:
        return True
    return any(row["is_observation"] for row in _memories(session, user, arguments))


def _facts(session: Session, user: str | None, **named: Any) -> list[dict[str, Any]]:
    params = {
        "user_id": user,
        "app_name": session.app,
        "fact_type": PROFILE,
        "keys": named.get("keys"),
        "ids": list(named.get("ids") or ()),
    }
    return session.database.rows("proposals", "fact", params)


def _memories(
    session: Session, user: str | None, arguments: Mapping[str, Any]
) -> list[dict[str, Any]]:
    one = arguments.get("memory_id")
    ids = list(arguments.get("ids") or ([one] if one is not None else []))
    if not ids:
        return []
    params = {"user_id": user, "app_name": session.app, "ids": ids}
    return session.database.rows("proposals", "memory", params)


def _of(user: str | None, rows: list[dict[str, Any]], field: str) -> Target:
    owner = Owner("user", user or "")
    if not rows:
        return Target(owner)
    row = rows[0]
    return Target(owner, row["id"], row["version"], {field: row[field]})
