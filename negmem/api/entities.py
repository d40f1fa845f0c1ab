"""`mem.entity`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.entity import EntityChange, EntityList, EntityShown, FoundEntities


class Entities(Noun):
    """`mem.entity`: people, firms and things, with facts, events and relations."""

    def add(
        self,
        id: str,
        *,
        entity_type: str,
        name: str,
        description: str | None = None,
        properties: Mapping[str, str] | None = None,
        aliases: Sequence[str] = (),
        namespace: str = "global",
        update: bool = False,
        user: str | None = None,
    ) -> EntityChange:
        """Add an entity; another one under its id and type is refused, never merged."""
        from negmem.core.learning import entities

        return entities.add(
            self._owner.session,
            user_or_none(user),
            id,
            entity_type=entity_type,
            name=name,
            description=description,
            properties=properties,
            aliases=aliases,
            namespace=namespace,
            update=update,
        )

    def fact(
        self,
        id: str,
        text: str,
        *,
        entity_type: str | None = None,
        confidence: float = 1.0,
        namespace: str = "global",
        user: str | None = None,
    ) -> EntityChange:
        """Add what is so of an entity."""
        from negmem.core.learning import entities

        return entities.add_fact(
            self._owner.session,
            user_or_none(user),
            id,
            text,
            entity_type=entity_type,
            confidence=confidence,
            namespace=namespace,
        )

    def event(
        self,
        id: str,
        text: str,
        *,
        date: str | None = None,
        entity_type: str | None = None,
        namespace: str = "global",
        user: str | None = None,
    ) -> EntityChange:
        """Add what happened to an entity."""
        from negmem.core.learning import entities

        return entities.add_event(
            self._owner.session,
            user_or_none(user),
            id,
            text,
            date=date,
            entity_type=entity_type,
            namespace=namespace,
        )

    def relate(
        self,
        id: str,
        relation: str,
        other: str,
        *,
        direction: str = "outgoing",
        entity_type: str | None = None,
        other_type: str | None = None,
        namespace: str = "global",
        user: str | None = None,
    ) -> EntityChange:
        """Relate two entities of one namespace."""
        from negmem.core.learning import entities

        return entities.relate(
            self._owner.session,
            user_or_none(user),
            id,
            relation,
            other,
            direction=direction,
            entity_type=entity_type,
            other_type=other_type,
            namespace=namespace,
        )

    def replace(
        self,
        id: str,
        fact: UUID | str,
        text: str | None = None,
        *,
        entity_type: str | None = None,
        namespace: str = "global",
        user: str | None = None,
    ) -> EntityChange:
        """A fact holds no more, and `text` instead; it stays stored, as superseded."""
        from negmem.core.learning import entity_changes
        from negmem.core.text.ids import parsed_id

        return entity_changes.replace_fact(
            self._owner.session,
            user_or_none(user),
            id,
            parsed_id(fact, "fact of an entity", "negmem entity show ID --json"),
            text,
            entity_type=entity_type,
            namespace=namespace,
        )

    def rm(
        self,
        id: str,
        *,
        part: UUID | str | None = None,
        reason: str = "removed by hand",
        entity_type: str | None = None,
        namespace: str = "global",
        user: str | None = None,
    ) -> EntityChange:
        """Take an entity, or a part of it, out of search and contexts; `undo` brings it back."""
        from negmem.core.learning import entity_changes
        from negmem.core.text.ids import parsed_id

        hint = "negmem entity show ID --json"
        return entity_changes.remove(
            self._owner.session,
            user_or_none(user),
            id,
            part=None if part is None else parsed_id(part, "part of an entity", hint),
            reason=reason,
            entity_type=entity_type,
            namespace=namespace,
        )

    def undo(
        self,
        id: str,
        *,
        entity_type: str | None = None,
        namespace: str = "global",
        user: str | None = None,
    ) -> EntityChange:
        """Take the last change back, a removal too; a second undo takes back the first."""
        from negmem.core.learning import entity_changes

        return entity_changes.undo(
            self._owner.session,
            user_or_none(user),
            id,
            entity_type=entity_type,
            namespace=namespace,
        )

    def list(
        self,
        *,
        entity_type: str | None = None,
        namespace: str = "global",
        limit: int = 20,
        offset: int = 0,
        user: str | None = None,
    ) -> EntityList:
        """Entities, the last changed first."""
        from negmem.core.learning import entities

        return entities.list_entities(
            self._owner.session,
            user_or_none(user),
            entity_type=entity_type,
            namespace=namespace,
            limit=limit,
            offset=offset,
        )

    def show(
        self,
        id: str,
        *,
        entity_type: str | None = None,
        namespace: str = "global",
        history: bool = False,
        user: str | None = None,
    ) -> EntityShown:
        """One entity with its facts, events and relations."""
        from negmem.core.learning import entities

        return entities.show(
            self._owner.session,
            user_or_none(user),
            id,
            entity_type=entity_type,
            namespace=namespace,
            history=history,
        )

    def search(
        self,
        query: str,
        *,
        namespace: str = "global",
        limit: int = 10,
        offset: int = 0,
        user: str | None = None,
    ) -> FoundEntities:
        """Entities that a text names or that answer it."""
        from negmem.core.learning import entities

        return entities.search_entities(
            self._owner.session,
            user_or_none(user),
            query,
            namespace=namespace,
            limit=limit,
            offset=offset,
        )
