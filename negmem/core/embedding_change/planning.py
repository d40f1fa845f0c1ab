"""What is stored with which embedding model, and what a change would do and cost."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from negmem.core.models.embed import ChangeState, EmbedStatus, ModelSpace, Price, StoredModel
from negmem.core.session import Session
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

_NO_MODEL = -1
_FREE = Price(texts=0, tokens=0, cost_usd=0.0, basis="nothing is embedded")


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
    models = stored_models(session)
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
    elif active.missing:
        state, command = "incomplete", "negmem embed migrate"
    return EmbedStatus(
        state=state,
        configured=configured,
        configured_reason=reason,
        models=[
            one.model_copy(update={"working": None})
            if one.working is not None and is_gone(one.working)
            else one
            for one in models
        ],
        next=command,
    )


def stored_models(session: Session) -> list[StoredModel]:
    """Every model of the app, with how much has its vector."""
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
                    "shared",
                    "shared_missing",
                    "activated_at",
                    "retired_at",
                )
            },
        )
        for row in session.database.rows("embed", "models", {"app_name": session.app})
    ]


def is_gone(holder: str) -> bool:
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
    models = stored_models(session)
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
    due = target.missing
    if due and (embedder is None or _space(embedder) != target.space):
        raise NegmemError(
            "embedder_of_old_model_missing",
            "what came since the change can't be embedded by the old model",
            why=f"{due:,} texts lack a vector of {target.space.model}"
            + (f"; {found.message}" if isinstance(found, EmbedderAbsent) else ""),
            hint="set embedding back to the old model in the YAML, then: negmem embed migrate",
        )
    price = _price(session, embedder, target.id) if embedder is not None and due else _FREE
    already = target.embedded
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
            why=f"{other.embedded:,} texts are embedded by {other.space.model},"
            f" {space.model} is configured",
            hint="negmem embed migrate --cancel    or set embedding back to it",
        )
    _probe(found, space)
    settings: dict[str, Any] | None = None
    if not session.is_embedder_given:
        settings = dict(identity_of(session.config.embedding))
    price = _price(session, found, _NO_MODEL if target is None else target.id)
    already = 0 if target is None else target.embedded
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
