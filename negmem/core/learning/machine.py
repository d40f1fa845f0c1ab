"""The learning machine: what all stores recall for a message, and what a prompt gets of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.learning import entities
from negmem.core.learning.blocks import GUIDANCE, block, joined
from negmem.core.learning.protocol import Bound, Item, Recalled, Store
from negmem.core.learning.stores import BUILT_IN, entity_item, stores_of
from negmem.core.models.context import Context
from negmem.core.models.machine import BuiltContext, ContextBlock, StoreFailure
from negmem.core.pii import gated
from negmem.core.retrieval.candidates import Candidate
from negmem.core.retrieval.context import select
from negmem.core.session import Session
from negmem.core.text.names import check_name
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError, UsageError
from negmem.providers.tokens import TokenCounter, counter_for

# A store → the sections of a context that are its own.
_SECTIONS: dict[str, tuple[str, ...]] = {
    "profile": ("profile",),
    "memory": ("summary", "reflections", "memories", "facts"),
    "entity": ("entities",),
    "knowledge": ("knowledge",),
}
_DEFAULT_TOKENS = 1_500
_LEAST = 64


def recall(bound: Bound, message: str, *, limit: int | None = None) -> dict[str, Recalled]:
    """What each store that is on has for a message; one that fails is left out, with the warning `store_failed`.

    Raises: UsageError `store_not_found`, `store_unfit`.
    """
    found: dict[str, Recalled] = {}
    for store in stores_of(bound.session):
        one = _recalled(store, bound, message, limit)
        if isinstance(one, Recalled):
            found[store.name] = one
    return found


@gated
def build_context(
    session: Session,
    user: str,
    message: str,
    *,
    thread: str | None = None,
    entity: str | None = None,
    entity_type: str | None = None,
    namespace: str | None = None,
    agent: str | None = None,
    team: str | None = None,
    max_tokens: int | None = None,
    record: bool = True,
    counter: TokenCounter | None = None,
) -> BuiltContext:
    """What an agent should know before it answers a message: a block of each store that is on.

    Args: entity, by id, name or alias: it is there whatever the message says.
    The built-in stores are asked in the one round trip of a search. Where that fails, or a namespace is
    named, each is asked by itself, and one that fails is left out: `failed` has it, and a warning.
    Raises: UsageError `budget_invalid`, `query_blank`, `thread_unknown`, `store_not_found`.
    """
    total = _DEFAULT_TOKENS if max_tokens is None else max_tokens
    if total < _LEAST:
        raise UsageError(
            "budget_invalid",
            "no context has such a budget",
            why=f"at least {_LEAST} tokens, got {total:,}",
            hint="max_tokens=1500",
        )
    counter = counter or counter_for(session.config.llm.model)
    bound = Bound(session, user, namespace, thread, agent, team)
    stores = stores_of(session)
    context: Context | None = None
    failed: list[StoreFailure] = []
    found: dict[str, Recalled] = {}
    together = [one for one in stores if one.name in _SECTIONS and one.name in BUILT_IN]
    if together and namespace is None:
        sections = [name for one in together for name in _SECTIONS[one.name]]
        try:
            context, candidates = select(
                session, user, message, total, thread, sections, record=record, counter=counter
            )
            found = _grouped(context, candidates)
        except DatabaseError as error:
            session.warn("stores_asked_apart", f"the stores were asked one by one: {error.message}")
    for store in stores:
        if store.name in found:
            continue
        one = _recalled(store, bound, message, None)
        if isinstance(one, StoreFailure):
            failed.append(one)
        else:
            found[store.name] = one
    if entity is not None and any(one.name == "entity" for one in stores):
        found["entity"] = _with_entity(bound, found.get("entity"), entity, entity_type)
    blocks, text = _fitted(stores, found, total, counter, failed, session)
    return BuiltContext(
        text=text,
        tokens=counter.count(text),
        max_tokens=total,
        blocks=blocks,
        failed=failed,
        retrieval_id=None if context is None else context.retrieval_id,
        level=None if context is None else context.level,
        fallbacks=[] if context is None else context.fallbacks,
    )


def note_thread(
    session: Session,
    user: str,
    thread: str | None,
    *,
    namespace: str | None,
    agent: str | None,
    team: str | None,
) -> None:
    """Keep for the jobs of a thread where what is learned from it goes, and whose agent talked."""
    given = {"namespace": namespace, "agent": agent, "team": team}
    learning = {name: value for name, value in given.items() if value is not None}
    if not learning:
        return
    if thread is None:
        raise UsageError(
            "session_missing",
            "namespace, agent and team are told of a thread, and none is named",
            why="the jobs that learn from it look for them there",
            hint='session_id="NAME"',
        )
    check_name(thread, "thread")
    params = {
        "user_id": user,
        "app_name": session.app,
        "thread": thread,
        "learning": Jsonb(learning),
    }
    with session.database.transaction():
        session.database.execute("memory", "add_user", params)
        session.database.rows("memory", "open_thread", params)
        session.database.execute("stores", "set_thread", params)


def bound_of_thread(session: Session, user: str, thread_id: UUID) -> Bound:
    """For whom and where a job learns from a thread."""
    params = {"user_id": user, "app_name": session.app, "thread_id": thread_id}
    row = session.database.row("stores", "thread", params)
    learning: dict[str, Any] = {} if row is None else dict(row["learning"])
    return Bound(
        session,
        user,
        learning.get("namespace"),
        None if row is None else row["name"],
        learning.get("agent"),
        learning.get("team"),
    )


def _recalled(
    store: Store, bound: Bound, message: str, limit: int | None
) -> Recalled | StoreFailure:
    try:
        return (
            store.recall(bound, message)
            if limit is None
            else store.recall(bound, message, limit=limit)
        )
    except Exception as error:
        return told(bound.session, store.name, error)


def told(session: Session, store: str, error: Exception) -> StoreFailure:
    """A store's failure, told in a warning; the transaction of the session is over by then."""
    code = error.code if isinstance(error, NegmemError) else "internal_error"
    said = error.message if isinstance(error, NegmemError) else f"{type(error).__name__}: {error}"
    session.warn("store_failed", f"the store {store} failed, the others went on: {said}")
    return StoreFailure(store=store, code=code, message=said)


def _with_entity(
    bound: Bound, found: Recalled | None, entity: str, entity_type: str | None
) -> Recalled:
    """What was recalled of entities, with the one that was named first."""
    shown = entities.show(
        bound.session,
        bound.user,
        entity,
        entity_type=entity_type,
        namespace=bound.in_namespace("all"),
    ).entity
    others = () if found is None else found.items
    first = entity_item(shown)
    rest = tuple(one for one in others if one.id != shown.id)
    return Recalled("entity", (first, *rest), 0 if found is None else found.left_out)


def _grouped(context: Context, candidates: Sequence[Candidate]) -> dict[str, Recalled]:
    """The items of a context by their stores, as they are stored, without labels but for who spoke.

    What an agent said is no word of the user's, and reads so.
    """
    said = {(one.section, one.id): one.spoken or one.said for one in candidates}
    left: dict[str, int] = {}
    for one in context.left_out:
        left[one.section] = left.get(one.section, 0) + 1
    taken = {section.name: section.items for section in context.sections}
    found = {}
    for store, sections in _SECTIONS.items():
        items = [
            Item(
                item.id,
                said[name, item.id][: len(item.text)] if item.is_cut else said[name, item.id],
                item.score,
                {"section": name},
            )
            for name in sections
            for item in taken.get(name, ())
        ]
        # How many more a search found says nothing; of a profile it does.
        more = left.get("profile", 0) if store == "profile" else 0
        found[store] = Recalled(store, tuple(items), more)
    return found


def _fitted(
    stores: Sequence[Store],
    found: dict[str, Recalled],
    total: int,
    counter: TokenCounter,
    failed: list[StoreFailure],
    session: Session,
) -> tuple[list[ContextBlock], str]:
    """Blocks within the budget: guidelines go first, then the last items of the longest block."""
    guided = True
    while True:
        blocks = []
        for store in stores:
            recalled = found.get(store.name)
            if recalled is None:
                continue
            if store.name in GUIDANCE and store.name in BUILT_IN:
                text = block(recalled, guided=guided)
            else:
                try:
                    text = store.build_context(recalled)
                except Exception as error:
                    failed.append(told(session, store.name, error))
                    del found[store.name]
                    continue
            if text:
                blocks.append(
                    ContextBlock(
                        store=store.name,
                        text=text,
                        items=len(recalled.items),
                        left_out=recalled.left_out,
                    )
                )
        text = joined([one.text for one in blocks])
        over = counter.count(text) - total
        if over <= 0 or not blocks:
            return blocks, text
        if guided:
            guided = False
            continue
        longest = max(blocks, key=lambda one: (len(one.text), one.store))
        recalled = found[longest.store]
        # About as many as are over, by the mean length of what is in.
        share = max(1, round(len(recalled.items) * over / max(1, counter.count(longest.text))))
        kept = recalled.items[: max(0, len(recalled.items) - share)]
        if not kept:
            del found[longest.store]
            continue
        found[longest.store] = Recalled(
            recalled.store, kept, recalled.left_out + len(recalled.items) - len(kept)
        )
