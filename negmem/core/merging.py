"""Merging memories that say the same: planned by rule, applied pair by pair, taken back by run.

Vectors nominate (the nearest few of each memory, never all pairs), the rules of core/text/likeness.py
decide. Who stays: what is pinned, then what has taken in others already, then what was read more often,
then what says more, then what was said first. What has taken in others is never taken in itself, and a
memory is merged once a run, so that likeness never chains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.core.text.likeness import likeness, meaning
from negmem.providers.calibration import Calibration

NOMINATED_FROM = 0.2
"""Calibrated similarity from which the rules are asked; below it two texts are not compared."""
NEIGHBOURS = 8
BATCH_MEMORIES = 100

# "today" and its like: said on another day it is another event
_DEICTIC = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|now|just|this (?:morning|afternoon|evening|week|month|year)"
    r"|(?:last|next) \w+|ago|recently)\b|今天|今晚|今早|昨天|昨晚|明天|明早|刚刚|刚才|现在|上周|下周|上个|下个"
    r"|前天|后天|本周|这周|最近|去年|今年|明年",
    re.IGNORECASE,
)
_MIN_WORDS = 2


@dataclass(frozen=True)
class Merge:
    """One memory that goes, and the one that stays for it; hashes are of the texts that were compared."""

    survivor: UUID
    loser: UUID
    similarity: float | None
    exact: bool
    survivor_text: str
    loser_text: str
    survivor_hash: str
    loser_hash: str


@dataclass(frozen=True)
class Vetoed:
    """A pair that vectors put near and a rule keeps apart."""

    one: UUID
    other: UUID
    similarity: float | None
    guard: str
    one_text: str
    other_text: str


@dataclass
class MergePlan:
    """What would be merged and what not; `compared` counts the pairs that were looked at."""

    merges: list[Merge] = field(default_factory=list)
    vetoed: list[Vetoed] = field(default_factory=list)
    compared: int = 0


@dataclass(frozen=True)
class Text:
    """What of a stored text decides whether it is merged, and which of two stays."""

    id: UUID
    content: str
    hash: str
    type: str
    is_pinned: bool
    took_in: bool
    kept_apart: list[str]
    access_count: int
    occurred_at: datetime | None
    created_at: datetime
    position: int | None

    @property
    def moment(self) -> datetime:
        """When it was said, else when it was stored."""
        return self.occurred_at or self.created_at


class Company:
    """What goes for whom in one run, so that two that an undo keeps apart don't go for the same one."""

    def __init__(self) -> None:
        self._goes_for: dict[str, UUID] = {}
        self._barred: dict[UUID, set[str]] = {}

    def join(self, survivor: Text, loser: Text) -> None:
        """One goes for another."""
        self._goes_for[str(loser.id)] = survivor.id
        if loser.kept_apart:
            self._barred.setdefault(survivor.id, set()).update(loser.kept_apart)

    def is_barred(self, survivor: Text, loser: Text) -> bool:
        """Whether something that goes for the survivor already is kept apart from `loser`."""
        barred = self._barred.get(survivor.id, set())
        kept = set(loser.kept_apart)
        if str(loser.id) in barred or not kept.isdisjoint(barred):
            return True
        return any(self._goes_for.get(one) == survivor.id for one in kept)


def plan_merges(
    session: Session,
    user: str,
    ids: Sequence[UUID],
    *,
    threshold: float = NOMINATED_FROM,
    exact_only: bool = False,
    settled: frozenset[UUID] = frozenset(),
) -> MergePlan:
    """Which of the memories `ids` say what another one of the user says; reads only.

    Args: ids, at most some hundred; threshold, calibrated similarity in 0..1 from which a pair is
    compared; settled, memories that were merged in this run and take part no more as losers.
    """
    scope = {"user_id": user, "app_name": session.app}
    scale = stored_scale(session)
    params = {
        **scope,
        "ids": list(ids),
        "neighbours": NEIGHBOURS,
        "min_cosine": scale.documents.cosine(threshold),
    }
    pairs = session.database.rows("merge", "candidates", params)
    wanted = {row["one"] for row in pairs} | {row["other"] for row in pairs}
    rows = session.database.rows("merge", "texts", {**scope, "ids": sorted(wanted)})
    texts = {row["id"]: Text(**row) for row in rows}
    plan = MergePlan(compared=len(pairs))
    agreed: list[tuple[Text, Text, float | None, bool]] = []
    for row in pairs:
        one, other = texts.get(row["one"]), texts.get(row["other"])
        if one is None or other is None:
            continue
        cosine = row["cosine"]
        similarity = None if cosine is None else round(scale.documents.similarity(cosine), 6)
        guard, is_exact = guard_between(one, other, exact_only or similarity is None, similarity)
        if guard is None:
            agreed.append((*who_stays(one, other), similarity, is_exact))
        elif similarity is not None and guard not in ("short", "exact"):
            plan.vetoed.append(_vetoed(one, other, similarity, str(guard)))
    # The best to stay first: it takes in all that say the same, and none of those takes in another.
    agreed.sort(key=lambda pair: (rank(pair[0]), rank(pair[1])))
    gone: set[UUID] = set()
    stays: set[UUID] = set(settled)
    company = Company()
    for survivor, loser, similarity, is_exact in agreed:
        if survivor.id in gone or loser.id in gone:
            continue
        if loser.is_pinned or loser.took_in or loser.id in stays:
            guard = "pinned" if loser.is_pinned else "chain"
            plan.vetoed.append(_vetoed(survivor, loser, similarity, guard))
            continue
        if company.is_barred(survivor, loser):
            plan.vetoed.append(_vetoed(survivor, loser, similarity, "kept_apart"))
            continue
        company.join(survivor, loser)
        gone.add(loser.id)
        stays.add(survivor.id)
        plan.merges.append(
            Merge(
                survivor.id,
                loser.id,
                similarity,
                is_exact,
                survivor.content,
                loser.content,
                survivor.hash,
                loser.hash,
            )
        )
    return plan


def _vetoed(one: Text, other: Text, similarity: float | None, guard: str) -> Vetoed:
    return Vetoed(one.id, other.id, similarity, guard, one.content, other.content)


def stored_scale(session: Session) -> Calibration:
    """The scale of the stored vectors, as the app's active model has it."""
    from negmem.providers.calibration import IDENTITY

    row = session.database.row("installation", "active_model", {"app_name": session.app})
    if row is None or not row["calibration"]:
        return IDENTITY
    try:
        return Calibration.from_json({"mean": None, **row["calibration"]})
    except ValueError:
        return IDENTITY


def told_apart(one: Text, other: Text) -> bool:
    """Whether an undo keeps two apart: one had gone for the other, or both for one that stayed."""
    return (
        str(other.id) in one.kept_apart
        or str(one.id) in other.kept_apart
        or not set(one.kept_apart).isdisjoint(other.kept_apart)
    )


def guard_between(
    one: Text, other: Text, exact_only: bool, similarity: float | None = None
) -> tuple[str | None, bool]:
    """What keeps two memories apart, and whether they are the same to the letter.

    What no vector nominated, but shares its words, is only the same to the letter.
    """
    if told_apart(one, other):
        return "kept_apart", False
    is_dated = _DEICTIC.search(one.content) or _DEICTIC.search(other.content)
    if is_dated and _utc_day(one.moment) != _utc_day(other.moment):
        return "day", False
    key = exact_key(one.content)
    is_exact = key is not None and key == exact_key(other.content)
    if one.type == "episodic" and _is_short(one.content):
        return "short", is_exact
    if is_exact:
        return None, True
    if exact_only:
        return "exact", False
    found = likeness(one.content, other.content, similarity)
    return (None if found.same else found.guard), False


def occasion(content: str, moment: datetime) -> date | None:
    """The day of what was said with "today" or its like; None where any day will do."""
    return _utc_day(moment) if _DEICTIC.search(content) else None


def _utc_day(moment: datetime) -> date:
    return moment.astimezone(timezone.utc).date()


def _is_short(content: str) -> bool:
    """Whether a turn is a mere interjection, which belongs to the talk around it."""
    if len(content) > 200:
        return False
    said = meaning(content)
    return len(said.words) + len(said.amounts) < _MIN_WORDS


def rank(text: Text) -> tuple[Any, ...]:
    """Who stays comes first; the same for whoever plans, so that runs at once agree."""
    return (
        not text.is_pinned,
        not text.took_in,
        -text.access_count,
        # Bullets, marks and blanks say nothing: of what is alike to the letter the first stays.
        -len(exact_key(text.content) or ""),
        text.moment,
        text.position or 0,
        text.created_at,
        str(text.id),
    )


def who_stays(one: Text, other: Text) -> tuple[Text, Text]:
    """The one that stays, and the one that goes."""
    return (one, other) if rank(one) <= rank(other) else (other, one)


def apply_merges(
    session: Session, user: str, merges: Sequence[Merge], run_id: UUID
) -> list[tuple[UUID, UUID]]:
    """Merge what still is as it was planned, in one transaction; returns (survivor, loser) pairs.

    The loser is soft-deleted in the transaction that writes the link to its survivor.
    """
    if not merges:
        return []
    params = {
        "user_id": user,
        "app_name": session.app,
        "run_id": run_id,
        "actor": session.actor,
        "pairs": pairs_json(merges),
    }
    with session.database.transaction():
        rows = session.database.rows("merge", "apply", params)
    return [(row["survivor"], row["loser"]) for row in rows]


def pairs_json(merges: Sequence[Merge]) -> Jsonb:
    """The pairs with the hashes of the texts that were compared, as SQL reads them."""
    return Jsonb(
        [
            {
                "survivor": str(merge.survivor),
                "loser": str(merge.loser),
                "similarity": merge.similarity,
                "survivor_hash": merge.survivor_hash,
                "loser_hash": merge.loser_hash,
            }
            for merge in merges
        ]
    )


@dataclass
class Merged:
    """What a run did; `run_id` takes it back."""

    run_id: UUID
    looked_at: int = 0
    compared: int = 0
    merged: list[tuple[UUID, UUID]] = field(default_factory=list)
    vetoed: int = 0


def merge_fresh(
    session: Session,
    user: str,
    run_id: UUID,
    *,
    thread_id: UUID | None = None,
    since: datetime | None = None,
    threshold: float = NOMINATED_FROM,
    most: int = 20_000,
    checkpoint: Callable[[], None] = lambda: None,
) -> Merged:
    """Merge the memories of a job into what the user has, batch by batch, each its own transaction.

    Args: most, how many memories are looked at, the newest; the work grows with them and not with
    their pairs. Repeated, it goes on where it was cut off.
    """
    params = {
        "user_id": user,
        "app_name": session.app,
        "thread_id": thread_id,
        "since": since,
        "row_limit": most,
    }
    ids = [row["id"] for row in session.database.rows("merge", "fresh", params)]
    done = Merged(run_id, looked_at=len(ids))
    settled: set[UUID] = set()
    seen: set[tuple[UUID, UUID]] = set()
    for start in range(0, len(ids), BATCH_MEMORIES):
        plan = plan_merges(
            session,
            user,
            ids[start : start + BATCH_MEMORIES],
            threshold=threshold,
            settled=frozenset(settled),
        )
        checkpoint()
        applied = apply_merges(session, user, plan.merges, run_id)
        settled |= {survivor for survivor, _ in applied}
        done.compared += plan.compared
        done.merged += applied
        fresh = {(pair.one, pair.other) for pair in plan.vetoed} - seen
        seen |= fresh
        done.vetoed += len(fresh)
    return done


def undo_run(session: Session, user: str, run_id: UUID) -> list[UUID]:
    """Bring back what a run merged away, each told apart from its survivor; returns their ids."""
    scope = {"user_id": user, "app_name": session.app}
    with session.database.transaction():
        rows = session.database.rows("merge", "merged_by", {**scope, "run_id": run_id})
        ids: list[UUID] = [row["id"] for row in rows]
        if ids:
            params = {**scope, "ids": ids, "actor": session.actor}
            session.database.rows("memory", "restore", params)
    return ids
