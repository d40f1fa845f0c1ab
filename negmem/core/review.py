"""Who decides on a write of the learning stores: the gate inside of every function that writes to one.

A function under `reviewed` writes at once where its store's mode is `always` or `agentic`. Where the mode is
`propose` or `hitl` the very call becomes a proposal, after it was tried without writing; an approval makes
the call. There is no flag that lets a write through: only `proposals.approve` acts for an approved proposal.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.learning import items
from negmem.core.learning.access import Owner, access_of
from negmem.core.learning.protocol import Mode
from negmem.core.models.base import Model
from negmem.core.pii import guard_of
from negmem.core.session import Session
from negmem.errors import NegmemError

StoreName = Literal["profile", "memory", "entity", "knowledge"]
Op = Literal["add", "update", "delete"]
OPS = ("add", "update", "delete")
STORES: tuple[StoreName, ...] = ("profile", "memory", "entity", "knowledge")
WAITING = ("pending", "edited", "stale", "failed")
AGENT = "agent"
"""Who proposes where a tool was called and no agent was named."""
EXPIRY_DAYS = 30
QUIET_DAYS = 30
"""What was rejected is not proposed again for so long."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Acting:
    """On whose behalf the session writes. `who` None: the session's actor.

    What a model found has its `evidence` (turns with quotes), `confidence` in 0..1, and what made it.
    """

    who: str | None = None
    agent: str | None = None
    thread: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
    rationale: str | None = None
    confidence: float | None = None
    model: str | None = None
    prompt_version: str | None = None

    @property
    def is_by_hand(self) -> bool:
        """Whether no agent, tool or extractor writes."""
        return False


@dataclass(frozen=True)
class _Approved(Acting):
    """Acts for a proposal that was approved; made by `applying` alone."""

    @property
    def is_by_hand(self) -> bool:
        """Whether a person proposed it."""
        return self.agent is None and self.model is None and self.who != AGENT


@dataclass(frozen=True)
class Target:
    """What a call would change: whose, which row at which version, what it says now.

    `near`: id, text and score (0..1) of what stands already and is like what would be added.
    """

    owner: Owner
    id: UUID | None = None
    version: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    near: tuple[tuple[UUID, str, float], ...] = ()


@dataclass(frozen=True)
class Act:
    """A function that writes, as a proposal names it."""

    name: str
    store: StoreName
    op: Op
    function: Callable[..., Any]
    target: Callable[[Session, str | None, Mapping[str, Any]], Target]
    texts: Callable[[Mapping[str, Any]], Sequence[str]]


ACTS: dict[str, Act] = {}


def acting_of(session: Session) -> Acting:
    """On whose behalf the session writes now."""
    return session.acting if isinstance(session.acting, Acting) else Acting()


@contextmanager
def acting(session: Session, who: Acting) -> Iterator[None]:
    """Write on somebody's behalf: an agent, an extractor. It neither adds nor takes rights."""
    before = session.acting
    session.acting = replace(who) if type(who) is Acting else Acting()
    try:
        yield
    finally:
        session.acting = before


def writer_of(session: Session, user: str | None) -> str:
    """Who is noted as the writer of what is added."""
    return acting_of(session).who or user or session.actor


def mode_of(session: Session, store: StoreName) -> Mode:
    """The mode of a store that can be reviewed."""
    mode: Mode = getattr(session.config.learning, store).mode
    return mode


def waits(session: Session, store: StoreName) -> bool:
    """Whether writes to a store wait for a person now; not for those of an approved proposal."""
    if isinstance(session.acting, _Approved):
        return False
    return mode_of(session, store) in ("propose", "hitl")


def reviewed(
    store: StoreName,
    op: Op,
    target: Callable[[Session, str | None, Mapping[str, Any]], Target],
    *,
    texts: Callable[[Mapping[str, Any]], Sequence[str]] = lambda arguments: (),
    when: Callable[[Session, str | None, Mapping[str, Any]], bool] | None = None,
) -> Callable[[Function], Function]:
    """Put a function that writes under review; its first parameters are session and user.

    Args: target, what a call would change; texts, what it will embed; when, which calls concern the
    store. The function has the parameter `dry_run`, and its answer says what it would do.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        act = Act(f"{store}.{function.__name__}", store, op, function, target, texts)

        @functools.wraps(function)
        def through(session: Session, *arguments: Any, **named: Any) -> Any:
            if not waits(session, store):
                return function(session, *arguments, **named)
            given = dict(signature.bind(session, *arguments, **named).arguments)
            given.pop("session")
            user = given.pop("user")
            is_dry = bool(given.pop("dry_run", False))
            if when is not None and not when(session, user, given):
                return function(session, *arguments, **named)
            preview = function(session, user, **given, dry_run=True)
            nothing = getattr(preview, "action", "") == "unchanged"
            if is_dry or nothing or getattr(preview, "changed", None) == []:
                return preview
            return _proposed(session, act, user, given, preview)

        ACTS[act.name] = act
        return cast("Function", through)

    return decorate


def refuse_past_review(session: Session, store: StoreName, hint: str) -> None:
    """For statements that no proposal can carry: refuse them while the store waits for a person.

    Raises: NegmemError `review_required`.
    """
    if waits(session, store):
        raise NegmemError(
            "review_required",
            f"writes to the store {store} wait for a person",
            why=f"learning.{store}.mode is {mode_of(session, store)}",
            hint=hint,
        )


def _proposed(
    session: Session, act: Act, user: str | None, given: Mapping[str, Any], preview: Any
) -> Any:
    made = propose(session, act, user, given)
    if made is not None:
        session.warn(
            "proposed", f"nothing is written before it is approved: negmem proposals show {made}"
        )
    if not isinstance(preview, Model):
        return preview
    known = type(preview).model_fields
    action = "suppressed" if made is None else "proposed"
    changes = {"action": action, "proposal_id": made, "dry_run": False}
    if "proposal_id" not in known:
        return preview
    return preview.model_copy(update={k: v for k, v in changes.items() if k in known})


def propose(session: Session, act: Act, user: str | None, given: Mapping[str, Any]) -> UUID | None:
    """Keep a call for a person to decide; the same again is the same proposal.

    None, with the warning `proposal_suppressed`, where the same was rejected not long ago.
    Raises: NegmemError `namespace_denied`.
    """
    target = act.target(session, user, given)
    access_of(session, user).require(target.owner, "write")
    by = acting_of(session)
    payload, flags = guard_of(session).screen_value(
        {"act": act.name, "arguments": stored_arguments(given)}
    )
    evidence, more = guard_of(session).screen_value([dict(one) for one in by.evidence])
    payload = {**payload, "flags": {**flags, **more}}
    owner = target.owner.params(session)
    values = {
        **owner,
        "user_id": user,
        "agent_id": by.agent,
        "thread": by.thread,
        "store": act.store,
        "op": act.op,
        "mode": mode_of(session, act.store),
        "target_id": target.id,
        "target_version": target.version,
        "payload": Jsonb(payload),
        "evidence": Jsonb(evidence),
        "rationale": by.rationale,
        "confidence": by.confidence,
        "model": by.model,
        "prompt_version": by.prompt_version,
        "duplicates": Jsonb([{"id": str(i), "text": t, "score": s} for i, t, s in target.near]),
        "proposed_by": items.changer_of(session),
        "expiry_days": EXPIRY_DAYS,
        "quiet_days": QUIET_DAYS,
    }

    def write() -> tuple[UUID, str]:
        with session.database.transaction():
            items.lock_store(session, target.owner, "proposal")
            if user is not None:
                session.database.execute("proposals", "admit", values)
            same = session.database.row("proposals", "same", values)
            if same is not None:
                return same["id"], same["status"]
            row = session.database.row("proposals", "add", values)
            assert row is not None
            return row["id"], "pending"

    made, status = items.retried(write)
    if status == "rejected":
        session.warn(
            "proposal_suppressed",
            f"the same was rejected within {QUIET_DAYS} days: negmem proposals show {made}",
        )
        return None
    return made


@contextmanager
def applying(session: Session, who: Acting, texts: Sequence[str]) -> Iterator[None]:
    """One transaction in which an approved call is made; only `proposals.approve` opens it.

    Args: texts, which are embedded before the transaction opens; what is due after it, after it.
    """
    with together(session, texts):
        before = session.acting
        session.acting = _Approved(**vars(who))
        try:
            yield
        finally:
            session.acting = before


@contextmanager
def together(session: Session, texts: Sequence[str]) -> Iterator[None]:
    """One transaction for several writes: all or none of them. No model is waited for while it is open.

    Args: texts, what the writes will embed.
    """
    from negmem.core.embedding import embed_texts

    if session.vectors_at_hand is not None:
        yield
        return
    session.vectors_at_hand = {}
    due: list[tuple[Owner, str, UUID]] = []
    try:
        embed_texts(session, list(dict.fromkeys(texts)))
        session.vectors_due = due
        with session.database.whole():
            yield
    finally:
        session.vectors_at_hand = session.vectors_due = None
    for owner, kind, item in dict.fromkeys(due):
        items.embed(session, owner, kind, item)


def stored_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call as JSON values, as a proposal keeps them."""
    return {name: _stored(value) for name, value in given.items()}


def _stored(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _stored(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_stored(one) for one in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value
