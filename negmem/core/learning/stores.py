"""The stores of the learning machine: the six built in as thin classes over what stands, and further ones.

Which are on says the config; one that is off is not there, whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from negmem.core import summaries
from negmem.core.formation.extraction.patterns import extract
from negmem.core.formation.extraction.prompt import SourceTurn
from negmem.core.learning import decision_log, entities, learnings, profile, reading
from negmem.core.learning.blocks import block
from negmem.core.learning.fence import Fenced, Unloaded
from negmem.core.learning.protocol import (
    ENTRY_POINTS,
    Bound,
    Item,
    Message,
    Processed,
    Recalled,
    Store,
    Tool,
)
from negmem.core.learning.tool_sets import tools_of
from negmem.core.models.entity import Entity
from negmem.core.retrieval.search import search
from negmem.core.session import Session
from negmem.core.text.fact_words import fact_text
from negmem.core.text.labelled import spoken
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.providers.generation import Generator


class _BuiltIn:
    name = ""

    def build_context(self, recalled: Recalled) -> str:
        """The block of what was recalled."""
        return block(recalled)

    def tools(self, bound: Bound) -> Sequence[Tool]:
        """The tools of the store, as its mode allows."""
        return tools_of(self.name, bound)

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """What the extractor may do here with messages; without a model nothing."""
        user = _user(bound)
        if self.name not in reading.open_stores(bound.session):
            return Processed(self.name, reason="its mode leaves the writing to the agent")
        if generator is None:
            return Processed(self.name, reason="needs a language model: llm.model is not set")
        turns = [_source(one) for one in messages if one.event_id is not None]
        found = reading.read_turns(
            bound.session,
            user,
            turns,
            generator,
            stores=[self.name],
            namespace=bound.namespace,
            thread=bound.thread,
        )
        return found.processed(self.name)


class ProfileStore(_BuiltIn):
    """Who the user is: active facts of type profile."""

    name = "profile"

    def recall(self, bound: Bound, message: str, *, limit: int = 200) -> Recalled:
        """All fields that are known."""
        found = profile.show(bound.session, _user(bound)).fields
        items = [Item(one.id, fact_text(one.field, one.value)) for one in found]
        return Recalled(self.name, tuple(items[:limit]), max(0, len(items) - limit))

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """Fields that patterns find in the user's new words; jobs have the step fact_extract for it."""
        if bound.session.config.learning.profile.mode == "agentic":
            return Processed(self.name, reason="its mode leaves the writing to the agent")
        counts: dict[str, int] = {}
        for one in messages:
            if one.role != "user" or not one.is_new or one.event_id is None:
                continue
            for fact in extract(one.text, one.event_id, one.occurred_at):
                if fact.type != profile.TYPE:
                    continue
                done = profile.learn(
                    bound.session,
                    _user(bound),
                    fact.key,
                    fact.value,
                    confidence=fact.confidence,
                    occurred_at=fact.occurred_at,
                    event_ids=fact.event_ids,
                )
                counts[done.action] = counts.get(done.action, 0) + 1
        return Processed(self.name, counts)


class MemoryStore(_BuiltIn):
    """What is known of the user in free words: observations, beside what else is remembered."""

    name = "memory"

    def recall(self, bound: Bound, message: str, *, limit: int = 20) -> Recalled:
        """What a search of memories and facts finds."""
        found = search(bound.session, _user(bound), message, limit=limit, record=False)
        items = [
            Item(
                one.id,
                spoken(one.content, one.metadata or {}),
                one.score,
                {"kind": one.kind, "type": one.type},
            )
            for one in found.results
            if (one.kind, one.type) != ("fact", profile.TYPE)
        ]
        return Recalled(self.name, tuple(items))


class EntityStore(_BuiltIn):
    """The world of the user: people, firms and things."""

    name = "entity"

    def recall(self, bound: Bound, message: str, *, limit: int = 5) -> Recalled:
        """Entities that the message names or is about."""
        found = entities.search_entities(
            bound.session, bound.user, message, namespace=bound.in_namespace("all"), limit=limit
        )
        items = tuple(entity_item(one, one.score) for one in found.entities)
        return Recalled(self.name, items, max(0, found.total - len(items)))


class KnowledgeStore(_BuiltIn):
    """What was learned that others may use again."""

    name = "knowledge"

    def recall(self, bound: Bound, message: str, *, limit: int = 5) -> Recalled:
        """Lessons that answer the message, by words and by meaning."""
        found = learnings.search_learnings(
            bound.session, bound.user, message, namespace=bound.in_namespace("all"), limit=limit
        )
        items = [
            Item(
                one.id,
                "\n".join(filter(None, (f"{one.title}: {one.learning}", one.context))),
                one.score,
                {"tags": one.tags, "namespace": one.namespace},
            )
            for one in found.learnings
        ]
        return Recalled(self.name, tuple(items), max(0, found.total - len(items)))


class SessionContextStore(_BuiltIn):
    """Where a session stands: its summary."""

    name = "session_context"

    def recall(self, bound: Bound, message: str, *, limit: int = 1) -> Recalled:
        """The summary of the thread, of this user alone; nothing without one."""
        if bound.thread is None:
            return Recalled(self.name)
        scope = {"user_id": _user(bound), "app_name": bound.session.app, "thread": bound.thread}
        row = bound.session.database.row("stores", "session_context", scope)
        if row is None:
            return Recalled(self.name)
        return Recalled(self.name, (Item(row["id"], row["content"]),))

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """The thread's summary is made anew."""
        if bound.thread is None:
            return Processed(self.name, reason="no thread was named")
        done = summaries.refresh_changed(
            bound.session,
            _user(bound),
            summary_type="session",
            thread=bound.thread,
            generator=generator,
        )
        return Processed(self.name, {"updated": len(done)})


class DecisionLogStore(_BuiltIn):
    """What agents chose for the user, and why."""

    name = "decision_log"

    def recall(self, bound: Bound, message: str, *, limit: int = 5) -> Recalled:
        """The newest decisions made for this user."""
        found = decision_log.search_decisions(bound.session, _user(bound), limit=limit)
        items = [
            Item(
                one.id,
                "\n".join(
                    filter(
                        None,
                        (
                            one.decision,
                            one.reasoning and f"because {one.reasoning}",
                            one.outcome and f"outcome: {one.outcome}",
                        ),
                    )
                ),
            )
            for one in found.decisions
        ]
        return Recalled(self.name, tuple(items), max(0, found.total - len(items)))

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """Nothing: the agent logs its decisions."""
        return Processed(self.name, reason="the agent logs its decisions")


BUILT_IN: dict[str, Callable[[], Store]] = {
    "profile": ProfileStore,
    "memory": MemoryStore,
    "entity": EntityStore,
    "knowledge": KnowledgeStore,
    "session_context": SessionContextStore,
    "decision_log": DecisionLogStore,
}


def entity_item(one: Entity, score: float | None = None) -> Item:
    """An entity as its store recalls it: its newest facts, events and relations, a line each."""
    head = f"{one.name} ({one.entity_type})" + (f": {one.description}" if one.description else "")
    lines = [head, *(f"fact: {fact.content}" for fact in one.facts[-10:])]
    for event in one.events[-5:]:
        lines.append(f"event{' ' + event.date if event.date else ''}: {event.content}")
    for edge in one.relationships[-10:]:
        ends = (one.name, edge.name)
        source, target = ends if edge.direction == "outgoing" else reversed(ends)
        lines.append(f"relation: {source} {edge.relation} {target}")
    return Item(one.id, "\n".join(lines), score, {"type": one.entity_type})


def stores_of(session: Session) -> list[Store]:
    """The stores that are on, the built-in ones first, in their order.

    Raises: UsageError `store_not_found` for one that the config names and no entry point has.
    """
    config = session.config.learning
    found = [make() for name, make in BUILT_IN.items() if getattr(config, name).enabled]
    return found + [custom_store(name) for name in config.stores]


def custom_store(name: str) -> Store:
    """A store of somebody's own, held to what a store gives; one whose package fails does so at every call.

    Raises: UsageError `store_not_found`, `store_unfit`.
    """
    try:
        made = None if name in BUILT_IN else _announced(name)
    except Exception as error:  # whatever its package meets, the other stores work on
        return Unloaded(name, f"{type(error).__name__}: {error}")
    if made is None:
        raise UsageError(
            "store_not_found",
            f"there is no store {name[:60]!r}",
            why=f"no installed package has the entry point {name[:60]!r} in {ENTRY_POINTS}",
            hint="negmem config show learning.stores",
        )
    if not isinstance(made, Store):
        lacking = [
            part
            for part in ("name", "recall", "process", "build_context", "tools")
            if not hasattr(made, part)
        ]
        raise UsageError(
            "store_unfit",
            f"{name[:60]!r} is no store",
            why=f"it lacks {', '.join(lacking)}",
            hint="negmem config show learning.stores",
        )
    return Fenced(name, made)


@lru_cache(maxsize=32)
def _announced(name: str) -> Any:
    for one in entry_points(group=ENTRY_POINTS):
        if one.name == name:
            return one.load()()
    return None


def _user(bound: Bound) -> str:
    if bound.user is None:
        raise NegmemError(
            "user_missing",
            "this store is of a user, and none is named",
            why="it was asked for nobody in particular",
            hint='user="NAME"',
        )
    return bound.user


def _source(one: Message) -> SourceTurn:
    assert one.event_id is not None
    return SourceTurn(one.event_id, one.text, one.role == "user" and one.is_new, one.occurred_at)
