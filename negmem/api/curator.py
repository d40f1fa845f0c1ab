"""`mem.curator`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, id_of, user_of

if TYPE_CHECKING:
    from negmem.core.models.dedup import Deduplicated
    from negmem.core.models.pruning import Pruned


class Curator(Noun):
    """`mem.curator`: what is kept of a user's memories."""

    def prune(
        self,
        *,
        user: str,
        max_age_days: float = 0,
        max_count: int = 0,
        store: str = "memory",
        compat: bool = False,
        dry_run: bool = False,
    ) -> Pruned:
        """Keep a user's memories (or facts) to an age and a number; limits of 0 are off.

        Args: store, memory or fact; compat, by the rule of the first design.
        """
        from negmem.core.evolution import prune

        session = self._owner.session
        planned = prune.plan(
            session,
            user_of(user),
            max_age_days=max_age_days,
            max_count=max_count,
            store=store,
            compat=compat,
        )
        return prune.preview(session, planned) if dry_run else prune.apply(session, planned)

    def dedup(
        self,
        *,
        user: str,
        semantic: bool = False,
        threshold: float | None = None,
        store: str = "memory",
        compat: bool = False,
        max_comparisons: int | None = None,
        after: UUID | str | None = None,
        dry_run: bool = False,
    ) -> Deduplicated:
        """Remove what is said twice: the same to the letter, with `semantic` also in other words.

        Args: threshold, calibrated similarity in 0..1; compat, the first design's key;
        max_comparisons, the ceiling of a semantic run, and after, the id where it goes on.
        """
        from negmem.core.evolution import dedup, dedup_options, prune
        from negmem.core.evolution.dedup_stores import store_of

        session, owner = self._owner.session, user_of(user)
        options = dedup_options.options(
            semantic=semantic,
            threshold=threshold,
            compat=compat,
            max_comparisons=max_comparisons,
            after=None if after is None else id_of(after),
        )
        prune.require_removable(session, owner)
        chosen = store_of(session, owner, store)
        return dedup.deduplicate(session, chosen, options, dry_run=dry_run)

    def undo_dedup(
        self, run: UUID | str, *, user: str, store: str = "memory", dry_run: bool = False
    ) -> Deduplicated:
        """Bring back what a deduplication removed."""
        from negmem.core.evolution import dedup, prune
        from negmem.core.evolution.dedup_stores import store_of

        session, owner = self._owner.session, user_of(user)
        prune.require_removable(session, owner)
        chosen = store_of(session, owner, store)
        return dedup.undo(session, chosen, id_of(run), dry_run=dry_run)
