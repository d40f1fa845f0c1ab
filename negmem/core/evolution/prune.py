"""Pruning: a user's memories or facts kept to an age and a number, by soft deletes that can be undone.

The plan is made once, by the pure rule, and carried out in batches, each a transaction of its own with
its entries in the trail: what is cut off in the middle has kept to the plan as far as it came, and
the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from negmem.core.evolution.dedup_stores import check_store
from negmem.core.formulas.pruning import Entry, Pruning, Reason, prune
from negmem.core.formulas.pruning_compat import prune_compat
from negmem.core.models.pruning import Pruned, PrunedMemory, PruneReasons
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.errors import NegmemError

_BATCH = 1_000
_BLOCKS = {
    "memory": {
        "candidates": "candidates",
        "details": "details",
        "prunable": "prunable",
        "prune": "prune",
    },
    "fact": {
        "candidates": "fact_candidates",
        "details": "fact_details",
        "prunable": "fact_prunable",
        "prune": "fact_prune",
    },
}
_NOTES = {Reason.AGE: "pruned by age", Reason.COUNT: "pruned by number"}


@dataclass(frozen=True)
class PrunePlan:
    """What `apply` will do; `versions` are those that the plan was made on."""

    user: str
    store: str
    rule: Pruning
    versions: dict[str, int]
    protected: int

    @property
    def removed(self) -> int:
        """How many memories would go."""
        return len(self.rule.removed)

    @property
    def total(self) -> int:
        """How many memories are live."""
        return len(self.versions)

    def count(self, reason: Reason) -> int:
        """How many would go for one reason."""
        return sum(why is reason for _, why in self.rule.removed)


def plan(
    session: Session,
    user: str,
    *,
    max_age_days: float = 0,
    max_count: int = 0,
    store: str = "memory",
    compat: bool = False,
) -> PrunePlan:
    """Which of a user's live items would go; limits of 0 and below are off.

    Args: store, memory or fact; compat, by the rule of the first design.
    Raises: NegmemError `user_on_hold` where a legal hold forbids it; UsageError `store_unknown`.
    """
    check_store(store)
    scope = {"user_id": user, "app_name": session.app}
    require_removable(session, user)
    if max_age_days <= 0 and max_count <= 0:
        session.warn("no_limit", "neither --max-age-days nor --max-count is above 0: all stay")
    rows = session.database.rows("curator", _BLOCKS[store]["candidates"], scope)
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
        store=store,
        rule=rule,
        versions={row["id"]: row["version"] for row in rows},
        protected=sum(entry.is_protected for entry in entries),
    )


def require_removable(session: Session, user: str) -> None:
    """Warn where the user is unknown.

    Raises: NegmemError `user_on_hold` where a legal hold or an erasure forbids to remove anything.
    """
    scope = {"user_id": user, "app_name": session.app}
    standing = session.database.row("curator", "standing", scope)
    if standing is None:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    elif standing["is_held"] or standing["is_erasing"]:
        raise NegmemError(
            "user_on_hold",
            "the memories of this user may not be removed",
            why="the user is under legal hold"
            if standing["is_held"]
            else "the user is being erased",
            hint="ask who set it",
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
    scope = {"user_id": planned.user, "app_name": session.app}
    database = session.database
    blocks = _BLOCKS[planned.store]
    # As they stood before: removing them changes their dates.
    items = _items(session, planned)
    went: set[str] = set()
    seen = 0
    for reason, ids in _batches(planned.rule.removed):
        with database.transaction():
            versions = [planned.versions[i] for i in ids]
            asked = {**scope, "ids": ids, "versions": versions}
            if planned.store == "fact":
                database.rows("curator", "lock_facts", scope)
            rows = database.rows("curator", blocks["prunable"], asked)
            chosen = [str(row["id"]) for row in rows]
            if chosen:
                params = {**scope, "ids": chosen}
                note = {"reason": _NOTES[reason], "actor": session.actor}
                database.rows("curator", blocks["prune"], {**params, **note})
                if planned.store == "memory":
                    database.rows("curator", "rescore_neighbours", params)
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
    return Pruned(
        store=planned.store,
        removed=planned.removed,
        kept=len(planned.rule.kept) + changed_meanwhile,
        reasons=PruneReasons(age=planned.count(Reason.AGE), count=planned.count(Reason.COUNT)),
        protected=planned.protected,
        future=len(planned.rule.future),
        changed_meanwhile=changed_meanwhile,
        dry_run=dry_run,
        items=items,
    )


def _items(session: Session, planned: PrunePlan) -> list[PrunedMemory]:
    scope: dict[str, Any] = {"user_id": planned.user, "app_name": session.app}
    reasons = dict(planned.rule.removed)
    ids = list(reasons)
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), _BATCH):
        params = {**scope, "ids": ids[start : start + _BATCH]}
        rows = session.database.rows("curator", _BLOCKS[planned.store]["details"], params)
        found.update((str(row["id"]), row) for row in rows)
    return [PrunedMemory(reason=reasons[i].value, **found[i]) for i in ids if i in found]
