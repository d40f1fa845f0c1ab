"""Reflections: what was learned from bad answers, and what several memories show together.

Each is a memory with its sources. What a model writes is checked first and stored after; where it does not
hold, a lesson is made from a template and an insight is not made.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.formation.vectors import Vectorizer
from negmem.core.pii import guard_of
from negmem.core.session import Session
from negmem.core.text.digest import plain_line
from negmem.core.text.reflection_texts import (
    IMPORTANCE,
    INSIGHT_SCHEMA,
    LESSON_SCHEMA,
    SNIPPETS,
    Insight,
    Lesson,
    checked_insights,
    checked_lesson,
    insight_request,
    lesson_request,
    lesson_template,
    query_hash,
)
from negmem.db.memories import Mark, mark_memories

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

STEP = "reflect"
LESSONS_A_DAY = 10
SAME_LESSON = 0.92
LESSON_ADDS = 0.15
BATCH = 20
LEAST_MEMORIES = 5
"""Fewer new memories show nothing together: they wait for more."""
_SPACE = UUID("5f0a7c86-3f4e-4c35-9f5b-6b8a3a0f2c11")


@dataclass
class Reflected:
    """What a run did. `failure` says why insights could not be sought; then they are sought again."""

    lessons: int = 0
    templates: int = 0
    insights: int = 0
    dropped: int = 0
    skipped: int = 0
    read: int = 0
    failure: str | None = None
    ceiling: str | None = None


@dataclass(frozen=True)
class _Draft:
    """A memory that is about to be stored; the id is made of what it comes from."""

    id: UUID
    type: str
    text: str
    subtype: str
    added_importance: float
    source_ids: Sequence[UUID]
    model: str | None
    metadata: dict[str, Any] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()


class Reflector:
    """Reflects on one user's memories. `checkpoint` is called before each call to a model and each commit."""

    def __init__(
        self,
        session: Session,
        user: str,
        *,
        generator: Generator | None = None,
        run_id: UUID | None = None,
        checkpoint: Callable[[], None] = lambda: None,
    ) -> None:
        self._session = session
        self._user = user
        self._scope = {"user_id": user, "app_name": session.app}
        self._generator = generator
        self._run_id = run_id
        self._checkpoint = checkpoint
        self._vectorizer: Vectorizer | None = None
        self.done = Reflected()

    def run(self) -> Reflected:
        """Lessons from feedback, then insights where there is a model."""
        self._learn_lessons()
        if self._generator is not None:
            self._seek_insights(self._generator)
        return self.done

    # -- lessons -------------------------------------------------------------------------------

    def _learn_lessons(self) -> None:
        database = self._session.database
        params = {**self._scope, "row_limit": 5 * LESSONS_A_DAY}
        for row in database.rows("reflections", "bad_feedback", params):
            marks = {**self._scope, "query_hash": query_hash(row["query"])}
            if self._may_not_learn(marks):
                self.done.skipped += 1
                continue
            few = {**self._scope, "ids": row["memory_ids"], "row_limit": SNIPPETS}
            snippets = database.rows("reflections", "snippets", few)
            lesson, model = self._lesson(row, [one["content"] for one in snippets])
            draft = _Draft(
                id=uuid.uuid5(row["id"], "reflection"),
                type="episodic",
                text=lesson.text,
                subtype="reflection",
                added_importance=LESSON_ADDS,
                source_ids=[one["id"] for one in snippets],
                model=model,
                metadata={
                    "source": "reflection_worker",
                    "created_by": "reflexion_v1",
                    "method": "pattern" if lesson.is_template else "llm",
                    "query_hash": marks["query_hash"],
                    "outcome": row["outcome"],
                    "applicable_when": lesson.applicable_when,
                    "anti_examples": lesson.anti_examples,
                    "src_log_id": str(row["retrieval_id"]),
                    "feedback_id": str(row["id"]),
                },
            )
            draft = self._screened(draft)
            vector = self._vectors([draft])
            self._checkpoint()
            with database.transaction():
                database.rows("reflections", "lock", self._scope)
                if self._may_not_learn(marks) or self._is_said(draft, vector):
                    self.done.skipped += 1
                    continue
                if self._store(draft, vector):
                    self.done.lessons += 1
                    self.done.templates += lesson.is_template

    def _may_not_learn(self, marks: dict[str, Any]) -> bool:
        row = self._session.database.row("reflections", "made", marks)
        return row is not None and (row["today"] >= LESSONS_A_DAY or row["same_query"])

    def _lesson(self, row: dict[str, Any], snippets: list[str]) -> tuple[Lesson, str | None]:
        """The model's lesson where it holds, else the template; and the model that wrote it."""
        if self._generator is not None and self.done.ceiling is None:
            from negmem.providers.generation import Refusal

            self._checkpoint()
            answer = self._generator.generate(
                lesson_request(row["query"], row["outcome"], snippets),
                LESSON_SCHEMA,
                on_wait=self._checkpoint,
            )
            if isinstance(answer, Refusal):
                if answer.ends_run:
                    self.done.ceiling = plain_line(answer.reason)
            else:
                lesson = checked_lesson(answer.value, row["query"], snippets)
                if lesson is not None:
                    return lesson, self._generator.model
            self.done.dropped += 1
        return lesson_template(row["query"], row["outcome"], snippets), None

    # -- insights ------------------------------------------------------------------------------

    def _seek_insights(self, generator: Generator) -> None:
        from negmem.providers.generation import Refusal

        database = self._session.database
        while self.done.ceiling is None:
            params = {**self._scope, "step": STEP, "row_limit": BATCH}
            rows = database.rows("reflections", "material", params)
            if len(rows) < LEAST_MEMORIES:
                return
            self._checkpoint()
            given = [(row["content"][:300], _day(row["occurred_at"])) for row in rows]
            answer = generator.generate(
                insight_request(given), INSIGHT_SCHEMA, on_wait=self._checkpoint
            )
            if isinstance(answer, Refusal):
                if answer.ends_run:
                    self.done.ceiling = plain_line(answer.reason)
                else:
                    self.done.failure = plain_line(f"{answer.code}: {answer.reason}")
                return
            read = checked_insights(answer.value, [f"{text} {day or ''}" for text, day in given])
            if read is None:
                self.done.failure = "the model's answer is not what was asked for"
                return
            insights, dropped = read
            self.done.dropped += dropped
            if not self._keep(rows, insights, generator.model):
                return

    def _keep(self, rows: list[dict[str, Any]], insights: list[Insight], model: str) -> bool:
        """Store the insights and mark what they were sought in; False where that is no longer there."""
        drafts = [self._screened(self._draft(rows, insight, model)) for insight in insights]
        vectors = self._vectors(drafts)
        self._checkpoint()
        database = self._session.database
        ids, versions = [row["id"] for row in rows], [row["version"] for row in rows]
        with database.transaction():
            database.rows("reflections", "lock", self._scope)
            params = {**self._scope, "ids": ids, "versions": versions}
            there = {row["id"] for row in database.rows("reflections", "still_there", params)}
            for draft in drafts:
                if not set(draft.source_ids) <= there or self._is_said(draft, vectors):
                    self.done.dropped += 1
                elif self._store(draft, vectors):
                    self.done.insights += 1
            database.execute("formation_marks", "mark", {**params, "step": STEP})
        self.done.read += len(rows)
        return bool(there)

    def _draft(self, rows: list[dict[str, Any]], insight: Insight, model: str) -> _Draft:
        name = f"{self._session.app}\0{self._user}\0{' '.join(insight.text.lower().split())}"
        return _Draft(
            id=uuid.uuid5(_SPACE, name),
            type="semantic",
            text=insight.text,
            subtype="insight",
            added_importance=IMPORTANCE[insight.importance],
            source_ids=[rows[index]["id"] for index in insight.sources],
            model=model,
            metadata={
                "source": "deep_reflection",
                "method": "llm",
                "importance": insight.importance,
            },
        )

    # -- storing -------------------------------------------------------------------------------

    def _screened(self, draft: _Draft) -> _Draft:
        """The draft as the policies on personal data let it be stored."""
        found = guard_of(self._session).screen(draft.text, draft.metadata)
        return replace(draft, text=found.text, metadata=found.metadata, marks=found.marks)

    def _vectors(self, drafts: Sequence[_Draft]) -> dict[UUID, tuple[int, list[float]]]:
        """The vectors of texts, made outside of any transaction; those that can't be had are left out."""
        if not drafts:
            return {}
        if self._vectorizer is None:
            self._vectorizer = Vectorizer(self._session)
        users, ids = [self._user] * len(drafts), [draft.id for draft in drafts]
        made = self._vectorizer.embed(users, ids, [draft.text for draft in drafts], lambda: True)
        if made is None:
            return {}
        rows = zip(made.memories, made.values, strict=True)
        return {one: (made.model.id, [float(x) for x in row]) for one, row in rows}

    def _is_said(self, draft: _Draft, vectors: dict[UUID, tuple[int, list[float]]]) -> bool:
        """Whether the last week has one that says the same."""
        if draft.id not in vectors:
            return False
        model_id, embedding = vectors[draft.id]
        params = {
            **self._scope,
            "model_id": model_id,
            "embedding": embedding,
            "subtype": draft.subtype,
        }
        row = self._session.database.row("reflections", "nearest", params)
        return (
            row is not None and row["similarity"] is not None and row["similarity"] >= SAME_LESSON
        )

    def _store(self, draft: _Draft, vectors: dict[UUID, tuple[int, list[float]]]) -> bool:
        """Store one memory within the caller's transaction; False where it stands already."""
        database = self._session.database
        metadata = {
            **draft.metadata,
            "subtype": draft.subtype,
            "model": draft.model,
            "source_ids": [str(one) for one in draft.source_ids],
        }
        values = {
            **self._scope,
            "id": draft.id,
            "thread_id": None,
            "memory_type": draft.type,
            "content": draft.text,
            "metadata": Jsonb(metadata),
            "occurred_at": None,
        }
        if database.row("memory", "add", values) is None:
            return False
        app, user = self._session.app, self._user
        mark_memories(database, app, {draft.id: draft.marks}, {draft.id: user})
        ids = {**self._scope, "ids": [draft.id]}
        if draft.id in vectors:
            model_id, embedding = vectors[draft.id]
            put = {"memory_id": draft.id, "model_id": model_id, "embedding": embedding}
            database.execute("memory", "put_vector", {**self._scope, **put})
        database.rows("memory", "rescore_thread", ids)
        database.rows("memory", "index", ids)
        added = {**self._scope, "id": draft.id, "added": draft.added_importance}
        database.execute("reflections", "weigh", added)
        sources = {
            **self._scope,
            "id": draft.id,
            "source_ids": list(draft.source_ids),
            "run_id": self._run_id,
            "model": draft.model,
        }
        database.execute("reflections", "add_sources", sources)
        return True


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.astimezone(timezone.utc):%Y-%m-%d}"
