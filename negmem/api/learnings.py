"""`mem.learn`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.learning import (
        FoundLearnings,
        LearningChange,
        LearningList,
        LearningShown,
        LearningVersions,
    )


def _id(id: UUID | str) -> UUID:
    from negmem.core.text.ids import parsed_id

    return parsed_id(id, "learning", "mem.learn.list()")


class Learnings(Noun):
    """`mem.learn`: lessons, searched before they are saved."""

    def save(
        self,
        title: str,
        learning: str,
        *,
        context: str | None = None,
        tags: Sequence[str] = (),
        namespace: str = "global",
        user: str | None = None,
        anyway: bool = False,
    ) -> LearningChange:
        """Save a lesson, unless one like it is there: it is searched for first."""
        from negmem.core.learning import learnings

        return learnings.save(
            self._owner.session,
            user_or_none(user),
            title=title,
            learning=learning,
            context=context,
            tags=tags,
            namespace=namespace,
            anyway=anyway,
        )

    def search(
        self,
        query: str,
        *,
        namespace: str = "global",
        user: str | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> FoundLearnings:
        """Lessons that answer a question, by words and by meaning."""
        from negmem.core.learning import learnings

        return learnings.search_learnings(
            self._owner.session,
            user_or_none(user),
            query,
            namespace=namespace,
            limit=limit,
            offset=offset,
        )

    def list(
        self,
        *,
        namespace: str = "global",
        user: str | None = None,
        tags: Sequence[str] = (),
        deleted: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> LearningList:
        """Lessons, the last changed first."""
        from negmem.core.learning import learnings

        return learnings.list_learnings(
            self._owner.session,
            user_or_none(user),
            namespace=namespace,
            tags=tags,
            removed=deleted,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str | None = None) -> LearningShown:
        """One lesson, whole, with the turns of `user` it rests on and who changed it."""
        from negmem.core.learning import learnings

        return learnings.show(self._owner.session, user_or_none(user), _id(id))

    def edit(
        self,
        id: UUID | str,
        *,
        user: str | None = None,
        title: str | None = None,
        learning: str | None = None,
        context: str | None = None,
        tags: Sequence[str] | None = None,
        expected_version: int | None = None,
    ) -> LearningChange:
        """Change a lesson; what it said before is kept. An empty `context` takes it away."""
        from negmem.core.learning import learnings

        return learnings.edit(
            self._owner.session,
            user_or_none(user),
            _id(id),
            title=title,
            learning=learning,
            context=context,
            tags=tags,
            expected_version=expected_version,
        )

    def rm(
        self,
        id: UUID | str,
        *,
        user: str | None = None,
        reason: str | None = None,
        expected_version: int | None = None,
    ) -> LearningChange:
        """Take a lesson out of search and contexts; `undo` brings it back."""
        from negmem.core.learning import learnings

        return learnings.remove(
            self._owner.session,
            user_or_none(user),
            _id(id),
            reason=reason,
            expected_version=expected_version,
        )

    def versions(self, id: UUID | str, *, user: str | None = None) -> LearningVersions:
        """A lesson and what it said before, oldest first."""
        from negmem.core.learning import learnings

        return learnings.versions(self._owner.session, user_or_none(user), _id(id))

    def undo(self, id: UUID | str, *, user: str | None = None) -> LearningChange:
        """Take the last change back: an edit, a removal, or an undo."""
        from negmem.core.learning import learnings

        return learnings.undo(self._owner.session, user_or_none(user), _id(id))
