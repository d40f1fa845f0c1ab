"""`mem.curator`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, id_of, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.dedup import Deduplicated
    from negmem.core.models.pruning import Pruned


class Curator(Noun):
    """`mem.curator`: what is kept of a user's memories."""

    def prune(
        self,
        *,
        user: str | None = None,
        max_age_days: float = 0,
        max_count: int = 0,
        store: str = "memory",
        namespace: str | None = None,
        compat: bool = False,
        dry_run: bool = False,
    ) -> Pruned:
        """Keep a store to an age and a number; limits of 0 are off.

        Args: store, memory, fact, learning, or entity (facts and events of entities); namespace, of learning
        and entity: global (the default), user, or a team; compat, by the rule of the first design.
        """
        from negmem.core.evolution import prune

        session = self._owner.session
        planned = prune.plan(
            session,
            user_or_none(user),
            max_age_days=max_age_days,
            max_count=max_count,
            store=store,
            namespace=namespace,
            compat=compat,
        )
        return prune.preview(session, planned) if dry_run else prune.apply(session, planned)

    def undo_prune(
        self,
        run: UUID | str,
        *,
        user: str | None = None,
        store: str = "learning",
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Pruned:
        """Bring back what a pruning of learnings or entities removed."""
        from negmem.core.evolution import prune
        from negmem.core.evolution.stores import store_of

        session = self._owner.session
        chosen = store_of(session, user_or_none(user), store, namespace=namespace)
        return prune.undo(session, chosen, id_of(run), dry_run=dry_run)

    def dedup(
        self,
        *,
        user: str | None = None,
        semantic: bool = False,
        threshold: float | None = None,
        store: str = "memory",
        namespace: str | None = None,
        compat: bool = False,
        max_comparisons: int | None = None,
        after: UUID | str | None = None,
        dry_run: bool = False,
    ) -> Deduplicated:
        """Remove what is said twice: the same to the letter, with `semantic` also in other words.

        Args: threshold, calibrated similarity in 0..1; store and namespace, as of `prune`; compat, the first
        design's key; max_comparisons, the ceiling of a semantic run, and after, the id where it goes on.
        """
        from negmem.core.evolution import dedup, dedup_options
        from negmem.core.evolution.stores import store_of

        session = self._owner.session
        options = dedup_options.options(
            semantic=semantic,
            threshold=threshold,
            compat=compat,
            max_comparisons=max_comparisons,
            after=None if after is None else id_of(after),
        )
        chosen = store_of(session, user_or_none(user), store, namespace=namespace)
        return dedup.deduplicate(session, chosen, options, dry_run=dry_run)

    def undo_dedup(
        self,
        run: UUID | str,
        *,
        user: str | None = None,
        store: str = "memory",
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Deduplicated:
        """Bring back what a deduplication removed."""
        from negmem.core.evolution import dedup
        from negmem.core.evolution.stores import store_of

        session = self._owner.session
        chosen = store_of(session, user_or_none(user), store, namespace=namespace)
        return dedup.undo(session, chosen, id_of(run), dry_run=dry_run)
