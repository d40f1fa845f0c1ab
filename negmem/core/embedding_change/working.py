"""Carries a change of the embedding model out: batch by batch, then the swap, then what came in between."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from negmem.core.embedding_change.planning import ChangePlan, is_gone, stored_models
from negmem.core.models.embed import EmbedChange
from negmem.core.session import Session
from negmem.core.text.indexed import embedded_text
from negmem.errors import NegmemError, UsageError

_LEASE_S = 120.0
_PASSES = 20
_DELETED_AT_ONCE = 20_000
_FIRST_ID = "00000000-0000-0000-0000-000000000000"
_KINDS = ("memories", "facts", "learnings", "entities")
_SHARED = {"learnings": "learning", "entities": "entity"}
_USERS_AT_ONCE = 200

OnProgress = Callable[[int, int], None]


@dataclass
class _Work:
    """What one run has done so far; `parked` are the texts that the model refused."""

    embedded: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    parked: set[Any] = field(default_factory=set)
    stopped: str | None = None


def preview(planned: ChangePlan) -> EmbedChange:
    """The plan as an answer; nothing is touched."""
    return _answer(planned, _Work(), switched=planned.is_swap, removed=0, dry_run=True)


def apply(
    session: Session,
    planned: ChangePlan,
    *,
    max_cost_usd: float | None = None,
    on_progress: OnProgress | None = None,
) -> EmbedChange:
    """Carry the plan out. The same plan again goes on where this one was cut off.

    Args: max_cost_usd, stop before the batch after which more would have been spent.
    Raises: UsageError `budget_invalid`; NegmemError `embedding_change_running`, of embedder and database.
    """
    if max_cost_usd is not None and not 0 <= max_cost_usd < float("inf"):
        raise UsageError(
            "budget_invalid",
            "no change has such a budget",
            why=f"--max-cost is in US dollars from 0, got {max_cost_usd}",
            hint="--max-cost 5",
        )
    if planned.action in ("confirm", "cancel"):
        removed = _drop(session, planned)
        return _answer(planned, _Work(), switched=False, removed=removed, dry_run=False)
    model_id = _begin(session, planned)
    work = _Work()
    switched = False
    holder = _take(session, model_id)
    try:
        if planned.embedder is not None:
            _catch_up(session, planned, model_id, holder, work, max_cost_usd, on_progress)
        if planned.is_swap and work.stopped is None:
            switched = _swap(session, model_id, work)
            if planned.embedder is not None:  # what came in between
                _pass(session, planned, model_id, holder, work, max_cost_usd, on_progress)
        if work.stopped is None:
            _recentre_topics(session, model_id)
    finally:
        scope = {"app_name": session.app, "model_id": model_id, "by": holder}
        with contextlib.suppress(NegmemError):  # it runs out by itself
            session.database.execute("embed", "release", scope)
    session.follow_stored_model()
    return _answer(planned, work, switched=switched, removed=0, dry_run=False)


def _begin(session: Session, planned: ChangePlan) -> int:
    if planned.target is not None:
        return planned.target.id
    assert planned.space is not None and planned.embedder is not None
    calibration = planned.embedder.calibration
    with session.database.transaction():
        session.database.rows("embed", "lock_app", {"app_name": session.app})
        row = session.database.row(
            "embed",
            "begin",
            {
                "app_name": session.app,
                **planned.space.model_dump(),
                "calibration": Jsonb(
                    {key: value for key, value in calibration.to_json().items() if key != "mean"}
                ),
                "mean": None if calibration.mean is None else list(calibration.mean),
                "settings": None if planned.settings is None else Jsonb(planned.settings),
            },
        )
    assert row is not None
    return int(row["id"])


def _take(session: Session, model_id: int) -> str:
    """Hold the model for this process, also where its holder on this machine is gone.

    Raises: NegmemError `embedding_change_running`.
    """
    mine = f"{socket.gethostname()} {os.getpid()}"
    found = next((m for m in stored_models(session) if m.id == model_id), None)
    working = None if found is None else found.working
    over = working if working is not None and is_gone(working) else mine
    if not _renew(session, model_id, mine, over):
        raise NegmemError(
            "embedding_change_running",
            "another process works at this change",
            why=f"{working} holds it, for {_LEASE_S:.0f} s after its last batch",
            hint="negmem embed status",
        )
    return mine


def _renew(session: Session, model_id: int, mine: str, over: str) -> bool:
    params = {
        "app_name": session.app,
        "model_id": model_id,
        "by": mine,
        "over": over,
        "seconds": _LEASE_S,
    }
    return session.database.row("embed", "lease", params) is not None


def _catch_up(
    session: Session,
    planned: ChangePlan,
    model_id: int,
    holder: str,
    work: _Work,
    max_cost_usd: float | None,
    on_progress: OnProgress | None,
) -> None:
    """Embed what lacks a vector, until a pass finds no more than what came while it ran."""
    step = session.config.embedding.max_batch_texts
    for _ in range(_PASSES):
        found = _pass(session, planned, model_id, holder, work, max_cost_usd, on_progress)
        if work.stopped is not None or found <= step:
            return


def _pass(
    session: Session,
    planned: ChangePlan,
    model_id: int,
    holder: str,
    work: _Work,
    max_cost_usd: float | None,
    on_progress: OnProgress | None,
) -> int:
    """Embed once all that lacks a vector; returns how many texts that were."""
    found = 0
    step = session.config.embedding.max_batch_texts
    for kind in _KINDS:
        after: tuple[str, Any] = ("", _FIRST_ID)
        while work.stopped is None:
            rows = session.database.rows(
                "embed",
                f"missing_{kind}",
                {
                    "app_name": session.app,
                    "model_id": model_id,
                    "after_user": after[0],
                    "after_id": after[1],
                    "row_limit": step,
                },
            )
            if not rows:
                break
            after = (rows[-1]["user_id"], rows[-1]["id"])
            due = [row for row in rows if row["id"] not in work.parked]
            if not due:
                continue
            if max_cost_usd is not None and (work.cost_usd or 0.0) >= max_cost_usd:
                work.stopped = f"the budget of {max_cost_usd:g} US dollars is spent"
                break
            found += len(due)
            _embed(session, planned, model_id, kind, due, work)
            if not _renew(session, model_id, holder, holder):
                work.stopped = "another process took the change over"
            if on_progress is not None:
                total = planned.price.texts
                on_progress(min(work.embedded + len(work.parked), total), total)
    return found


def _embed(
    session: Session,
    planned: ChangePlan,
    model_id: int,
    kind: str,
    rows: list[dict[str, Any]],
    work: _Work,
) -> None:
    """One batch: embedded outside of any transaction, stored in a short one."""
    assert planned.embedder is not None
    batch = planned.embedder.embed_batch(
        [embedded_text(row["speaker"], row["text"]) for row in rows]
    )
    refused = {text.index for text in batch.parked}
    work.parked.update(rows[index]["id"] for index in refused)
    work.tokens += batch.usage.tokens
    if batch.usage.cost_usd is not None:
        work.cost_usd = (work.cost_usd or 0.0) + batch.usage.cost_usd
    for text in batch.parked[:1]:
        session.warn(text.code, f"a text was refused by the model: {text.reason}")
    kept = [index for index in range(len(rows)) if index not in refused]
    if not kept:
        return
    params = {
        "app_name": session.app,
        "model_id": model_id,
        "users": [rows[index]["user_id"] for index in kept],
        "ids": [rows[index]["id"] for index in kept],
        "versions": [rows[index]["version"] for index in kept],
        "vectors": ["[" + ",".join(map(repr, batch.vectors[i].tolist())) + "]" for i in kept],
    }
    block = f"put_{kind}"
    if kind in _SHARED:
        texts = [rows[index]["text"] for index in kept]
        block, params = "put_shared", {**params, "item_kind": _SHARED[kind], "texts": texts}
    with session.database.transaction():
        stored = session.database.rows("embed", block, params)
    work.embedded += len(stored)


def _swap(session: Session, model_id: int, work: _Work) -> bool:
    """Search with the new model from now on; what is still missing is embedded right after."""
    with session.database.transaction():
        session.database.rows("embed", "lock_app", {"app_name": session.app})
        session.database.execute("embed", "retire", {"app_name": session.app})
        params = {"app_name": session.app, "model_id": model_id}
        done = session.database.execute("embed", "activate", params)
    if work.parked:
        session.warn(
            "embedding_text_refused",
            f"{len(work.parked):,} texts have no vector of the new model: words find them",
        )
    return done == 1


def _recentre_topics(session: Session, model_id: int) -> None:
    """Give topics of another model the mean of their members' vectors of this one, user by user."""
    scope = {"app_name": session.app, "model_id": model_id}
    after = ""
    while True:
        rows = session.database.rows(
            "embed", "topic_users", {**scope, "after_user": after, "row_limit": _USERS_AT_ONCE}
        )
        for row in rows:
            with session.database.transaction():
                session.database.rows("topics", "lock", {**scope, **row})
                session.database.execute("topics", "recentre", {**scope, **row, "ids": []})
        if len(rows) < _USERS_AT_ONCE:
            return
        after = rows[-1]["user_id"]


def _drop(session: Session, planned: ChangePlan) -> int:
    """Remove the vectors of every model that is not searched any more, or not yet."""
    wanted = "retired" if planned.action == "confirm" else "building"
    removed = 0
    for model in stored_models(session):
        if model.status != wanted:
            continue
        if model.working is not None and not is_gone(model.working):
            raise NegmemError(
                "embedding_change_running",
                "another process works at this change",
                why=f"{model.working} holds it",
                hint="negmem embed status",
            )
        scope = {"app_name": session.app, "model_id": model.id}
        if planned.active is not None:
            _recentre_topics(session, planned.active.id)
        for block in ("drop_memory_vectors", "drop_fact_vectors", "drop_shared_vectors"):
            while True:
                with session.database.transaction():
                    gone = session.database.execute(
                        "embed", block, {**scope, "row_limit": _DELETED_AT_ONCE}
                    )
                removed += gone
                if gone < _DELETED_AT_ONCE:
                    break
        with session.database.transaction():
            if session.database.row("embed", "drop_model", scope) is not None:
                session.database.execute("embed", "drop_topics", scope)
    return removed


def _has_work(planned: ChangePlan) -> bool:
    """Whether the plan would change anything."""
    if planned.action in ("confirm", "cancel"):
        return planned.target is not None
    return planned.is_swap or planned.price.texts > 0


def _answer(
    planned: ChangePlan, work: _Work, *, switched: bool, removed: int, dry_run: bool
) -> EmbedChange:
    following = None
    if work.stopped is not None:
        following = "negmem embed migrate"
    elif dry_run and _has_work(planned):
        option = "" if planned.action in ("migrate", "complete") else f" --{planned.action}"
        following = f"negmem embed migrate{option}"
    elif switched:
        following = "negmem embed migrate --confirm"
    return EmbedChange(
        action=planned.action,
        from_model=None if planned.active is None else planned.active.space,
        to_model=planned.space,
        price=planned.price,
        embedded=work.embedded,
        already=planned.already,
        parked=len(work.parked),
        tokens=work.tokens,
        cost_usd=work.cost_usd,
        switched=switched,
        removed_vectors=removed,
        stopped=work.stopped,
        dry_run=dry_run,
        next=following,
    )
