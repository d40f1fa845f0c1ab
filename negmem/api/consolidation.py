"""`mem.consolidation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.api.arguments import Noun, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.consolidation import Queue


class Consolidation(Noun):
    """`mem.consolidation`: the queue that `mem.consolidate` works on."""

    def list(
        self,
        *,
        job: str | None = None,
        user: str | None = None,
        thread: str | None = None,
        state: str | None = None,
        limit: int = 20,
    ) -> Queue:
        """The queue: jobs that need somebody first, then those that ended, latest first.

        Args: state, running, parked, due, waiting, completed or cancelled.
        """
        from negmem.core.formation.consolidate import list_queue

        return list_queue(
            self._owner.session,
            job=job,
            user=user_or_none(user),
            thread=thread,
            state=state,
            limit=limit,
        )
