"""`mem.curator`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.pruning import Pruned


class Curator(Noun):
    """`mem.curator`: what is kept of a user's memories."""

    def prune(
        self, *, user: str, max_age_days: float = 0, max_count: int = 0, dry_run: bool = False
    ) -> Pruned:
        """Keep a user's memories to an age and a number; limits of 0 are off."""
        from negmem.core.evolution import prune

        session = self._owner.session
        planned = prune.plan(session, user_of(user), max_age_days=max_age_days, max_count=max_count)
        return prune.preview(session, planned) if dry_run else prune.apply(session, planned)
