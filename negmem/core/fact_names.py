"""One name for what facts call by several: `Home City` and `home_city`, 北京 and 北京市, `employer` and `company`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.review import waits
from negmem.core.session import Session
from negmem.core.text.fact_words import key_form, same_value
from negmem.core.text.profile_names import PROFILE, ProfileNames, profile_names

MOST_FACTS = 5_000


@dataclass
class Unified:
    """How many current facts were looked at, and how many keys and values took another's name."""

    looked_at: int = 0
    keys: int = 0
    values: int = 0


def profile_names_of(session: Session) -> ProfileNames:
    """The fields of the profile, by the config, and the names of each."""
    return profile_names(session.config.learning.profile.fields)


def unify(session: Session, user: str, *, checkpoint: Callable[[], None] = lambda: None) -> Unified:
    """Move facts whose key is another's in a different spelling under one key; safe to repeat.

    The key of a profile's fact is the field that it names (`location` stands under `city`); else it is
    the one in plain form (`home_city`), else the oldest.

    Of two facts that then stand under one key and say the same, the newer goes into the older, its
    sources with it; of two that differ, the newer supersedes, as if it had been written so. A profile
    whose writes wait for a person is left as it is.
    """
    scope = {"user_id": user, "app_name": session.app}
    rows = session.database.rows("facts", "current", {**scope, "row_limit": MOST_FACTS})
    if waits(session, "profile"):
        rows = [row for row in rows if row["type"] != PROFILE]
    done = Unified(looked_at=len(rows))
    names = profile_names_of(session)
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        key = names.field_of(row["key"]) if row["type"] == PROFILE else row["key"]
        groups.setdefault((row["type"], key_form(key)), []).append(row)
    for (kind, form), group in groups.items():
        first = next((row for row in group if row["key"] == form), group[0])
        if kind == PROFILE and (key := names.field_of(first["key"])) != first["key"]:
            checkpoint()
            done.keys += _move(session, scope, first["id"], key, first["value"])
            first["key"] = key
        for other in group:
            if other is first:
                continue
            if other["key"] != first["key"]:
                checkpoint()
                done.keys += _move(session, scope, other["id"], first["key"], first["value"])
            elif same_value(first["value"], other["value"]):
                checkpoint()
                done.values += _move(session, scope, other["id"], first["key"], first["value"])
    return done


def _move(session: Session, scope: dict[str, Any], fact_id: UUID, key: str, standing: Any) -> int:
    with session.database.transaction():
        return move(session, scope, fact_id, key, standing)


def move(session: Session, scope: dict[str, Any], fact_id: UUID, key: str, standing: Any) -> int:
    """Write a current fact under another key, inside of a transaction; 0 where it stands no more."""
    row = session.database.row("facts", "one", {**scope, "id": fact_id})
    if row is None:
        return 0
    value = standing if same_value(standing, row["value"]) else row["value"]
    moved = session.database.row(
        "facts",
        "move",
        {**scope, "id": fact_id, "key": key, "value": Jsonb(value), "actor": session.actor},
    )
    return int(bool(moved and moved["moved"]))
