"""The online change of the embedding model: priced before it starts, resumable, with a way back.

The vectors of the new model grow beside the old ones, which are searched until the last text is done; then
one short transaction swaps them. The old vectors stay until somebody confirms. What is embedded is
committed batch by batch, so that a process that is killed loses one batch at most, and the same command goes
on. No transaction is open while a model works.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from negmem.core.models.embed import (
    ChangeState,
    EmbedChange,
    EmbedStatus,
    ModelSpace,
    Price,
    StoredModel,
)
from negmem.core.session import Session
from negmem.core.text.indexed import embedded_text
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

_LEASE_S = 120.0
_PASSES = 20
_DELETED_AT_ONCE = 20_000
_NO_MODEL = -1
_FIRST_ID = "00000000-0000-0000-0000-000000000000"
_KINDS = ("memories", "facts")
_FREE = Price(texts=0, tokens=0, cost_usd=0.0, basis="nothing is embedded")

OnProgress = Callable[[int, int], None]


@dataclass
class _Work:
    """What one run has done so far; `parked` are the texts that the model refused."""

    embedded: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    parked: set[Any] = field(default_factory=set)
    stopped: str | None = None


@dataclass(frozen=True)
class ChangePlan:
    """What `apply` will do: to which model, by which embedder, at which price."""

    action: str
    active: StoredModel | None
    target: StoredModel | None
    space: ModelSpace | None
    embedder: Embedder | None
    settings: dict[str, Any] | None
    price: Price
    already: int

    @property
    def is_swap(self) -> bool:
        """Whether another model than now will be searched."""
        return self.action in ("migrate", "rollback")


def status(session: Session) -> EmbedStatus:
    """What is stored with which model, what is configured, and what would be next."""
    models = _models(session)
    configured, reason = _configured(session)
    active = _active(models)
    state: ChangeState = "current"
    command: str | None = None
    if active is None:
        state, command = "unset", "negmem init"
    elif any(one.status == "building" for one in models):
        state, command = "changing", "negmem embed migrate"
    elif configured is not None and configured != active.space:
        state, command = "pending", "negmem embed migrate --dry-run"
    elif any(one.status == "retired" for one in models):
        state, command = "unconfirmed", "negmem embed migrate --confirm"
    elif active.memories_missing or active.facts_missing:
        state, command = "incomplete", "negmem embed migrate"
    return EmbedStatus(
        state=state,
        configured=configured,
        configured_reason=reason,
        models=models,
        next=command,
    )


def _models(session: Session) -> list[StoredModel]:
    return [
        StoredModel(
            id=row["id"],
            space=ModelSpace(
                provider=row["provider"],
                model=row["model"],
                version=row["version"],
                dims=row["dims"],
            ),
            working=row["lease_by"] if row["is_leased"] else None,
            **{
                key: row[key]
                for key in (
                    "status",
                    "memories",
                    "memories_missing",
                    "facts",
                    "facts_missing",
                    "activated_at",
                    "retired_at",
                )
            },
        )
        for row in session.database.rows("embed", "models", {"app_name": session.app})
    ]


def _active(models: list[StoredModel]) -> StoredModel | None:
    return next((one for one in models if one.status == "active"), None)


def _configured(session: Session) -> tuple[ModelSpace | None, str | None]:
    from negmem.providers.embedding import EmbedderAbsent

    found = session.configured_embedder
    if isinstance(found, EmbedderAbsent):
        return None, f"{found.message}: {found.why}" if found.why else found.message
    try:
        return _space(found), None
    except NegmemError as error:
        return None, f"{error.message}: {error.why}"


def _space(embedder: Embedder) -> ModelSpace:
    return ModelSpace(
        provider=embedder.name,
        model=embedder.model,
        version=embedder.version,
        dims=embedder.dims,
    )


def plan(session: Session, action: str = "migrate") -> ChangePlan:
    """What a change would do, from what stands. `action`: migrate, rollback, confirm or cancel.

    Raises: NegmemError `embedding_model_unset`, `embedding_change_open`, `nothing_to_roll_back`,
    `embedding_dims_mismatch`, and those of the embedder where there is none.
    """
    models = _models(session)
    active = _active(models)
    if active is None:
        raise NegmemError(
            "embedding_model_unset",
            "the app has no embedding model yet",
            why=f'no vectors are stored for app "{session.app}"',
            hint="negmem init",
        )
    if action in ("confirm", "cancel"):
        wanted = "retired" if action == "confirm" else "building"
        target = next((one for one in models if one.status == wanted), None)
        space = None if target is None else target.space
        return ChangePlan(action, active, target, space, None, None, _FREE, 0)
    if action == "rollback":
        return _plan_rollback(session, models, active)
    return _plan_migrate(session, models, active)


def _plan_rollback(session: Session, models: list[StoredModel], active: StoredModel) -> ChangePlan:
    from negmem.providers.embedding import EmbedderAbsent

    retired = [one for one in models if one.status == "retired"]
    if not retired:
        raise NegmemError(
            "nothing_to_roll_back",
            "there is no way back",
            why="no vectors of an earlier model are stored: none was replaced, or it was confirmed",
            hint="negmem embed status",
        )
    target = max(retired, key=lambda one: (one.retired_at is not None, one.retired_at, one.id))
    settings = _settings_of(session, target.id)
    found = session.configured_embedder if settings is None else session.embedder_by(settings)
    embedder = None if isinstance(found, EmbedderAbsent) else found
    due = target.memories_missing + target.facts_missing
    if due and (embedder is None or _space(embedder) != target.space):
        raise NegmemError(
            "embedder_of_old_model_missing",
            "what came since the change can't be embedded by the old model",
            why=f"{due:,} texts lack a vector of {target.space.model}"
            + (f"; {found.message}" if isinstance(found, EmbedderAbsent) else ""),
            hint="set embedding back to the old model in the YAML, then: negmem embed migrate",
        )
    price = _price(session, embedder, target.id) if embedder is not None and due else _FREE
    already = target.memories + target.facts
    return ChangePlan("rollback", active, target, target.space, embedder, settings, price, already)


def _plan_migrate(session: Session, models: list[StoredModel], active: StoredModel) -> ChangePlan:
    from negmem.providers.embedding import EmbedderAbsent, identity_of

    found = session.configured_embedder
    if isinstance(found, EmbedderAbsent):
        raise found.error()
    space = _space(found)
    target = next((one for one in models if one.space == space), None)
    other = next((m for m in models if m.status == "building" and m.space != space), None)
    if other is not None and space != active.space:
        raise NegmemError(
            "embedding_change_open",
            "a change to another model is under way",
            why=f"{other.memories + other.facts:,} texts are embedded by {other.space.model},"
            f" {space.model} is configured",
            hint="negmem embed migrate --cancel    or set embedding back to it",
        )
    _probe(found, space)
    settings: dict[str, Any] | None = None
    if not session.is_embedder_given:
        settings = dict(identity_of(session.config.embedding))
    price = _price(session, found, _NO_MODEL if target is None else target.id)
    already = 0 if target is None else target.memories + target.facts
    action = "complete" if space == active.space else "migrate"
    return ChangePlan(action, active, target, space, found, settings, price, already)


def _probe(embedder: Embedder, space: ModelSpace) -> None:
    """One word through the model: its vectors must have the length that will be recorded."""
    got = int(embedder.embed_documents(["negmem"]).shape[1])
    if got != space.dims:
        raise NegmemError(
            "embedding_dims_mismatch",
            f"the model gives {got} dimensions, {space.dims} were expected",
            why=f"{space.provider} {space.model}",
            hint=f"negmem config set embedding.dims {got}",
        )


def _settings_of(session: Session, model_id: int) -> dict[str, Any] | None:
    rows = session.database.rows("embed", "models", {"app_name": session.app})
    found: dict[str, Any] | None = next((r["settings"] for r in rows if r["id"] == model_id), None)
    return found


def _price(session: Session, embedder: Embedder, model_id: int) -> Price:
    from negmem.providers.embedding import price_per_token

    row = session.database.row("embed", "size", {"app_name": session.app, "model_id": model_id})
    assert row is not None
    per_token = price_per_token(embedder)
    basis = "no price is known for this model"
    if per_token is not None:
        basis = f"{per_token * 1_000_000:g} US dollars for a million tokens"
    if embedder.name in ("local", "onnx"):
        basis = "runs on this machine"
    return Price(
        texts=row["texts"],
        tokens=int(row["tokens"]),
        cost_usd=None if per_token is None else round(per_token * int(row["tokens"]), 6),
        basis=basis,
    )


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
    found = next((m for m in _models(session) if m.id == model_id), None)
    working = None if found is None else found.working
    over = working if working is not None and _is_gone(working) else mine
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


def _is_gone(holder: str) -> bool:
    """Whether the process that holds a lease ran on this machine and no longer does."""
    host, _, process = holder.rpartition(" ")
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(process) == os.getpid()


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
    with session.database.transaction():
        stored = session.database.rows("embed", f"put_{kind}", params)
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


def _drop(session: Session, planned: ChangePlan) -> int:
    """Remove the vectors of every model that is not searched any more, or not yet."""
    wanted = "retired" if planned.action == "confirm" else "building"
    removed = 0
    for model in _models(session):
        if model.status != wanted:
            continue
        if model.working is not None and not _is_gone(model.working):
            raise NegmemError(
                "embedding_change_running",
                "another process works at this change",
                why=f"{model.working} holds it",
                hint="negmem embed status",
            )
        scope = {"app_name": session.app, "model_id": model.id}
        for block in ("drop_memory_vectors", "drop_fact_vectors"):
            while True:
                with session.database.transaction():
                    gone = session.database.execute(
                        "embed", block, {**scope, "row_limit": _DELETED_AT_ONCE}
                    )
                removed += gone
                if gone < _DELETED_AT_ONCE:
                    break
        session.database.row("embed", "drop_model", scope)
    return removed


def _answer(
    planned: ChangePlan, work: _Work, *, switched: bool, removed: int, dry_run: bool
) -> EmbedChange:
    following = None
    if work.stopped is not None:
        following = "negmem embed migrate"
    elif dry_run:
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
