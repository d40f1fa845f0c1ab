"""Entities, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.learning import ItemVersion
from negmem.core.models.memory import Instant
from negmem.core.models.origin import ItemChange, PartOrigin


class EntityFact(Model):
    """What is so, without a date; `confidence` in 0..1."""

    id: UUID
    content: str
    confidence: float
    written_by: str | None
    created_at: Instant
    updated_at: Instant


class EntityEvent(Model):
    """What happened: `date` as it was said, `happened_at` where that can be read."""

    id: UUID
    content: str
    date: str | None
    happened_at: Instant | None
    written_by: str | None
    created_at: Instant


class EntityRelationship(Model):
    """An edge to another entity; outgoing: this one has the relation to the other."""

    id: UUID
    entity_id: str
    entity_type: str
    name: str
    relation: str
    direction: str
    written_by: str | None
    created_at: Instant


class Entity(Model):
    """One person, firm or thing. `namespace` is global, user or a team; `user_id` whose it is, if one's own."""

    id: UUID
    entity_id: str
    entity_type: str
    name: str
    description: str | None
    properties: dict[str, Any]
    aliases: list[str]
    namespace: str
    user_id: str | None
    written_by: str | None
    facts: list[EntityFact]
    events: list[EntityEvent]
    relationships: list[EntityRelationship]
    version: int
    created_at: Instant
    updated_at: Instant
    archived_at: Instant | None
    deleted_at: Instant | None = None
    metadata: dict[str, Any]


class FoundEntity(Entity):
    """An entity with what it scored, in 0..1; `is_named`: its name or an alias stands in the question."""

    score: float
    is_named: bool


class FoundEntities(Model):
    """Entities that answer a question, best first; `level` is hybrid or keyword, `reason` why no more."""

    entities: list[FoundEntity]
    total: int
    level: str
    reason: str | None


class EntityList(Model):
    """A page of entities, the last changed first."""

    entities: list[Entity]
    total: int
    truncated: bool


class EntityChange(Model):
    """What was done: added, updated, fact_added, event_added, related, removed, undone, unchanged, or proposed (then `proposal_id`)."""

    action: str
    entity: Entity | None
    proposal_id: UUID | None = None
    dry_run: bool = False


class EntityShown(Model):
    """An entity, where it came from, who changed it, and what it was before where that was asked for.

    `origins`, turns of the user who asks, at most three of the entity and of each part: those of others
    stay theirs. `changes`, the last twenty, newest first; `versions`, oldest first. `undo` takes the last
    change back; None: none was made.
    """

    entity: Entity
    origins: list[PartOrigin]
    changes: list[ItemChange]
    undo: str | None
    versions: list[ItemVersion] | None = None
