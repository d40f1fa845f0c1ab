"""An entity together with what is known of it: one act, and so one proposal where writes wait for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from negmem.core.learning import entities, items
from negmem.core.learning.access import Owner, access_of, owner_of
from negmem.core.learning.entity_rows import HINT, entity_key, invalid, one_entity, resolved
from negmem.core.learning.reading_prompt import Operation
from negmem.core.models.entity import Entity, EntityChange
from negmem.core.pii import gated_write
from negmem.core.review import Target, reviewed, together
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.errors import NegmemError

_MOST = 50
_PARTS = ("add", "fact", "event", "relate")


def introductions(
    operations: Sequence[Operation], stands: Callable[[str, str | None], bool]
) -> tuple[list[tuple[Operation, dict[str, Any]]], list[Operation]]:
    """Operations on entities that do not stand, each entity's as the arguments of one `introduce`; and the rest.

    Args: stands, whether a name and type are those of an entity. With the arguments comes an operation that
    has all their turns. A relation of two new entities comes with the later one, so that both are there.
    """
    named: dict[str, str] = {}
    for one in operations:
        if one.store == "entity" and one.op in _PARTS and one.target is None and one.name:
            key = entity_key(one.name)
            if key not in named and not stands(one.name, one.type):
                named[key] = one.name
    order = list(named)
    found: dict[str, list[tuple[Operation, dict[str, Any]]]] = {}
    rest = []
    for one in operations:
        own = entity_key(one.name) if one.target is None and one.name else ""
        far = entity_key(one.other) if one.op == "relate" and one.other else ""
        turns = [str(turn.event_id) for turn in one.turns]
        if one.store != "entity" or one.op not in _PARTS or not {own, far} & named.keys():
            rest.append(one)
        elif one.op != "relate":
            said = {"confidence": one.confidence} if one.op == "fact" else {"date": one.date}
            part = {"text": one.text, "event_ids": turns, **said}
            found.setdefault(own, []).append((one, {} if one.op == "add" else part))
        elif far in named and (own not in named or order.index(far) > order.index(own)):
            other = one.name if one.target is None else one.target.reference
            edge = {"relation": one.relation, "other": other, "direction": "incoming"}
            found.setdefault(far, []).append((one, edge))
        elif far in named or stands(one.other or "", None):
            edge = {"relation": one.relation, "other": one.other, "direction": "outgoing"}
            found.setdefault(own, []).append((one, edge))
        else:
            rest.append(one)
    return [_introduction(named[key], found[key]) for key in order if key in found], rest


def _introduction(
    name: str, parts: Sequence[tuple[Operation, dict[str, Any]]]
) -> tuple[Operation, dict[str, Any]]:
    own = [one for one, _ in parts if one.name == name] or [parts[0][0]]
    turns = tuple({turn.event_id: turn for one, _ in parts for turn in one.turns}.values())
    given = {
        "name": name,
        "entity_type": own[0].type or "",
        "description": next((one.text for one, _ in parts if one.op == "add" and one.text), None),
        "facts": [part for one, part in parts if one.op == "fact"],
        "events": [part for one, part in parts if one.op == "event"],
        "relations": [part for one, part in parts if one.op == "relate"],
        "event_ids": [str(turn.event_id) for turn in turns],
    }
    sure = min(one.confidence for one, _ in parts)
    return replace(own[0], turns=turns, confidence=sure), given


def standing(session: Session, owner: Owner, name: str, entity_type: str | None) -> Entity | None:
    """The entity of a name. Raises: NegmemError `entity_ambiguous` where there are several."""
    rows = resolved(session, [owner], name, entity_type)
    if not rows and entity_type is None and "/" in name:
        kind, _, rest = name.partition("/")
        rows = resolved(session, [owner], rest, kind)
    rows = [row for row in rows if row["by_id"]] or rows
    if len(rows) > 1:
        raise NegmemError(
            "entity_ambiguous",
            "the name stands for several entities",
            why=", ".join(f"{row['entity_type']}/{row['entity_id']}" for row in rows[:5]),
            hint="negmem entity search NAME",
        )
    return one_entity(session, [owner], rows[0]["id"]) if rows else None


def _whose(session: Session, user: str | None, arguments: Mapping[str, Any]) -> Target:
    """Whose the entity would be; that it stands by then does not stand against what is known of it."""
    return Target(owner_of(user, arguments.get("namespace", "global")))


@gated_write
@reviewed("entity", "add", _whose)
def introduce(
    session: Session,
    user: str | None,
    name: str,
    *,
    entity_type: str,
    description: str | None = None,
    facts: Sequence[Mapping[str, Any]] = (),
    events: Sequence[Mapping[str, Any]] = (),
    relations: Sequence[Mapping[str, Any]] = (),
    event_ids: Sequence[UUID | str] = (),
    namespace: str = "global",
    dry_run: bool = False,
) -> EntityChange:
    """Add an entity with its parts, in one transaction; one that stands under the name gets the parts alone.

    Args: facts, each with `text`, `confidence`; events, with `text`, `date`; relations, with `relation`,
    `other`, `direction`; `event_ids` of each part, and of the entity, are the turns that say so.
    Raises: as `entities.add`, `entities.add_fact`, `entities.relate`.
    """
    owner = owner_of(user, namespace)
    access_of(session, user).require(owner, "write")
    for part in (*facts, *events):
        items.cleaned(str(part["text"]), "fact or event", HINT)
    if len(facts) + len(events) + len(relations) > _MOST:
        raise invalid(f"at most {_MOST} parts at once")
    where: dict[str, Any] = {"namespace": namespace}
    given = {**where, "entity_type": entity_type, "name": name, "description": description}
    if dry_run:
        if standing(session, owner, name, entity_type) is not None:
            return EntityChange(action="updated", entity=None, dry_run=True)
        return entities.add(session, user, name, **given, dry_run=True)

    def write() -> tuple[str, UUID]:
        with together(session, []):
            stands = standing(session, owner, name, entity_type)
            action = "added" if stands is None else "updated"
            if stands is None:
                stands = entities.add(session, user, name, **given).entity
            assert stands is not None
            reference = f"{stands.entity_type}/{stands.entity_id}"
            _cite(session, user, "entity", stands.id, event_ids)
            for fact in facts:
                done = entities.add_fact(
                    session,
                    user,
                    reference,
                    fact["text"],
                    confidence=float(fact.get("confidence", 1.0)),
                    **where,
                )
                cite_part(session, user, done.entity, fact["text"], fact.get("event_ids", ()))
            for event in events:
                done = entities.add_event(
                    session, user, reference, event["text"], date=event.get("date"), **where
                )
                cite_part(session, user, done.entity, event["text"], event.get("event_ids", ()))
            for edge in relations:
                direction = str(edge.get("direction", "outgoing"))
                entities.relate(
                    session,
                    user,
                    reference,
                    edge["relation"],
                    edge["other"],
                    direction=direction,
                    **where,
                )
            return action, stands.id

    action, made = items.retried(write)
    return EntityChange(action=action, entity=one_entity(session, [owner], made))


def cite_part(
    session: Session,
    user: str | None,
    entity: Entity | None,
    text: str | None,
    events: Sequence[UUID | str],
) -> None:
    """Note the turns that a fact or event of an entity rests on."""
    if entity is None or not text:
        return
    key = exact_key(text)
    for kind, parts in (("entity_fact", entity.facts), ("entity_event", entity.events)):
        for part in parts:
            if exact_key(part.content) == key:
                _cite(session, user, kind, part.id, events)


def cite_evidence(
    session: Session,
    user: str | None,
    arguments: Mapping[str, Any],
    answer: Any,
    evidence: Sequence[Mapping[str, Any]],
) -> None:
    """Note the turns that an approved proposal rests on with what its write has made of shared things."""
    turns = [str(one["turn"]) for one in evidence if one.get("turn")]
    lesson, entity = getattr(answer, "learning", None), getattr(answer, "entity", None)
    if lesson is not None and hasattr(lesson, "title"):
        _cite(session, user, "learning", lesson.id, turns)
    elif isinstance(entity, Entity) and "event_ids" not in arguments:
        text = arguments.get("text")
        if text:
            cite_part(session, user, entity, text, turns)
        else:
            _cite(session, user, "entity", entity.id, turns)


def _cite(
    session: Session, user: str | None, kind: str, item: UUID, events: Sequence[UUID | str]
) -> None:
    if user is not None:
        items.cite(session, user, kind, item, [UUID(str(one)) for one in events])
