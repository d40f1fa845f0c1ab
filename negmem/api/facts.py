"""`mem.fact` and `mem.conflict`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.conflict import Conflict, ConflictList, ConflictResolved
    from negmem.core.models.fact import (
        Fact,
        FactChange,
        FactHistory,
        FactList,
        FactMatches,
        WrittenFact,
    )


def _id(id: UUID | str) -> UUID:
    from negmem.core.facts import parse_id

    return parse_id(id)


def _ids(ids: UUID | str | Iterable[UUID | str]) -> list[UUID]:
    return [_id(ids)] if isinstance(ids, (UUID, str)) else [_id(one) for one in ids]


def _conflict_id(id: UUID | str) -> UUID:
    from negmem.core.conflicts import parse_id

    return parse_id(id)


class Facts(Noun):
    """`mem.fact`: what is known by key, in versions."""

    def set(
        self,
        type: str,
        key: str,
        value: Any,
        *,
        user: str,
        confidence: float = 1.0,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        note: str | None = None,
    ) -> WrittenFact:
        """Set a fact by hand: it stands against what is extracted, until it is set anew. `note`: why, for the trail."""
        from negmem.core import facts

        return facts.set_fact(
            self._owner.session,
            user_of(user),
            type,
            key,
            value,
            confidence=confidence,
            valid_from=valid_from,
            valid_until=valid_until,
            note=note,
        )

    def list(
        self,
        *,
        user: str,
        type: str | None = None,
        key: str | None = None,
        thread: str | None = None,
        as_of: datetime | None = None,
        believed_at: datetime | None = None,
        deleted: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> FactList:
        """A page of what was true at `as_of`, by what was believed at `believed_at`; None means now."""
        from negmem.core import facts

        return facts.list_facts(
            self._owner.session,
            user_of(user),
            fact_type=type,
            key=key,
            thread=thread,
            as_of=as_of,
            believed_at=believed_at,
            removed=deleted,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str) -> Fact:
        """One version of a fact, in force or not."""
        from negmem.core import facts

        return facts.show(self._owner.session, user_of(user), _id(id))

    def history(
        self,
        id: UUID | str | None = None,
        *,
        user: str,
        key: str | None = None,
        type: str | None = None,
    ) -> FactHistory:
        """All versions under the key of one fact, named by `id`, else by `key` and perhaps `type`."""
        from negmem.core import facts

        session = self._owner.session
        wanted = facts.find_key(session, user_of(user), key or "", type) if id is None else _id(id)
        return facts.history(session, user_of(user), wanted)

    def search(
        self,
        query: str,
        *,
        user: str,
        type: str | None = None,
        as_of: datetime | None = None,
        believed_at: datetime | None = None,
        limit: int = 10,
    ) -> FactMatches:
        """What of a user's facts answers a question, of those that were true at a moment."""
        from negmem.core import fact_search

        return fact_search.search_facts(
            self._owner.session,
            user_of(user),
            query,
            fact_type=type,
            as_of=as_of,
            believed_at=believed_at,
            limit=limit,
        )

    def rm(self, ids: UUID | str | Iterable[UUID | str], *, user: str) -> FactChange:
        """Remove facts: out of every search at once, back with `restore`."""
        from negmem.core import facts

        return facts.remove(self._owner.session, user_of(user), _ids(ids))

    def restore(self, ids: UUID | str | Iterable[UUID | str], *, user: str) -> FactChange:
        """Bring removed facts back, unless another value stands under their key by now."""
        from negmem.core import facts

        return facts.restore(self._owner.session, user_of(user), _ids(ids))


class Conflicts(Noun):
    """`mem.conflict`: facts that stand against each other."""

    def list(
        self,
        *,
        user: str,
        status: str | None = None,
        detected_by: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> ConflictList:
        """A page of conflicts, the newest first."""
        from negmem.core import conflicts

        return conflicts.list_conflicts(
            self._owner.session,
            user_of(user),
            status=status,
            detected_by=detected_by,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str) -> Conflict:
        """One conflict with both facts as they stand now."""
        from negmem.core import conflicts

        return conflicts.show(self._owner.session, user_of(user), _conflict_id(id))

    def resolve(self, id: UUID | str, resolution: str, *, user: str) -> ConflictResolved:
        """Decide a conflict: supersede, keep_old, keep_new, keep_both or merge."""
        from negmem.core import conflicts

        session = self._owner.session
        return conflicts.resolve(session, user_of(user), _conflict_id(id), resolution)

    def undo(self, id: UUID | str, *, user: str) -> ConflictResolved:
        """Take the last decision about a conflict back."""
        from negmem.core import conflicts

        return conflicts.undo(self._owner.session, user_of(user), _conflict_id(id))
