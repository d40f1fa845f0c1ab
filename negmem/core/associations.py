"""Links between memories, facts and entities: made by people and by the step that links what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.formulas.associations import SEMANTIC_THRESHOLD, manual_weight
from negmem.core.holds import check_may_delete
from negmem.core.models.association import (
    ASSOCIATION_TYPES,
    DIRECTED_TYPES,
    Association,
    LinkChange,
    LinkedItem,
    LinkedItems,
)
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.core.text.verifiable import to_verify
from negmem.errors import NegmemError, UsageError
from negmem.providers.tokens import TokenCounter

STEP = "auto_link"
MAX_DEPTH = 5
MAX_TOKENS = 2_000_000
BATCH = 200
_PENDING = 10_000


def _scope(session: Session, user: str) -> dict[str, Any]:
    return {"user_id": user, "app_name": session.app}


def _check_type(association_type: str) -> str:
    if association_type not in ASSOCIATION_TYPES:
        raise UsageError(
            "association_type_unknown",
            f"{association_type[:60]!r} is no type of link",
            why=f"the types are {', '.join(ASSOCIATION_TYPES)}",
            hint="--type related_to",
        )
    return association_type


def _ends(session: Session, user: str, ids: Sequence[UUID]) -> dict[UUID, str]:
    """The kinds of items that the user may see. Raises: NegmemError `memory_unknown`."""
    scope = {**_scope(session, user), "global_access": session.config.learning.global_access}
    rows = session.database.rows("associations", "end", {**scope, "ids": list(ids)})
    kinds = {row["id"]: str(row["kind"]) for row in rows}
    missing = [one for one in ids if one not in kinds]
    if missing:
        raise NegmemError(
            "memory_unknown",
            "there is no such memory",
            why=f'user "{user}" of app "{session.app}" has no live memory, fact or entity {missing[0]}',
            hint=f"negmem memory list --user {user}",
        )
    return kinds


def link(
    session: Session,
    user: str,
    one: UUID,
    other: UUID,
    *,
    association_type: str = "related_to",
    weight: float = 0.5,
    dry_run: bool = False,
) -> LinkChange:
    """Link two items of one user; a link of the same type that stands gets the new weight.

    `weight` is limited to [0, 1]. A directed type goes from `one` to `other`.
    Raises: UsageError `association_type_unknown`, `link_to_itself`, `weight_invalid`; NegmemError
    `memory_unknown`.
    """
    _check_type(association_type)
    if one == other:
        raise UsageError(
            "link_to_itself",
            "nothing is linked to itself",
            why=f"both ends are {one}",
            hint="negmem memory link ID OTHER",
        )
    try:
        wanted = manual_weight(weight)
    except ValueError as error:
        raise UsageError(
            "weight_invalid",
            "no link has such a weight",
            why=str(error),
            hint="--weight 0.5",
        ) from None
    source, target = one, other
    if association_type not in DIRECTED_TYPES:
        source, target = min(one, other), max(one, other)
    scope = _scope(session, user)
    place = {
        **scope,
        "source_id": source,
        "target_id": target,
        "association_type": association_type,
    }
    with session.database.transaction():
        if not dry_run:
            session.database.execute("memory", "add_user", scope)
        session.database.rows("associations", "lock_ends", {**scope, "ids": [source, target]})
        kinds = _ends(session, user, [source, target])
        before = session.database.row("associations", "find", place)
        stands = (
            before is not None
            and not before["is_taken_back"]
            and before["origin"] == "manual"
            and before["weight"] == wanted
        )
        if before is not None and (stands or dry_run):
            link_id = before["id"]
        elif dry_run:
            return LinkChange(action="link", links=[], changed=True, dry_run=True)
        else:
            row = session.database.row(
                "associations",
                "put",
                {
                    **place,
                    "source_type": kinds[source],
                    "target_type": kinds[target],
                    "weight": wanted,
                    "metadata": Jsonb({"origin": "manual", "linked_by": session.actor}),
                },
            )
            assert row is not None
            link_id = row["id"]
            sources = {**scope, "id": link_id, "ends": [source, target]}
            session.database.execute("associations", "add_sources", sources)
        shown = _show(session, user, [link_id])
    return LinkChange(action="link", links=shown, changed=not stands, dry_run=dry_run)


def unlink(
    session: Session,
    user: str,
    one: UUID,
    other: UUID,
    *,
    association_type: str | None = None,
    dry_run: bool = False,
) -> LinkChange:
    """Take links between two items back, of one type or of all; none of them is made again by itself.

    Raises: UsageError `association_type_unknown`; NegmemError `user_on_hold`.
    """
    if association_type is not None:
        _check_type(association_type)
    scope = _scope(session, user)
    params = {**scope, "one": one, "other": other, "association_type": association_type}
    with session.database.transaction():
        check_may_delete(session, user)
        ids = [row["id"] for row in session.database.rows("associations", "between", params)]
        shown = _show(session, user, ids)
        if ids and not dry_run:
            gone = {**scope, "ids": ids, "actor": session.actor}
            session.database.execute("associations", "take_back", gone)
    return LinkChange(action="unlink", links=shown, changed=bool(ids), dry_run=dry_run)


def _show(session: Session, user: str, ids: Sequence[UUID]) -> list[Association]:
    params = {**_scope(session, user), "ids": list(ids)}
    return [Association(**row) for row in session.database.rows("associations", "show", params)]


@gated
def links(
    session: Session,
    user: str,
    item: UUID,
    *,
    depth: int = 1,
    max_tokens: int | None = None,
    min_weight: float = 0.0,
    types: Sequence[str] | None = None,
    counter: TokenCounter | None = None,
) -> LinkedItems:
    """What is linked to an item within so many hops, nearest first, within a budget of tokens.

    A text that does not fit is left out, a smaller one after it may come in.
    Raises: UsageError `depth_invalid`, `budget_invalid`, `association_type_unknown`, `weight_invalid`;
    NegmemError `memory_unknown`.
    """
    for name in types or ():
        _check_type(name)
    if not 1 <= depth <= MAX_DEPTH:
        raise UsageError(
            "depth_invalid",
            "no walk along links is so deep",
            why=f"--depth goes from 1 to {MAX_DEPTH}, got {depth:,}",
            hint="--depth 2",
        )
    if max_tokens is not None and not 1 <= max_tokens <= MAX_TOKENS:
        raise UsageError(
            "budget_invalid",
            "no answer has such a budget",
            why=f"--max-tokens goes from 1 to {MAX_TOKENS:,}, got {max_tokens:,}",
            hint="--max-tokens 2000",
        )
    if not 0 <= min_weight <= 1:
        raise UsageError(
            "weight_invalid",
            "no link has such a weight",
            why=f"weights go from 0 to 1, got {min_weight}",
            hint="--min-weight 0.6",
        )
    _ends(session, user, [item])
    counter = counter or TokenCounter(session.config.llm.model)
    params = {
        **_scope(session, user),
        "id": item,
        "depth": depth,
        "min_weight": min_weight,
        "types": None if types is None else list(types),
        "global_access": session.config.learning.global_access,
    }
    found: list[LinkedItem] = []
    left_out: list[UUID] = []
    used = 0
    for row in session.database.rows("associations", "walk", params):
        tokens = counter.count(row["content"])
        if max_tokens is not None and used + tokens > max_tokens:
            left_out.append(row["id"])
            continue
        used += tokens
        found.append(LinkedItem(**row, tokens=tokens, verify=to_verify(row["content"], None)))
    if counter.notice is not None:
        session.warn("tokens_not_exact", counter.notice)
    return LinkedItems(
        id=item, depth=depth, items=found, tokens=used, max_tokens=max_tokens, left_out=left_out
    )


def link_new(
    session: Session,
    user: str,
    *,
    thread_id: UUID | None = None,
    run_id: UUID | None = None,
    threshold: float = SEMANTIC_THRESHOLD,
    checkpoint: Callable[[], None] = lambda: None,
) -> tuple[int, int]:
    """Link memories that are new or were edited to their neighbours; how many memories, how many links.

    Each batch is a transaction of its own: cut off anywhere, the next call goes on. `threshold` is on
    the calibrated scale.
    """
    scope = _scope(session, user)
    pending = {**scope, "thread_id": thread_id, "step": STEP, "row_limit": _PENDING}
    memories = added = 0
    while True:
        rows = session.database.rows("formation_marks", "pending", pending)
        for start in range(0, len(rows), BATCH):
            checkpoint()
            ids = [row["id"] for row in rows[start : start + BATCH]]
            params = {**scope, "ids": ids, "run_id": run_id, "threshold": threshold}
            with session.database.transaction():
                row = session.database.row("associations", "link", params)
            added += int(row["added"]) if row else 0
            memories += len(ids)
        if len(rows) < _PENDING:
            return memories, added
