"""The embedding models of an app and the change between them, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Literal

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

ChangeState = Literal["unset", "current", "incomplete", "pending", "changing", "unconfirmed"]


class ModelSpace(Model):
    """Where vectors live: those of two models can't be compared."""

    provider: str
    model: str
    version: str
    dims: int


class StoredModel(Model):
    """One model with vectors here. `status`: active (searched), building, retired (for the way back).

    `shared` are learnings and entities; `facts` the active ones.
    """

    id: int
    space: ModelSpace
    status: str
    memories: int
    memories_missing: int
    facts: int
    facts_missing: int
    shared: int
    shared_missing: int
    activated_at: Instant | None
    retired_at: Instant | None
    working: str | None

    @property
    def embedded(self) -> int:
        """How many texts have its vector."""
        return self.memories + self.facts + self.shared

    @property
    def missing(self) -> int:
        """How many texts lack it."""
        return self.memories_missing + self.facts_missing + self.shared_missing


class EmbedStatus(Model):
    """What is stored with which model, and what is configured.

    `state`: `unset` (no model yet), `current`, `incomplete` (texts without a vector), `pending` (another
    model is configured), `changing` (a change was begun), `unconfirmed` (done; the old vectors stand for
    the way back). `next` is the command that follows, if any.
    """

    state: ChangeState
    configured: ModelSpace | None
    configured_reason: str | None
    models: list[StoredModel]
    next: str | None


class Price(Model):
    """What a change would take: texts, their tokens by estimate, US dollars where a price is known."""

    texts: int
    tokens: int
    cost_usd: float | None
    basis: str


class EmbedChange(Model):
    """What a change did, or with `dry_run` would do.

    `action`: `migrate`, `complete` (the same model, what lacked a vector), `rollback`, `confirm`, `cancel`.
    `switched` says that searches now use `to_model`; `parked` texts were refused by the model and are
    found by words; `stopped` is why the rest waits: the same command goes on.
    """

    action: str
    from_model: ModelSpace | None
    to_model: ModelSpace | None
    price: Price
    embedded: int
    already: int
    parked: int
    tokens: int
    cost_usd: float | None
    switched: bool
    removed_vectors: int
    stopped: str | None
    dry_run: bool
    next: str | None
