"""One batch of turns at a time into the database: find what is new, embed it, one transaction."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

from negmem.core.formation.vectors import Vectorizer
from negmem.core.session import Session
from negmem.core.text.indexed import embedded_text
from negmem.core.text.refusals import being_erased
from negmem.db import memories as db
from negmem.errors import NegmemError

_TRIES = 10
_FIRST_ANALYZE = 100
# deadlock, serialization, lock timeout; and rows that another run wrote or removed meanwhile
_RETRIED = frozenset(("40P01", "40001", "55P03", "23505", "23503"))


@dataclass
class Gathered:
    """A batch, with the number of the session that each of its turns belongs to."""

    batch: db.Batch = field(default_factory=db.Batch)
    sessions: list[int] = field(default_factory=list)


class Storer:
    """Stores batches in the order in which they come. `counts` is what is committed.

    Counted are sessions that got something new, threads, events, memories, blank turns, jobs, and
    duplicates: turns that were stored already.
    """

    def __init__(
        self,
        session: Session,
        vectorizer: Vectorizer,
        run_id: UUID,
        *,
        dry_run: bool,
        on_step: Callable[[], None],
    ) -> None:
        self._session = session
        self._vectorizer = vectorizer
        self._run_id = run_id
        self._dry_run = dry_run
        self._on_step = on_step
        self._stopping = threading.Event()
        self._last_counted_session = 0
        self._analyze_at = _FIRST_ANALYZE
        self.counts: Counter[str] = Counter()

    def stop(self) -> None:
        """Let the batch under way go unless it is being committed. Safe from another thread."""
        self._stopping.set()

    def finish(self) -> None:
        """Wait until what is counted is on disk."""
        if self.counts["events"] and not self._dry_run:
            db.make_durable(self._session.database)

    def store(self, gathered: Gathered) -> None:
        """Store what is new of a batch.

        Raises: NegmemError of the database, after some tries where others stood in the way.
        """
        batch = gathered.batch
        database, app = self._session.database, self._session.app
        model = self._vectorizer.model if self._vectorizer.is_active else None
        found = db.find_turns(database, app, batch, model)
        barred = self._barred(batch)
        fresh = [
            number
            for number, turn in enumerate(batch.turns)
            if number not in found.stored and batch.user_of(turn) not in barred
        ]
        new = _with_used_threads(batch, fresh)
        sessions = [gathered.sessions[number] for number in fresh]
        self.counts["duplicates"] += len(found.stored)
        if self._dry_run:
            self._count(new, sessions, frozenset(range(len(fresh))))
        elif new.turns or found.bare:
            self._embed_and_commit(new, sessions, batch, found)
            if self.counts["events"] >= self._analyze_at:
                db.refresh_statistics(database, self.counts["events"])
                self._analyze_at = self.counts["events"] * 4
        self._on_step()

    def _barred(self, batch: db.Batch) -> set[str]:
        """Users of the batch who are paused: nothing is stored of them. Raises: `user_being_erased`."""
        users = sorted({batch.user_of(turn) for turn in batch.turns})
        params = {"app_name": self._session.app, "users": users}
        rows = self._session.database.rows("ingest", "standing", params)
        for row in rows:
            if row["is_erasing"]:
                raise being_erased(row["user_id"])
            self._session.warn(
                "user_paused",
                f'nothing was stored of "{row["user_id"]}", who is paused: negmem user resume',
            )
        return {row["user_id"] for row in rows}

    def _embed_and_commit(
        self, new: db.Batch, sessions: list[int], batch: db.Batch, found: db.Found
    ) -> None:
        remembered = [turn for turn in new.turns if turn.memory_id is not None]
        vectors = self._vectorizer.embed(
            [new.user_of(turn) for turn in remembered],
            [turn.memory_id for turn in remembered if turn.memory_id is not None],
            [embedded_text(turn.speaker, turn.text) for turn in remembered],
            self._step,
        )
        repairs = self._vectorizer.embed(
            [batch.user_of(batch.turns[bare.number]) for bare in found.bare],
            [bare.memory_id for bare in found.bare],
            [embedded_text(bare.speaker, bare.content) for bare in found.bare],
            self._step,
        )
        if self._stopping.is_set():
            return
        stored = self._commit(new, vectors, repairs)
        counts = self.counts
        counts["duplicates"] += len(new.turns) - len(stored.turns)
        counts["threads"] += stored.threads
        counts["jobs"] += stored.jobs
        self._count(new, sessions, stored.turns)
        self._vectorizer.stored(
            vectors=stored.vectors,
            repaired=stored.repaired,
            missing=stored.memories - stored.vectors,
        )

    def _step(self) -> bool:
        self._on_step()
        return not self._stopping.is_set()

    def _commit(
        self, batch: db.Batch, vectors: db.Vectors | None, repairs: db.Vectors | None
    ) -> db.Stored:
        for attempt in range(1, _TRIES + 1):
            try:
                return db.store(
                    self._session.database,
                    self._session.app,
                    batch,
                    run_id=self._run_id,
                    vectors=vectors,
                    missing=repairs,
                )
            except NegmemError as error:
                if getattr(error, "sqlstate", "") not in _RETRIED or attempt == _TRIES:
                    raise
                time.sleep(random.uniform(0.05, 0.2) * attempt)
        raise AssertionError("the last try raises")

    def _count(self, batch: db.Batch, sessions: list[int], turns: frozenset[int]) -> None:
        counts = self.counts
        memories = sum(1 for number in turns if batch.turns[number].memory_id is not None)
        counts["events"] += len(turns)
        counts["memories"] += memories
        counts["blank"] += len(turns) - memories
        grown = {sessions[number] for number in turns}
        counts["sessions"] += len(grown - {self._last_counted_session})
        self._last_counted_session = max(grown, default=self._last_counted_session)


def _with_used_threads(batch: db.Batch, numbers: list[int]) -> db.Batch:
    """These turns of a batch, with the threads that they need: no other is opened for nothing."""
    turns = [batch.turns[number] for number in numbers]
    used = sorted({turn.thread for turn in turns})
    if len(used) == len(batch.threads):
        return db.Batch(batch.threads, turns)
    places = {old: new for new, old in enumerate(used)}
    return db.Batch(
        [batch.threads[number] for number in used],
        [replace(turn, thread=places[turn.thread]) for turn in turns],
    )
