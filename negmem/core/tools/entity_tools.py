"""Tools of entities: people, firms, projects and things beside the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from negmem.core.learning import entities, entity_changes
from negmem.core.learning.protocol import Bound
from negmem.core.models.entity import Entity, EntityChange
from negmem.core.tools.definition import (
    Arguments,
    OptionalText,
    OptionalWord,
    Text,
    Word,
    tool,
)
from negmem.core.tools.written import outcome

_DEFAULT = "global"
_FACTS = 10
_EVENTS = 5
_EDGES = 10

EntityWord = Annotated[Word, Field(description="The entity's id, or its name if only one has it.")]
EntityType = Annotated[
    str,
    Field(
        description="person, project, company, system, product, or a word of your own.",
        min_length=1,
        max_length=64,
    ),
]
OptionalType = Annotated[
    OptionalWord, Field(description="Its type, where the id or name alone is not clear.")
]
Properties = Annotated[
    dict[str, str], Field(description="More of it, a text under each name.", max_length=30)
]
Aliases = Annotated[
    list[Word],
    Field(description="Other names it goes by.", max_length=entities.MAX_ALIASES),
]


class SearchEntities(Arguments):
    """Arguments of search_entities."""

    query: Annotated[
        OptionalText,
        Field(description="A name, or what you want to know; leave out to list the latest."),
    ] = None
    entity_type: Annotated[OptionalWord, Field(description="Only of this type, when listing.")] = (
        None
    )
    limit: Annotated[int, Field(description="At most so many.", ge=1, le=20)] = 5


class CreateEntity(Arguments):
    """Arguments of create_entity."""

    entity_id: Annotated[Word, Field(description="A new id, lower case with _, such as zhang_san.")]
    entity_type: EntityType
    name: Annotated[Word, Field(description="The name as people write it.")]
    description: Annotated[OptionalText, Field(description="What it is, in a sentence.")] = None
    properties: Properties = {}  # noqa: RUF012  frozen, and pydantic copies defaults
    aliases: Aliases = []  # noqa: RUF012


class UpdateEntity(Arguments):
    """Arguments of update_entity."""

    entity: EntityWord
    entity_type: OptionalType = None
    name: Annotated[OptionalWord, Field(description="The new name; leave out to keep it.")] = None
    description: Annotated[
        OptionalText, Field(description="The new description; leave out to keep it.")
    ] = None
    properties: Properties = {}  # noqa: RUF012
    aliases: Aliases = []  # noqa: RUF012


class AddFact(Arguments):
    """Arguments of add_fact."""

    entity: EntityWord
    entity_type: OptionalType = None
    fact: Annotated[Text, Field(description="What is so of it, without a date: a standing state.")]


class UpdateFact(Arguments):
    """Arguments of update_fact."""

    entity: EntityWord
    entity_type: OptionalType = None
    fact_id: Annotated[UUID, Field(description="The id of the fact, from search_entities.")]
    fact: Annotated[Text, Field(description="What is so instead: the complete new text.")]


class DeleteFact(Arguments):
    """Arguments of delete_fact."""

    entity: EntityWord
    entity_type: OptionalType = None
    fact_id: Annotated[UUID, Field(description="The id of the fact, from search_entities.")]


class AddEvent(Arguments):
    """Arguments of add_event."""

    entity: EntityWord
    entity_type: OptionalType = None
    event: Annotated[Text, Field(description="What happened to it.")]
    date: Annotated[
        OptionalWord, Field(description="When, as 2026-03-01, 2026-03, 2026-Q1 or as it was said.")
    ] = None


class AddRelationship(Arguments):
    """Arguments of add_relationship."""

    entity: EntityWord
    relation: Annotated[
        str, Field(description="Such as works_at or 任职于.", min_length=1, max_length=255)
    ]
    other: Annotated[Word, Field(description="The other entity's id or name.")]
    direction: Annotated[
        Literal["outgoing", "incoming"],
        Field(description="incoming: the other has the relation to this one."),
    ] = "outgoing"
    entity_type: OptionalType = None
    other_type: OptionalType = None


@tool("entity", SearchEntities)
def search_entities(bound: Bound, given: SearchEntities) -> Mapping[str, Any]:
    """Search people, firms, projects and things that are known, with their facts, events and relationships.
    Names are found inside a sentence too. Search before you create one."""
    namespace = bound.in_namespace(_DEFAULT)
    if given.query is None:
        page = entities.list_entities(
            bound.session,
            bound.user,
            entity_type=given.entity_type,
            namespace=namespace,
            limit=given.limit,
        )
        return {"entities": [_shown(one) for one in page.entities], "total": page.total}
    found = entities.search_entities(
        bound.session, bound.user, given.query, namespace=namespace, limit=given.limit
    )
    return {"entities": [_shown(one) for one in found.entities], "total": found.total}


def _shown(one: Entity) -> dict[str, Any]:
    """What an agent reads of an entity: the newest of what there is much of, and how much that is."""
    facts = [{"id": str(fact.id), "fact": fact.content} for fact in one.facts]
    events = [{"event": event.content, "date": event.date} for event in one.events]
    edges = [
        {
            "relation": edge.relation,
            "direction": edge.direction,
            "other": f"{edge.entity_type}/{edge.entity_id}",
            "name": edge.name,
        }
        for edge in one.relationships
    ]
    return {
        "id": str(one.id),
        "entity": f"{one.entity_type}/{one.entity_id}",
        "name": one.name,
        "aliases": one.aliases,
        "description": one.description,
        "properties": one.properties,
        "facts": facts[-_FACTS:],
        "all_facts": len(facts),
        "events": events[-_EVENTS:],
        "all_events": len(events),
        "relationships": edges[-_EDGES:],
        "all_relationships": len(edges),
    }


@tool("entity", CreateEntity, writes=True)
def create_entity(bound: Bound, given: CreateEntity) -> Mapping[str, Any]:
    """Add a person, firm, project or thing that is not there yet. What concerns the user goes into the
    profile or memory instead."""
    done = entities.add(
        bound.session,
        bound.user,
        given.entity_id,
        entity_type=given.entity_type,
        name=given.name,
        description=given.description,
        properties=given.properties,
        aliases=given.aliases,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


@tool("entity", UpdateEntity, writes=True)
def update_entity(bound: Bound, given: UpdateEntity) -> Mapping[str, Any]:
    """Change the name, description, properties or aliases of an entity; what is left out stays."""
    namespace = bound.in_namespace(_DEFAULT)
    stands = entities.show(
        bound.session,
        bound.user,
        given.entity,
        entity_type=given.entity_type,
        namespace=namespace,
    ).entity
    done = entities.add(
        bound.session,
        bound.user,
        stands.entity_id,
        entity_type=stands.entity_type,
        name=given.name or stands.name,
        description=given.description,
        properties={**stands.properties, **given.properties} if given.properties else None,
        aliases=given.aliases,
        namespace=namespace,
        update=True,
    )
    return _written(done)


@tool("entity", AddFact, writes=True)
def add_fact(bound: Bound, given: AddFact) -> Mapping[str, Any]:
    """Add what is so of an entity. If it needs a date or says that something happened, use add_event."""
    done = entities.add_fact(
        bound.session,
        bound.user,
        given.entity,
        given.fact,
        entity_type=given.entity_type,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


@tool("entity", UpdateFact, writes=True)
def update_fact(bound: Bound, given: UpdateFact) -> Mapping[str, Any]:
    """Replace a fact of an entity that is no longer so, or was said wrongly, by what is so. What stood before
    is kept as superseded."""
    done = entity_changes.replace_fact(
        bound.session,
        bound.user,
        given.entity,
        given.fact_id,
        given.fact,
        entity_type=given.entity_type,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


@tool("entity", DeleteFact, writes=True)
def delete_fact(bound: Bound, given: DeleteFact) -> Mapping[str, Any]:
    """Retire a fact of an entity that holds no more and that nothing takes the place of; a person can bring
    it back. If something else holds instead, use update_fact."""
    done = entity_changes.replace_fact(
        bound.session,
        bound.user,
        given.entity,
        given.fact_id,
        entity_type=given.entity_type,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


@tool("entity", AddEvent, writes=True)
def add_event(bound: Bound, given: AddEvent) -> Mapping[str, Any]:
    """Add what happened to an entity, with its date where it is known."""
    done = entities.add_event(
        bound.session,
        bound.user,
        given.entity,
        given.event,
        date=given.date,
        entity_type=given.entity_type,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


@tool("entity", AddRelationship, writes=True)
def add_relationship(bound: Bound, given: AddRelationship) -> Mapping[str, Any]:
    """Relate two entities that are both there."""
    done = entities.relate(
        bound.session,
        bound.user,
        given.entity,
        given.relation,
        given.other,
        direction=given.direction,
        entity_type=given.entity_type,
        other_type=given.other_type,
        namespace=bound.in_namespace(_DEFAULT),
    )
    return _written(done)


def _written(done: EntityChange) -> dict[str, Any]:
    one = done.entity
    named = (
        {} if one is None else {"id": str(one.id), "entity": f"{one.entity_type}/{one.entity_id}"}
    )
    return {**outcome(done), **named}


TOOLS = (
    search_entities,
    create_entity,
    update_entity,
    add_fact,
    update_fact,
    delete_fact,
    add_event,
    add_relationship,
)
