"""What a run of deduplication came to: what went and for what, what was kept apart, and how many."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.core.models.dedup import Deduplicated, DuplicatePair, VetoedPair

if TYPE_CHECKING:
    from negmem.core.evolution.dedup_options import DedupOptions
    from negmem.core.evolution.dedup_stores import Store
    from negmem.core.merging import Merge, Text

_LISTED = 10_000
_LISTED_VETOED = 200


class Tally:
    """Counts of one run, in bounded memory but for the ids of what went and what stays for it.

    `compared` pairs were looked at, `changed` were another meanwhile, `unmeasured` had no vector.
    """

    def __init__(self) -> None:
        self.gone: set[UUID] = set()
        self.stays: set[UUID] = set()
        self.compared = 0
        self.changed = 0
        self.unmeasured = 0
        self.removed = 0
        self._vetoed = 0
        self._merged: list[Merge] = []
        self._seen_apart: set[int] = set()
        self._nearest_vetoed: list[tuple[float, int, VetoedPair]] = []
        self._turn = count()

    def merged(self, merge: Merge) -> None:
        """One went for another."""
        self.gone.add(merge.loser)
        self.stays.add(merge.survivor)
        self.removed += 1
        if len(self._merged) < _LISTED:
            self._merged.append(merge)

    def vetoed(self, one: Text, other: Text, guard: str, similarity: float | None) -> None:
        """A rule kept two apart; the nearest are listed, each pair once."""
        named = hash(frozenset((one.id, other.id)))
        if guard == "exact" or named in self._seen_apart:
            return
        self._seen_apart.add(named)
        self._vetoed += 1
        pair = VetoedPair(
            one=one.id,
            other=other.id,
            guard=guard,
            similarity=similarity,
            one_content=one.content,
            other_content=other.content,
        )
        entry = (1.0 if similarity is None else similarity, -next(self._turn), pair)
        if len(self._nearest_vetoed) < _LISTED_VETOED:
            heapq.heappush(self._nearest_vetoed, entry)
        else:
            heapq.heappushpop(self._nearest_vetoed, entry)

    def outcome(
        self,
        store: Store,
        options: DedupOptions,
        *,
        blank: int,
        resume_after: UUID | None,
        run_id: UUID | None,
    ) -> Deduplicated:
        """All of it; `run_id` is None for a dry run, `blank` counts items without words."""
        vetoed = sorted(self._nearest_vetoed, key=lambda entry: entry[:2], reverse=True)
        is_dry = run_id is None
        return Deduplicated(
            store=store.name,
            mode="compat" if options.compat else "semantic" if options.semantic else "exact",
            threshold=options.threshold if options.semantic else None,
            groups=len(self.stays),
            removed=self.removed,
            kept=store.count() - (self.removed if is_dry else 0),
            vetoed=self._vetoed,
            blank=blank,
            compared=self.compared,
            changed_meanwhile=self.changed,
            restored=0,
            resume_after=resume_after,
            dry_run=is_dry,
            run_id=run_id if self.removed else None,
            pairs=[_pair(merge) for merge in self._merged],
            pairs_left_out=self.removed - len(self._merged),
            vetoed_pairs=[pair for _, _, pair in vetoed],
        )


def undone(store: Store, run_id: UUID, restored: int, *, dry_run: bool) -> Deduplicated:
    """What an undo came to."""
    return Deduplicated(
        store=store.name,
        mode="undo",
        threshold=None,
        groups=0,
        removed=0,
        kept=store.count(),
        vetoed=0,
        blank=0,
        compared=0,
        changed_meanwhile=0,
        restored=restored,
        resume_after=None,
        dry_run=dry_run,
        run_id=run_id,
        pairs=[],
        pairs_left_out=0,
        vetoed_pairs=[],
    )


def _pair(merge: Merge) -> DuplicatePair:
    return DuplicatePair(
        survivor=merge.survivor,
        removed=merge.loser,
        exact=merge.exact,
        similarity=merge.similarity,
        survivor_content=merge.survivor_text,
        removed_content=merge.loser_text,
    )
