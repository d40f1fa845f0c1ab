"""Profiles: who a user is, field by field, checked by a schema. A field is an active fact of type profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from negmem.core import facts
from negmem.core import review_targets as targets
from negmem.core.fact_names import profile_names_of
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.models.fact import Fact
from negmem.core.models.profile import Profile, ProfileChange, ProfileField
from negmem.core.pii import gated, gated_write
from negmem.core.review import reviewed
from negmem.core.session import Session
from negmem.core.text.fact_words import fact_text
from negmem.core.text.profile_names import PROFILE
from negmem.core.text.profile_values import plain_value, read_value
from negmem.errors import NegmemError, UsageError

TYPE = PROFILE
_MOST = 1000


def schema_of(session: Session) -> dict[str, str]:
    """Each field with its type: text, integer, number, boolean, date or list."""
    return dict(profile_names_of(session).kinds)


def _said(arguments: Mapping[str, Any]) -> list[str]:
    return [fact_text(arguments["field"], arguments["value"])]


@gated
def show(session: Session, user: str) -> Profile:
    """What is known of a user, set by hand or extracted, and what is not: a field has one value.

    What was written under another name of a field and was not moved to it yet is read as the field: what
    was set by hand before what was extracted, then what stands under the field's own name, then the newest.
    """
    names = profile_names_of(session)
    schema = names.kinds
    found = facts.list_facts(session, user, fact_type=TYPE, limit=_MOST)
    standing: dict[str, Fact] = {}
    for fact in found.facts:
        field = names.field_of(fact.key)
        if field not in standing or _weight(fact, field) > _weight(standing[field], field):
            standing[field] = fact
    known = [
        ProfileField(
            id=fact.id,
            field=field,
            value=plain_value(fact.value, schema.get(field)),
            declared=schema.get(field),
            confidence=fact.confidence,
            origin=fact.origin,
            sources=fact.sources,
            version=fact.version,
            updated_at=fact.updated_at,
            metadata=fact.metadata,
        )
        for field, fact in standing.items()
    ]
    places = {name: place for place, name in enumerate(schema)}
    known.sort(key=lambda one: (places.get(one.field, len(places)), one.field))
    here = {one.field for one in known}
    return Profile(
        user=user,
        fields=known,
        missing=[name for name in schema if name not in here],
        truncated=found.truncated,
    )


def _weight(fact: Fact, field: str) -> tuple[bool, bool, datetime]:
    return fact.origin == "manual", fact.key == field, fact.valid_from or fact.created_at


@gated_write
@reviewed("profile", "update", targets.profile_key, texts=_said)
def set_field(
    session: Session,
    user: str,
    field: str,
    value: Any,
    *,
    note: str | None = None,
    dry_run: bool = False,
) -> ProfileChange:
    """Set a field of the schema by hand: it stands against what is extracted until it is set anew.

    Where a value stood it is a rectification: an entry on the trail, with `note` for why.
    Args: field, by any of its names; value, of the field's type, or a text that reads as one.
    Raises: UsageError `profile_field_unknown`, `profile_value_invalid`.
    """
    names = profile_names_of(session)
    schema = names.kinds
    field = names.field_of(field)
    if field not in schema:
        raise UsageError(
            "profile_field_unknown",
            f"{field[:60]!r} is no field of a profile",
            why=f"the fields are {', '.join(schema)}",
            hint=f"learning.profile.fields: [{field[:60]}:text]    in the YAML",
        )
    checked = checked_value(field, schema[field], value)
    done = facts.set_fact(session, user, TYPE, field, checked, note=note, dry_run=dry_run)
    return ProfileChange(
        action=done.action,
        field=field,
        value=checked if done.fact is None else plain_value(done.fact.value, schema[field]),
        previous=None if done.previous is None else plain_value(done.previous.value, schema[field]),
        metadata={} if done.fact is None else done.fact.metadata,
        dry_run=dry_run,
    )


@gated_write
@reviewed("profile", "delete", targets.profile_key)
def unset_field(session: Session, user: str, field: str, *, dry_run: bool = False) -> ProfileChange:
    """Take what is known of a field away; `fact restore` brings it back.

    Raises: NegmemError `profile_field_unset`.
    """
    names = profile_names_of(session)
    field = names.field_of(field)
    # Past the gate: what this role may not see, it may still take away; the answer goes through the gate.
    ungated = facts.list_facts.__wrapped__  # type: ignore[attr-defined]
    standing = ungated(session, user, fact_type=TYPE, key=field, limit=_MOST).facts
    if not standing:
        raise NegmemError(
            "profile_field_unset",
            "nothing is known of this field",
            why=f'user "{user}" has no {field[:60]!r} in the profile',
            hint=f"negmem profile show --user {user}",
        )
    facts.remove(session, user, [one.id for one in standing], reason="unset", dry_run=dry_run)
    return ProfileChange(
        action="removed",
        field=field,
        value=None,
        previous=plain_value(standing[0].value, names.kinds.get(field)),
        metadata=standing[0].metadata,
        dry_run=dry_run,
    )


@gated_write
@reviewed("profile", "update", targets.profile_key)
def undo(session: Session, user: str, field: str, *, dry_run: bool = False) -> ProfileChange:
    """Take the last change of a field back: a value set anew, a first value, a removal, an undo.

    What was extracted and comes back so is set by hand from then on.
    Raises: NegmemError `nothing_to_undo`.
    """
    names = profile_names_of(session)
    field = names.field_of(field)
    # Past the gate, as in `unset_field`; the answer goes through it.
    listed = facts.list_facts.__wrapped__  # type: ignore[attr-defined]
    versions = facts.history.__wrapped__  # type: ignore[attr-defined]
    standing = listed(session, user, fact_type=TYPE, key=field, limit=_MOST).facts
    value, now = None, standing[0] if standing else None
    kind = names.kinds.get(field)
    if now is None:
        gone = listed(session, user, fact_type=TYPE, key=field, removed=True, limit=_MOST).facts
        if not gone:
            raise NegmemError(
                "nothing_to_undo",
                "nothing was changed here",
                why=f'user "{user}" never had {field[:60]!r} in the profile',
                hint=f"negmem profile show --user {user}",
            )
        value = gone[0].value
        if not dry_run:
            facts.restore(session, user, [gone[0].id])
    else:
        before = _before(versions(session, user, now.id).versions, now, field)
        if before:
            value = before[-1].value
            facts.set_fact(session, user, TYPE, field, value, dry_run=dry_run)
        else:
            ids = [one.id for one in standing]
            facts.remove(session, user, ids, reason="undone", dry_run=dry_run)
    return ProfileChange(
        action="undone",
        field=field,
        value=plain_value(value, kind),
        previous=None if now is None else plain_value(now.value, kind),
        metadata={} if now is None else now.metadata,
        dry_run=dry_run,
    )


def _before(versions: Sequence[Fact], now: Fact, field: str) -> list[Fact]:
    """The versions whose place `now` took: what was refused beside it was never one, a move to the field no change."""
    moved = {now.id}
    for one in versions:
        if one.superseded_by in moved and one.key != field and one.value == now.value:
            moved.add(one.id)
    return [
        one
        for one in versions
        if one.superseded_by in moved and one.id not in moved and one.expired_at != one.created_at
    ]


@gated_write
@reviewed("profile", "update", targets.profile_key)
def learn(
    session: Session,
    user: str,
    key: str,
    value: Any,
    *,
    confidence: float = 1.0,
    occurred_at: datetime | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    event_ids: Sequence[UUID] = (),
    extractor: str = "pattern",
    model: str | None = None,
    dry_run: bool = False,
) -> ProfileChange:
    """What an extractor found of a user, under whatever key; what was set by hand stands against it.

    Raises: as `facts.write_facts`.
    """
    names = profile_names_of(session)
    key = names.field_of(key)
    write = FactWrite(
        TYPE,
        key,
        value,
        confidence=confidence,
        occurred_at=occurred_at,
        valid_from=valid_from,
        valid_until=valid_until,
        event_ids=tuple(one if isinstance(one, UUID) else UUID(str(one)) for one in event_ids),
        extractor=extractor,
        model=model,
    )
    before = targets.profile_key(session, user, {"key": key}).fields.get("value")
    said = plain_value(value, names.kinds.get(key))
    action = "unchanged" if before == said else "superseded" if before is not None else "added"
    if not dry_run:
        action = write_facts(session, user, [write])[0].action
    return ProfileChange(
        action=action, field=key, value=said, previous=before, metadata={}, dry_run=dry_run
    )


def checked_value(field: str, kind: str, value: Any) -> Any:
    """The value as its type has it. Raises: UsageError `profile_value_invalid`."""
    try:
        read = read_value(kind, value)
    except (ValueError, TypeError):
        raise UsageError(
            "profile_value_invalid",
            f"this can't be the {field}",
            why=f"{str(value)[:60]!r} is no {kind}",
            hint=f"negmem profile set {field} {_EXAMPLES[kind]} --user NAME",
        ) from None
    return read


_EXAMPLES = {
    "text": "王芳",
    "integer": "42",
    "number": "1.75",
    "boolean": "true",
    "date": "1990-03-01",
    "list": "tea,coffee",
}
