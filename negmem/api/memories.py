"""`mem.memory`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.api.arguments import Noun, id_of, ids_of, user_of

if TYPE_CHECKING:
    from negmem.core.models.association import LinkChange, LinkedItems, TopicList
    from negmem.core.models.memory import AddedMemory, MemoryChange, MemoryList
    from negmem.core.models.memory import Memory as MemoryItem
    from negmem.core.models.memory_history import MemoryHistory


class Memories(Noun):
    """`mem.memory`: single memories."""

    def add(
        self,
        content: str,
        *,
        user: str,
        type: str = "episodic",
        thread: str | None = None,
        metadata: dict[str, Any] | None = None,
        occurred_at: datetime | None = None,
        id: UUID | str | None = None,
    ) -> AddedMemory:
        """Store one memory, searchable at once. With `id` a repeat stores nothing twice."""
        from negmem.core import memories

        return memories.add(
            self._owner.session,
            user_of(user),
            content,
            memory_type=type,
            thread=thread,
            metadata=metadata,
            occurred_at=occurred_at,
            memory_id=None if id is None else id_of(id),
        )

    def list(
        self,
        *,
        user: str,
        type: str | None = None,
        thread: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        where: Mapping[str, Any] | None = None,
        deleted: bool = False,
        pinned: bool = False,
        newest_first: bool = True,
        limit: int = 20,
        offset: int = 0,
    ) -> MemoryList:
        """A page of a user's memories, by when they were said.

        `where` is metadata that must be there: `{"source": "observation"}` for what was learned of the user.
        """
        from negmem.core import memories

        return memories.list_memories(
            self._owner.session,
            user_of(user),
            memory_type=type,
            thread=thread,
            since=since,
            until=until,
            where=where,
            deleted=deleted,
            pinned=pinned,
            newest_first=newest_first,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str) -> MemoryItem:
        """One memory, removed or not."""
        from negmem.core import memories

        return memories.show(self._owner.session, user_of(user), id_of(id))

    def edit(
        self,
        id: UUID | str,
        *,
        user: str,
        content: str | None = None,
        type: str | None = None,
        metadata: dict[str, Any] | None = None,
        expected_version: int | None = None,
        note: str | None = None,
    ) -> MemoryItem:
        """Change a memory; what it said before is kept, and the trail has it with `note` for why."""
        from negmem.core import memories

        return memories.edit(
            self._owner.session,
            user_of(user),
            id_of(id),
            content=content,
            memory_type=type,
            metadata=metadata,
            expected_version=expected_version,
            note=note,
        )

    def undo(self, id: UUID | str, *, user: str, note: str | None = None) -> MemoryItem:
        """Take the last edit back; a second `undo` takes back the first."""
        from negmem.core import memories

        return memories.undo(self._owner.session, user_of(user), id_of(id), note=note)

    def history(self, id: UUID | str, *, user: str) -> MemoryHistory:
        """What a memory said before, what it took in or went into, and the turns it comes from."""
        from negmem.core import memory_history

        return memory_history.history(self._owner.session, user_of(user), id_of(id))

    def rm(self, ids: UUID | str | Iterable[UUID | str], *, user: str) -> MemoryChange:
        """Remove memories: out of every search at once, back with `restore`."""
        from negmem.core import memories

        return memories.remove(self._owner.session, user_of(user), ids_of(ids))

    def restore(self, ids: UUID | str | Iterable[UUID | str], *, user: str) -> MemoryChange:
        """Bring removed memories back."""
        from negmem.core import memories

        return memories.restore(self._owner.session, user_of(user), ids_of(ids))

    def pin(self, ids: UUID | str | Iterable[UUID | str], *, user: str) -> MemoryChange:
        """Keep memories from fading and from pruning."""
        from negmem.core import memories

        return memories.pin(self._owner.session, user_of(user), ids_of(ids))

    def unpin(self, ids: UUID | str | Iterable[UUID | str], *, user: str) -> MemoryChange:
        """Let memories fade again."""
        from negmem.core import memories

        return memories.unpin(self._owner.session, user_of(user), ids_of(ids))

    def link(
        self,
        id: UUID | str,
        other: UUID | str,
        *,
        user: str,
        type: str = "related_to",
        weight: float = 0.5,
    ) -> LinkChange:
        """Link two memories, facts or entities; `causes` and `follows` go from `id` to `other`."""
        from negmem.core import associations

        return associations.link(
            self._owner.session,
            user_of(user),
            id_of(id),
            id_of(other),
            association_type=type,
            weight=weight,
        )

    def unlink(
        self, id: UUID | str, other: UUID | str, *, user: str, type: str | None = None
    ) -> LinkChange:
        """Take links between two items back, of one type or of all; none is made again by itself."""
        from negmem.core import associations

        return associations.unlink(
            self._owner.session, user_of(user), id_of(id), id_of(other), association_type=type
        )

    def links(
        self,
        id: UUID | str,
        *,
        user: str,
        depth: int = 1,
        max_tokens: int | None = None,
        min_weight: float = 0.0,
        types: Iterable[str] | None = None,
    ) -> LinkedItems:
        """What is linked to an item within so many hops, nearest first, within a budget of tokens."""
        from negmem.core import associations

        return associations.links(
            self._owner.session,
            user_of(user),
            id_of(id),
            depth=depth,
            max_tokens=max_tokens,
            min_weight=min_weight,
            types=None if types is None else tuple(types),
        )

    def topics(self, *, user: str, limit: int = 20, offset: int = 0) -> TopicList:
        """A page of a user's topics, groups of similar memories, the largest first."""
        from negmem.core import topics

        return topics.list_topics(self._owner.session, user_of(user), limit=limit, offset=offset)
