"""Turns put to a model with what is known: its operations tried, then made together, with their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.core.formation.extraction.batches import batched
from negmem.core.formation.extraction.prompt import SourceTurn
from negmem.core.learning import (
    entities,
    entity_changes,
    items,
    learnings,
    observations,
    stored_lessons,
)
from negmem.core.learning.access import access_of, owner_of
from negmem.core.learning.entity_rows import KIND, entity_key, fetch
from negmem.core.learning.introductions import cite_part, introduce, introductions, standing
from negmem.core.learning.protocol import Processed
from negmem.core.learning.reading_prompt import (
    SCHEMA,
    VERSION,
    Known,
    Operation,
    check_shape,
    messages,
    read_answer,
    worth_reading,
)
from negmem.core.models.entity import Entity, EntityChange
from negmem.core.review import Acting, acting, mode_of, together, waits
from negmem.core.session import Session
from negmem.errors import NegmemError
from negmem.providers.answers import Answer, Refusal, RefusalKind

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

READ = ("memory", "entity", "knowledge")
"""The stores that a model writes to by operations; the profile has its facts from the step fact_extract."""
_SHOWN = {"memory": 40, "entity": 12, "knowledge": 5}
_LOOKED_AT = 1_000
_FACTS = 10
_FINAL = frozenset((RefusalKind.DECLINED, RefusalKind.TOO_LONG))


@dataclass
class Reading:
    """What came of turns. `refusal`: the model did not answer; `is_pending`: it should be asked later."""

    counts: Counter[str] = field(default_factory=Counter)
    rejected: list[str] = field(default_factory=list)
    refusal: Refusal | None = None
    is_pending: bool = False

    def processed(self, store: str) -> Processed:
        """As a store gives it."""
        reason = None if self.refusal is None else f"{self.refusal.code}: {self.refusal.reason}"
        return Processed(store, dict(self.counts), tuple(self.rejected), reason)


def open_stores(session: Session) -> list[str]:
    """The stores that an extractor may write to now, at once or by proposals."""
    config = session.config.learning
    return [
        name
        for name in READ
        if getattr(config, name).enabled and mode_of(session, name) != "agentic"  # type: ignore[arg-type]
    ]


def read_turns(
    session: Session,
    user: str,
    turns: Sequence[SourceTurn],
    generator: Generator,
    *,
    stores: Sequence[str],
    namespace: str | None = None,
    thread: str | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    done: Callable[[Sequence[SourceTurn]], None] = lambda turns: None,
) -> Reading:
    """Learn from turns of one user's thread; what was read is told to `done`, batch by batch.

    Args: stores, of `open_stores`; namespace, for entities and lessons, by default their stores' own.
    No transaction is open while the model thinks; all that comes of a batch is one transaction, or
    proposals.
    """
    total = Reading()
    settings = session.config.llm
    for batch in batched(turns, max_turns=settings.batch_turns, max_chars=settings.batch_chars):
        own = [turn for turn in batch if turn.is_own]
        if not any(worth_reading(turn.text) for turn in own):
            total.counts["small_talk"] += len(own)
            done(own)
            continue
        checkpoint()
        work = _Batch(session, user, batch, stores, namespace, thread)
        known = work.known()
        asked = messages(
            batch,
            known,
            stores,
            most=session.config.learning.max_operations,
            max_turn_chars=settings.batch_chars,
        )
        outcome = generator.generate(asked, SCHEMA, check=check_shape, on_wait=checkpoint)
        if not isinstance(outcome, Answer):
            generator.book_fallback()
            total.refusal = outcome
            total.is_pending = total.is_pending or outcome.kind not in _FINAL
            if outcome.kind in _FINAL:
                done(own)
            continue
        most = session.config.learning.max_operations
        plan = read_answer(outcome.value, batch, known, stores, most=most)
        total.rejected += plan.rejected
        checkpoint()
        work.carry_out(plan.operations, generator.model, total)
        done(own)
    total.counts["rejected"] += len(total.rejected)
    return total


class _Batch:
    """One batch of turns: what is known that bears on it, and the operations made."""

    def __init__(
        self,
        session: Session,
        user: str,
        turns: Sequence[SourceTurn],
        stores: Sequence[str],
        namespace: str | None,
        thread: str | None,
    ) -> None:
        self._session = session
        self._user = user
        self._text = "\n".join(turn.text for turn in turns)[:8_000]
        self._stores = stores
        self._thread = thread
        config = session.config.learning
        self._entities_in = namespace or config.entity.namespace
        self._lessons_in = namespace or config.knowledge.namespace
        self._new: dict[str, str] = {}

    def known(self) -> list[Known]:
        """What the model is shown: bounded, what bears on the turns first, of this scope alone."""
        found: list[Known] = []
        if "memory" in self._stores:
            found += self._observations()
        if "entity" in self._stores:
            found += self._entities()
        if "knowledge" in self._stores:
            found += self._lessons()
        return found

    def _observations(self) -> list[Known]:
        page = observations.list_observations.__wrapped__(  # type: ignore[attr-defined]
            self._session, self._user, limit=_LOOKED_AT
        )
        words = _grams(self._text)
        ranked = sorted(
            enumerate(page.observations),
            key=lambda pair: (-len(words & _grams(pair[1].content)), pair[0]),
        )
        return [
            Known(f"m{number}", "memory", one.id, one.content, one.version)
            for number, (_, one) in enumerate(ranked[: _SHOWN["memory"]], 1)
        ]

    def _found(self, kind: str, namespace: str, limit: int) -> tuple[Any, list[UUID]]:
        owner = owner_of(self._user, namespace)
        access_of(self._session, self._user).require(owner, "write")
        rows = items.search_items(
            self._session, self._user, kind, [owner], self._text, None, limit=limit
        )
        return owner, [row["id"] for row in rows]

    def _entities(self) -> list[Known]:
        owner, ids = self._found(KIND, self._entities_in, _SHOWN["entity"])
        by_id = {one.id: one for one in fetch(self._session, [owner], ids)}
        found = []
        for number, one in enumerate((by_id[id] for id in ids if id in by_id), 1):
            alias = f"e{number}"
            facts = tuple(
                Known(f"{alias}f{place}", "fact", fact.id, fact.content)
                for place, fact in enumerate(one.facts[-_FACTS:], 1)
            )
            said = f"{one.name} ({one.entity_type})" + (
                f": {one.description}" if one.description else ""
            )
            reference = f"{one.entity_type}/{one.entity_id}"
            found.append(Known(alias, "entity", one.id, said, one.version, reference, facts))
        return found

    def _lessons(self) -> list[Known]:
        owner, ids = self._found(stored_lessons.KIND, self._lessons_in, _SHOWN["knowledge"])
        rows = stored_lessons.stored(self._session, [owner], ids)
        return [
            Known(f"k{number}", "lesson", row["id"], f"{row['title']}: {row['learning'][:200]}")
            for number, row in enumerate(rows, 1)
        ]

    def carry_out(self, operations: Sequence[Operation], model: str, total: Reading) -> None:
        """Make the operations: those of stores that wait become proposals, the others one transaction.

        Each is tried without writing before; what is refused so is left out, with its reason.
        """
        # By store, so that all who write lock the stores in one order; entities before what is said of them.
        ordered = sorted(operations, key=lambda one: (one.store, one.op != "add"))
        proposed = [one for one in ordered if waits(self._session, one.store)]  # type: ignore[arg-type]
        direct = [one for one in ordered if one not in proposed]
        # What is not there yet can't get parts one by one: a new entity is proposed with all that is known of it.
        introduced, proposed = introductions(proposed, self._stands)
        for one, given in introduced:
            with acting(self._session, self._acting(one, model)):
                try:
                    made = introduce(
                        self._session, self._user, **given, namespace=self._entities_in
                    )
                except NegmemError as error:
                    if getattr(error, "sqlstate", ""):
                        raise
                    total.rejected.append(error.code)
                else:
                    total.counts[made.action] += 1
        for one in proposed:
            with acting(self._session, self._acting(one, model)):
                self._tried(one, total, dry_run=False)
        tried = []
        for one in direct:
            with acting(self._session, self._acting(one, model)):
                if self._is_worth_it(one, total):
                    tried.append(one)
        while tried:
            done: Counter[str] = Counter()
            refused = self._together(tried, model, done)
            if refused is None:
                total.counts.update(done)
                return
            # What others wrote meanwhile stands against one of them: the rest is made without it.
            total.rejected.append(refused[1])
            tried.remove(refused[0])

    def _together(
        self, operations: Sequence[Operation], model: str, done: Counter[str]
    ) -> tuple[Operation, str] | None:
        """Make operations in one transaction; returns which one was refused, and why: then none is made."""
        texts = [text for one in operations for text in _embedded(one)]
        under_way: list[Operation] = []

        def write() -> None:
            done.clear()
            with together(self._session, texts):
                for one in operations:
                    under_way[:] = [one]
                    with acting(self._session, self._acting(one, model)):
                        done[self._made(one, dry_run=False)] += 1

        try:
            items.retried(write)
        except NegmemError as error:
            if getattr(error, "sqlstate", "") or not under_way or error.code == "version_conflict":
                raise
            return under_way[0], error.code
        return None

    def _is_worth_it(self, one: Operation, total: Reading) -> bool:
        """Whether an operation stands the trial; of what names an entity that is yet to be, the words alone do."""
        if one.store != "entity" or one.op == "replace":
            return self._tried(one, total, dry_run=True)
        try:
            is_new = one.target is None and self._standing(one.name, one.type) is None
            far = one.op == "relate" and entity_key(one.other or "") not in self._new
            if far and self._standing(one.other, None) is None:
                total.rejected.append("entity_unknown")
                return False
        except NegmemError as error:
            total.rejected.append(error.code)
            return False
        if is_new:
            self._new[entity_key(one.name or "")] = one.type or ""
        if is_new and one.op != "add":
            return True
        rests_on_new = one.op == "relate" and entity_key(one.other or "") in self._new
        return rests_on_new or self._tried(one, total, dry_run=True)

    def _tried(self, one: Operation, total: Reading, *, dry_run: bool) -> bool:
        try:
            action = self._made(one, dry_run=dry_run)
        except NegmemError as error:
            if getattr(error, "sqlstate", "") or error.code == "version_conflict":
                raise
            total.rejected.append(error.code)
            return False
        if not dry_run:
            total.counts[action] += 1
        if action == "unchanged" and dry_run:
            # What is known gets its sources all the same.
            return one.op in ("add", "fact", "event") and one.store != "knowledge"
        return True

    def _made(self, one: Operation, *, dry_run: bool) -> str:
        """Make one operation; returns what was done."""
        session, user = self._session, self._user
        events = [turn.event_id for turn in one.turns]
        target = one.target
        if one.store == "memory":
            if one.op == "add":
                said = one.text or ""
                return observations.observe(
                    session, user, said, thread=self._thread, event_ids=events, dry_run=dry_run
                ).action
            assert target is not None
            if one.op == "delete":
                return observations.forget(
                    session, user, target.id, expected_version=target.version, dry_run=dry_run
                ).action
            return observations.correct(
                session,
                user,
                target.id,
                one.text or "",
                event_ids=events,
                expected_version=target.version,
                dry_run=dry_run,
            ).action
        if one.store == "knowledge":
            saved = learnings.save(
                session,
                user,
                title=one.title or "",
                learning=one.text or "",
                namespace=self._lessons_in,
                dry_run=dry_run,
            )
            if saved.learning is not None:
                items.cite(session, user, "learning", saved.learning.id, events)
            return saved.action
        return self._made_of_entity(one, events, dry_run)

    def _made_of_entity(self, one: Operation, events: Sequence[UUID], dry_run: bool) -> str:
        session, user = self._session, self._user
        where: dict[str, Any] = {"namespace": self._entities_in, "dry_run": dry_run}
        if one.op == "replace":
            assert one.target is not None and one.parent is not None
            done = entity_changes.replace_fact(
                session, user, one.parent.reference, one.target.id, one.text, **where
            )
            cite_part(session, user, done.entity, one.text, events)
            return done.action
        if one.op == "add":
            done = self._added(one, where)
            if done.entity is not None and not dry_run:
                items.cite(session, user, "entity", done.entity.id, events)
            return done.action
        reference = one.target.reference if one.target is not None else None
        if reference is None:
            reference = f"{(one.type or '').casefold()}/{one.name}"
            if not dry_run and not waits(session, "entity"):
                self._ensure(one, where)
        if one.op == "fact":
            said = one.text or ""
            done = entities.add_fact(
                session, user, reference, said, confidence=one.confidence, **where
            )
        elif one.op == "event":
            done = entities.add_event(
                session, user, reference, one.text or "", date=one.date, **where
            )
        else:
            other = one.other or ""
            done = entities.relate(session, user, reference, one.relation or "", other, **where)
        if not dry_run:
            cite_part(session, user, done.entity, one.text, events)
        return done.action

    def _added(self, one: Operation, where: dict[str, Any]) -> EntityChange:
        """The entity of a new name; one that stands under the name keeps what it has."""
        stands = self._standing(one.name, one.type)
        if stands is not None:
            return EntityChange(action="unchanged", entity=stands)
        name = one.name or ""
        return entities.add(
            self._session,
            self._user,
            name,
            entity_type=one.type or "",
            name=name,
            description=one.text,
            **where,
        )

    def _ensure(self, one: Operation, where: dict[str, Any]) -> None:
        """Add the entity that an operation names, unless its name or id stands."""
        if self._standing(one.name, one.type) is None:
            name = one.name or ""
            entities.add(
                self._session, self._user, name, entity_type=one.type or "", name=name, **where
            )

    def _standing(self, name: str | None, kind: str | None) -> Entity | None:
        """The entity of a name. Raises: NegmemError `entity_ambiguous` where there are several."""
        return standing(self._session, owner_of(self._user, self._entities_in), name or "", kind)

    def _stands(self, name: str, kind: str | None) -> bool:
        """Whether a name stands for an entity, or for several: then it is no new one's."""
        try:
            return self._standing(name, kind) is not None
        except NegmemError as error:
            if error.code != "entity_ambiguous":
                raise
            return True

    def _acting(self, one: Operation, model: str) -> Acting:
        return Acting(
            who="extractor llm",
            thread=self._thread,
            evidence=tuple(
                {"turn": str(turn.event_id), "quote": turn.text[:500]} for turn in one.turns
            ),
            confidence=one.confidence,
            model=model[:255],
            prompt_version=str(VERSION),
        )


def _embedded(one: Operation) -> list[str]:
    if one.store == "memory" and one.text:
        return [one.text]
    if one.store == "knowledge":
        return [f"{one.title}: {one.text}"]
    return []


def _grams(text: str) -> set[str]:
    """Pairs of neighbouring characters: what two texts in any language share."""
    folded = text.casefold()
    return {folded[place : place + 2] for place in range(len(folded) - 1)}
