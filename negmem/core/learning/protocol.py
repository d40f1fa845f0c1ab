"""What a store of the learning machine is: four methods, and the values that they take and give.

A store of one's own is a class with these four methods and a `name`, made without arguments, and announced
by the entry point group `negmem.stores`; the name of the entry point is the store's name. The stores that
are built in, and when each is on, are in `negmem.core.learning.stores`.

Whose and where (`Bound`) is set by the program that calls, never by a model. A write through the core
functions of the built-in stores (`learnings.save`, `entities.add_fact`, `profile.set_field`,
`observations.add` …) is reviewed there, as the store's mode says: nobody has to ask, and nobody can forget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable
from uuid import UUID

from negmem.core.session import Session

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

ENTRY_POINTS = "negmem.stores"

Mode = Literal["always", "agentic", "propose", "hitl"]
"""Who decides on a write: the extractor after each turn; the agent by its tools; a person; a person who is
another than who proposed."""


@dataclass(frozen=True)
class Bound:
    """For whom and where a store works.

    `user` None: nobody in particular. `namespace` None: the store's own. `agent`, `team` and `thread` (its
    name) are noted with what is written.
    """

    session: Session
    user: str | None = None
    namespace: str | None = None
    thread: str | None = None
    agent: str | None = None
    team: str | None = None

    def in_namespace(self, default: str) -> str:
        """The namespace that counts: the one given, else the store's."""
        return default if self.namespace is None else self.namespace

    def using(self, session: Session) -> Bound:
        """The same in another session."""
        return replace(self, session=session)


@dataclass(frozen=True)
class Message:
    """A turn of a conversation. `event_id` is where it is stored; `is_new`: no process saw it before."""

    role: str
    text: str
    event_id: UUID | None = None
    occurred_at: datetime | None = None
    is_new: bool = True


@dataclass(frozen=True)
class Item:
    """One thing that a store recalled: `text` as it is stored, `data` what else the store knows of it."""

    id: UUID | str
    text: str
    score: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recalled:
    """What a store recalled, the most fitting first. `left_out` counts what had no room."""

    store: str
    items: tuple[Item, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class Processed:
    """What a store made of messages.

    `counts` by what was done (added, updated, deleted, unchanged, proposed, rejected …); `rejected` says
    why something was not taken; `reason`, why nothing was tried.
    """

    store: str
    counts: Mapping[str, int] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Tool:
    """A tool of an agent, bound to a user and namespace: `parameters` is a JSON schema of an object.

    `call` takes what the model gave for them, unchecked, and returns what `--json` would print. `writes`:
    it changes something, at once or by a proposal.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    writes: bool
    call: Callable[[Mapping[str, Any]], Any]


@runtime_checkable
class Store(Protocol):
    """A store of the learning machine."""

    @property
    def name(self) -> str:
        """What config, contexts and answers call it."""
        ...

    def recall(self, bound: Bound, message: str, *, limit: int = 10) -> Recalled:
        """What the store has for a message of the user. Reads only."""
        ...

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """Learn from messages; the same again changes nothing. `generator` None: no model is set."""
        ...

    def build_context(self, recalled: Recalled) -> str:
        """What was recalled as text for a prompt; empty where there is nothing. Pure."""
        ...

    def tools(self, bound: Bound) -> Sequence[Tool]:
        """The tools that an agent gets, as the store's mode allows."""
        ...
