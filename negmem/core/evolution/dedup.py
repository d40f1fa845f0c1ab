"""Deduplication of a whole store: complete by key, near by vector, decided by the rules of merging.

Three looks. Items of one meaning key, which is coarser than the rules. Nearest neighbours by sign bits, which
show what is near and must stay apart. Items of one exact key, all of them. In each group the one that ranks
first stays; the rest is compared with it and never with what went for it, so that likeness
does not chain. What a pair of texts may be merged by is decided in core/merging.py alone.
"""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.core.evolution.dedup_groups import Groups, grouped
from negmem.core.evolution.dedup_options import DedupOptions
from negmem.core.evolution.dedup_stores import Store
from negmem.core.evolution.dedup_tally import Tally, undone
from negmem.core.merging import (
    Company,
    Merge,
    Text,
    guard_between,
    rank,
    stored_scale,
    who_stays,
)
from negmem.core.models.dedup import Deduplicated
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.core.text.compat_key import compat_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEIGHBOURS = 4
REVIEWED_FROM = 0.35
"""Calibrated similarity from which a pair that rules keep apart is worth a look; unrelated ones reach 0.3."""
_LEADERS = 8
_BATCH = 500
_LARGE = 2_000


@dataclass
class _Verdicts:
    """What a batch of groups came to, before vectors are asked."""

    agreed: list[tuple[Text, Text, bool]] = field(default_factory=list)
    vetoed: list[tuple[Text, Text, str]] = field(default_factory=list)


class Deduplication:
    """One run over one store; `run` does it, and touches nothing where it is dry."""

    def __init__(
        self,
        session: Session,
        store: Store,
        options: DedupOptions,
        *,
        dry_run: bool,
        on_progress: Callable[[str, int, int], None] = lambda what, done, of: None,
    ) -> None:
        self._session = session
        self._store = store
        self._options = options
        self._is_dry = dry_run
        self._on_progress = on_progress
        self._scale = stored_scale(session).documents
        self._reviewed_from = max(options.threshold, REVIEWED_FROM)
        self._run_id = uuid.uuid4()
        self._tally = Tally()
        self._company = Company()

    def run(self) -> Deduplicated:
        """Look, merge, and say what was done."""
        options = self._options
        found = grouped(
            self._store.items(),
            semantic=options.semantic,
            compat=options.compat,
            on_progress=lambda seen: self._on_progress("read", seen, 0),
        )
        # What says the same goes first, the copies of each wording with it: a copy that had been taken in
        # by its own wording would keep that from going.
        resume_after = self._semantic(found) if options.semantic else None
        for group in self._batched(found.exact, found.ids):
            self._exact(group)
        tally = self._tally
        if tally.unmeasured:
            self._session.warn(
                "vectors_missing",
                f"{tally.unmeasured:,} pairs that may say the same have no vector, and stay: negmem embed status",
            )
        if resume_after is not None:
            self._session.warn(
                "dedup_stopped",
                f"stopped at {tally.compared:,} comparisons, resume with --after {resume_after}",
            )
        return tally.outcome(
            self._store,
            options,
            blank=found.blank,
            resume_after=resume_after,
            run_id=None if self._is_dry else self._run_id,
        )

    def _batched(self, groups: Sequence[list[int]], ids: list[UUID]) -> Iterator[list[list[UUID]]]:
        """Groups of ids, some together while they are small."""
        batch: list[list[UUID]] = []
        size = 0
        for done, group in enumerate(groups):
            batch.append([ids[place] for place in group])
            size += len(group)
            if size >= _BATCH:
                yield batch
                batch, size = [], 0
                self._on_progress("exact", done + 1, len(groups))
        if batch:
            yield batch

    def _exact(self, groups: list[list[UUID]]) -> None:
        small = [group for group in groups if len(group) <= _LARGE]
        texts = self._texts([one for group in small for one in group])
        verdicts = _Verdicts()
        for group in small:
            self._judge([texts[one] for one in group if one in texts], [], verdicts, exact=True)
        self._close(verdicts, exact=True)
        for group in groups:
            if len(group) > _LARGE:
                self._judge_large(group, exact=True)

    def _judge_large(self, group: list[UUID], *, exact: bool) -> None:
        """A group of which not all texts are held at once: the first in rank is found, then the rest comes by."""
        leader: Text | None = None
        pieces = [group[start : start + _LARGE] for start in range(0, len(group), _LARGE)]
        for piece in pieces:
            best = min(self._texts(piece).values(), key=self._rank, default=None)
            if best is not None and (leader is None or self._rank(best) < self._rank(leader)):
                leader = best
        if leader is None:
            return
        leaders = [leader]
        for piece in pieces:
            verdicts = _Verdicts()
            rest = [one for one in self._texts(piece).values() if one.id != leader.id]
            self._judge(rest, leaders, verdicts, exact=exact)
            self._close(verdicts, exact=exact)

    def _texts(self, ids: Sequence[UUID]) -> dict[UUID, Text]:
        """Those that are live; what took in another in this run counts as one that did before."""
        wanted = [one for one in ids if one not in self._tally.gone]
        found = self._store.texts(wanted) if wanted else {}
        return {
            one: replace(text, took_in=True) if one in self._tally.stays else text
            for one, text in found.items()
        }

    def _rank(self, text: Text) -> tuple[object, ...]:
        if self._options.compat:
            return (text.created_at, text.moment, text.position or 0, str(text.id))
        return rank(text)

    def _judge(
        self, texts: list[Text], leaders: list[Text], verdicts: _Verdicts, *, exact: bool
    ) -> None:
        """Each, in order of rank, goes for the first that stays and says the same, or stays itself."""
        for text in sorted(texts, key=self._rank):
            refused: list[tuple[Text, Text, str]] = []
            for leader in leaders[:_LEADERS]:
                self._tally.compared += 0 if exact else 1
                guard, is_exact = self._guard(leader, text, exact)
                if guard is None and (text.is_pinned or text.took_in):
                    guard = "pinned" if text.is_pinned else "chain"
                if guard is None and self._company.is_barred(leader, text):
                    guard = "kept_apart"
                if guard is None:
                    self._company.join(leader, text)
                    verdicts.agreed.append((leader, text, is_exact))
                    break
                refused.append((leader, text, guard))
            else:
                leaders.append(text)
                verdicts.vetoed += refused

    def _guard(
        self, one: Text, other: Text, exact: bool, similarity: float | None = None
    ) -> tuple[str | None, bool]:
        if self._options.compat:
            is_same = compat_key(one.content) == compat_key(other.content)
            return None if is_same else "exact", is_same
        beside = self._store.apart(one, other)
        if beside is not None:
            return beside, False
        guard, is_exact = guard_between(one, other, exact, similarity)
        # An interjection belongs to the talk around it; one that stands alone is a text like any other.
        if guard == "short" and is_exact and one.position is None and other.position is None:
            return None, True
        return guard, is_exact

    def _close(self, verdicts: _Verdicts, *, exact: bool) -> None:
        """Ask the vectors about what the rules found, and merge."""
        if exact:
            measured: dict[tuple[UUID, UUID], float] = {}
        else:
            pairs = [(one.id, other.id) for one, other, _ in verdicts.agreed]
            pairs += [(one.id, other.id) for one, other, _ in verdicts.vetoed]
            measured = self._similarities(pairs)
        # A copy that has no vector is as near as the other copies of its text.
        by_text = {
            (survivor.id, loser.content): measured[survivor.id, loser.id]
            for survivor, loser, _ in verdicts.agreed
            if (survivor.id, loser.id) in measured
        }
        merges = []
        for survivor, loser, is_exact in verdicts.agreed:
            similarity = by_text.get((survivor.id, loser.content))
            if not is_exact and self._store.has_vectors:
                if similarity is None:
                    self._tally.unmeasured += 1
                    continue
                if similarity < self._options.threshold:
                    continue
            merges.append(_merge(survivor, loser, similarity, is_exact))
        for one, other, guard in verdicts.vetoed:
            similarity = measured.get((one.id, other.id))
            if exact or (similarity or 0) >= self._reviewed_from:
                self._tally.vetoed(one, other, guard, similarity)
        self._apply(merges)

    def _similarities(self, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], float]:
        found = self._store.cosines(pairs)
        return {pair: round(self._scale.similarity(cos), 6) for pair, cos in found.items()}

    def _apply(self, merges: list[Merge]) -> None:
        for start in range(0, len(merges), _BATCH):
            batch = merges[start : start + _BATCH]
            if self._is_dry:
                done = {(merge.survivor, merge.loser) for merge in batch}
            else:
                done = set(self._store.apply(batch, self._run_id))
            self._tally.changed += len(batch) - len(done)
            for merge in batch:
                if (merge.survivor, merge.loser) in done:
                    self._tally.merged(merge)

    def _semantic(self, found: Groups) -> UUID | None:
        """The looks by meaning and by vector, in order of id; where they stopped, or None."""
        pairs = self._near(found)
        starts = pairs[:, 0]
        blocks: dict[int, list[list[int]]] = defaultdict(list)
        for group in found.alike:
            blocks[group[0]].append(group)
        first = 0 if self._options.after is None else bisect_right(found.ids, self._options.after)
        for begin in range(first, len(found.ids), _BATCH):
            if self._tally.compared >= self._options.most_compared:
                return found.ids[begin - 1]
            end = min(begin + _BATCH, len(found.ids))
            self._meaning(
                [group for place in range(begin, end) for group in blocks.pop(place, [])], found
            )
            lower, upper = starts.searchsorted([begin, end])
            self._neighbours(pairs[lower:upper], found)
            self._on_progress("compared", end, len(found.ids))
        return None

    def _near(self, found: Groups) -> NDArray[np.int32]:
        """Pairs of places that are near by their sign bits; none where there are no vectors."""
        import numpy as np

        from negmem.core.evolution.dedup_neighbours import nearest_pairs

        places: list[int] = []
        packed = bytearray()
        width = 0
        place_of = {one: place for place, one in enumerate(found.ids)}
        for one, bits in self._store.bits():
            place = place_of.get(one)
            if place is None or one in self._tally.gone or (width and len(bits) != width):
                continue
            width = len(bits)
            places.append(place)
            packed += bits
        if not places:
            return np.zeros((0, 2), dtype=np.int32)
        rows = np.frombuffer(packed, dtype=np.uint8).reshape(len(places), width)
        where = np.array(places, dtype=np.int32)
        classes = np.array(found.classes, dtype=np.int32)[where]
        return where[nearest_pairs(rows, classes, NEIGHBOURS)]

    def _meaning(self, groups: list[list[int]], found: Groups) -> None:
        small = [group for group in groups if len(group) <= _LARGE]
        texts = self._texts([found.ids[place] for group in small for place in group])
        verdicts = _Verdicts()
        for group in small:
            members = [texts[found.ids[p]] for p in group if found.ids[p] in texts]
            self._judge(members, [], verdicts, exact=False)
        self._close(verdicts, exact=False)
        for group in groups:
            if len(group) > _LARGE:
                self._judge_large([found.ids[place] for place in group], exact=False)

    def _neighbours(self, pairs: NDArray[np.int32], found: Groups) -> None:
        """What is near by vector and has another meaning key: mostly to be told apart."""
        named = [(found.ids[one], found.ids[other]) for one, other in pairs.tolist()]
        named = [pair for pair in named if not self._tally.gone & set(pair)]
        measured = self._similarities(named)
        near = [pair for pair in named if measured.get(pair, -1) >= self._options.threshold]
        texts = self._texts(list({one for pair in near for one in pair}))
        merges: list[Merge] = []
        gone: set[UUID] = set()
        for pair in near:
            if pair[0] not in texts or pair[1] not in texts or gone & set(pair):
                continue
            one, other = texts[pair[0]], texts[pair[1]]
            self._tally.compared += 1
            guard, is_exact = self._guard(one, other, False, measured[pair])
            survivor, loser = who_stays(one, other)
            is_bound = loser.is_pinned or loser.took_in or loser.id in self._tally.stays
            if guard is None and is_bound:
                guard = "pinned" if loser.is_pinned else "chain"
            if guard is None and self._company.is_barred(survivor, loser):
                guard = "kept_apart"
            if guard is None:
                self._company.join(survivor, loser)
                merges.append(_merge(survivor, loser, measured[pair], is_exact))
                gone.add(loser.id)
                self._tally.stays.add(survivor.id)
            elif measured[pair] >= self._reviewed_from:
                self._tally.vetoed(one, other, guard, measured[pair])
        self._apply(merges)


def _merge(survivor: Text, loser: Text, similarity: float | None, is_exact: bool) -> Merge:
    return Merge(
        survivor.id,
        loser.id,
        similarity,
        is_exact,
        survivor.content,
        loser.content,
        survivor.hash,
        loser.hash,
    )


@gated
def deduplicate(
    session: Session,
    store: Store,
    options: DedupOptions,
    *,
    dry_run: bool = False,
    on_progress: Callable[[str, int, int], None] = lambda what, done, of: None,
) -> Deduplicated:
    """Find what says the same in a store and, unless it is a dry run, merge it in batches."""
    return Deduplication(session, store, options, dry_run=dry_run, on_progress=on_progress).run()


def undo(session: Session, store: Store, run_id: UUID, *, dry_run: bool = False) -> Deduplicated:
    """Bring back what a run removed; repeated, it finds nothing more."""
    restored = store.taken(run_id) if dry_run else store.undo(run_id)
    if not restored:
        session.warn("run_unknown", f"run {run_id} removed nothing that is still away")
    return undone(store, run_id, len(restored), dry_run=dry_run)
