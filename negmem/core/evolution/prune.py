"""Pruning: a store kept to an age and a number, by soft deletes that can be undone.

The plan is made once, by the pure rule, and carried out in batches, each a transaction of its own with
its entries in the trail: what is cut off in the middle has kept to the plan as far as it came, and
the same command goes on.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

from negmem.core.evolution.dedup_shared import SharedStore
from negmem.core.evolution.dedup_stores import Store
from negmem.core.evolution.stores import store_of
from negmem.core.formulas.pruning import Entry, Pruning, Reason, prune
from negmem.core.formulas.pruning_compat import prune_compat
from negmem.core.models.pruning import Pruned, PrunedMemory, PruneReasons
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

_BATCH = 1_000
_NOTES = {Reason.AGE: "pruned by age", Reason.COUNT: "pruned by number"}


@dataclass(frozen=True)
class PrunePlan:
    """What `apply` will do; `versions` are those that the plan was made on."""

    user: str | None
    store: Store
    rule: Pruning
    versions: dict[str, int]
    protected: int
    run_id: UUID = field(default_factory=uuid.uuid4)

    @property
    def removed(self) -> int:
        """How many items would go."""
        return len(self.rule.removed)

    @property
    def total(self) -> int:
        """How many items are live."""
        return len(self.versions)

    def count(self, reason: Reason) -> int:
        """How many would go for one reason."""
        return sum(why is reason for _, why in self.rule.removed)


def plan(
    session: Session,
    user: str | None,
    *,
    max_age_days: float = 0,
    max_count: int = 0,
    store: str = "memory",
    namespace: str | None = None,
    compat: bool = False,
) -> PrunePlan:
    """Which live items of a store would go; limits of 0 and below are off.

    Args: store, memory, fact, learning, or entity (facts and events of entities; they themselves stay);
    namespace, of learning and entity; compat, by the rule of the first design.
    Raises: as `store_of`; NegmemError `user_on_hold` where a legal hold forbids it.
    """
    chosen = store_of(session, user, store, namespace=namespace)
    if max_age_days <= 0 and max_count <= 0:
        session.warn("no_limit", "neither --max-age-days nor --max-count is above 0: all stay")
    rows = _rows(session, chosen, "candidates", {})
    if rows and rows[0]["created"].tzinfo is None:
        raise NegmemError(
            "timestamp_without_zone",
            "it can't be told how old anything is",
            why="created_at has no time zone, and may mean any",
            hint="negmem doctor",
        )
    entries = [Entry(r["id"], r["created"], r["updated"], r["is_protected"]) for r in rows]
    judge = prune_compat if compat else prune
    rule = judge(entries, _now(session), max_age_days=max_age_days, max_count=max_count)
    return PrunePlan(
        user=user,
        store=chosen,
        rule=rule,
        versions={row["id"]: row["version"] for row in rows},
        protected=sum(entry.is_protected for entry in entries),
    )


def _now(session: Session) -> datetime:
    """The database's clock."""
    row = session.database.row("curator", "clock")
    assert row is not None
    moment = row["now"]
    assert isinstance(moment, datetime)
    return moment.astimezone(timezone.utc)


@gated
def preview(session: Session, planned: PrunePlan) -> Pruned:
    """The plan as an answer; nothing is touched."""
    return _answer(planned, _items(session, planned), dry_run=True, changed_meanwhile=0)


@gated
def apply(
    session: Session,
    planned: PrunePlan,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> Pruned:
    """Carry the plan out; what was changed, pinned or removed since it was made stays as it is.

    `on_progress` hears after each batch how many of how many are done.
    """
    # As they stood before: removing them changes their dates.
    items = _items(session, planned)
    went: set[str] = set()
    seen = 0
    for reason, ids in _batches(planned.rule.removed):
        versions = [planned.versions[i] for i in ids]
        chosen = _remove(session, planned, ids, versions, _NOTES[reason])
        went.update(chosen)
        seen += len(ids)
        if on_progress is not None:
            on_progress(seen, planned.removed)
    removed = tuple((i, reason) for i, reason in planned.rule.removed if i in went)
    done = replace(planned, rule=replace(planned.rule, removed=removed))
    return _answer(
        done,
        [item for item in items if str(item.id) in went],
        dry_run=False,
        changed_meanwhile=planned.removed - len(removed),
    )


def _remove(
    session: Session, planned: PrunePlan, ids: list[str], versions: list[int], note: str
) -> list[str]:
    """Take away what is still as it was planned, in one transaction; returns their ids."""
    store = planned.store
    if isinstance(store, SharedStore):
        return store.prune(ids, versions, f"{note} (run {planned.run_id})")
    with session.database.transaction():
        if store.name == "fact":
            session.database.rows("curator", "lock_facts", store.scope)
        rows = _rows(session, store, "prunable", {"ids": ids, "versions": versions})
        chosen = [str(row["id"]) for row in rows]
        if chosen:
            _rows(session, store, "prune", {"ids": chosen, "reason": note, "actor": session.actor})
            if store.name == "memory":
                _rows(session, store, "rescore_neighbours", {"ids": chosen})
    return chosen


def _rows(
    session: Session, store: Store, block: str, params: dict[str, Any]
) -> list[dict[str, Any]]:
    names = {"memory": block, "fact": f"fact_{block}"}
    name = names.get(store.name, f"{store.name}_{block}")
    return session.database.rows(store.queries, name, {**store.scope, **params})


def _batches(
    removed: Sequence[tuple[str, Reason]],
) -> Iterator[tuple[Reason, list[str]]]:
    for reason in Reason:
        ids = [i for i, why in removed if why is reason]
        for start in range(0, len(ids), _BATCH):
            yield reason, ids[start : start + _BATCH]


def _answer(
    planned: PrunePlan, items: list[PrunedMemory], *, dry_run: bool, changed_meanwhile: int
) -> Pruned:
    is_by_run = isinstance(planned.store, SharedStore)
    return Pruned(
        store=planned.store.name,
        removed=planned.removed,
        kept=len(planned.rule.kept) + changed_meanwhile,
        reasons=PruneReasons(age=planned.count(Reason.AGE), count=planned.count(Reason.COUNT)),
        protected=planned.protected,
        future=len(planned.rule.future),
        changed_meanwhile=changed_meanwhile,
        dry_run=dry_run,
        run_id=planned.run_id if planned.removed and not dry_run and is_by_run else None,
        restored=0,
        items=items,
    )


def _items(session: Session, planned: PrunePlan) -> list[PrunedMemory]:
    reasons = dict(planned.rule.removed)
    ids = list(reasons)
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), _BATCH):
        batch = {"ids": ids[start : start + _BATCH]}
        rows = _rows(session, planned.store, "details", batch)
        found.update((str(row["id"]), row) for row in rows)
    return [PrunedMemory(reason=reasons[i].value, **found[i]) for i in ids if i in found]


def undo(session: Session, store: Store, run_id: UUID, *, dry_run: bool = False) -> Pruned:
    """Bring back what a pruning of learnings or entities removed; repeated, it finds nothing more.

    Raises: UsageError `prune_undo_unfit` for memories and facts, which come back one by one.
    """
    if not isinstance(store, SharedStore):
        raise UsageError(
            "prune_undo_unfit",
            f"the pruning of a {store.name} store has no run to undo",
            why="memories and facts come back by their ids",
            hint=f"negmem {store.name} restore ID",
        )
    restored = store.taken(run_id) if dry_run else store.undo(run_id)
    if not restored:
        session.warn("run_unknown", f"run {run_id} removed nothing that is still away")
    return Pruned(
        store=store.name,
        removed=0,
        kept=store.count(),
        reasons=PruneReasons(age=0, count=0),
        protected=0,
        future=0,
        changed_meanwhile=0,
        dry_run=dry_run,
        run_id=run_id,
        restored=len(restored),
        items=[],
    )
