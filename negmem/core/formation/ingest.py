"""Conversations in: from a stream of records to stored threads, events and memories.

Each batch is one transaction. What is stored already is found by (thread, position, content hash), so a
run that was cut off, or a file that grew, is finished by the same command. Embedding happens between
transactions, never inside one.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import timezone, tzinfo
from typing import BinaryIO

from negmem.core.formation.places import Places
from negmem.core.formation.readers.detect import detect, read
from negmem.core.formation.readers.records import (
    ReadOptions,
    Record,
    RecordFaultError,
    Reject,
    Remark,
    Turn,
    reject,
)
from negmem.core.formation.readers.records import (
    Session as Conversation,
)
from negmem.core.formation.readers.source import Source, open_source
from negmem.core.formation.rejects import RejectFile
from negmem.core.formation.vectors import Vectorizer
from negmem.core.models.ingest import Ingested, ReplacedCharacters
from negmem.core.session import Session
from negmem.core.text.clean import NOTHING_REPLACED
from negmem.core.text.indexed import embedded_text
from negmem.db import memories as db
from negmem.errors import NegmemError, UsageError

_BATCH_CHARACTERS = 4_000_000
_TRIES = 10
_USERS_SHOWN = 20
_RETRIED = frozenset(("40P01", "40001", "55P03", "23505", "23503"))
# keys of metadata that negmem itself reads or writes; given ones move under "given"
_RESERVED = frozenset(
    (
        *("source", "role", "speaker", "turn_id", "given", "deleted", "deleted_at"),
        *("deleted_reason", "merged_into", "merged_from", "relevance_weight", "pii_flags"),
        *("pii_spans", "pii_redacted", "update_history"),
    )
)


@dataclass(frozen=True)
class IngestOptions:
    """What to read and whose it is.

    `path` is `-` for standard input. `user` owns sessions that name nobody, `thread` names those without
    a name, `me` is the speaker who is the user, `zone` that of times without one.
    """

    path: str
    format: str = "auto"
    user: str | None = None
    thread: str | None = None
    me: str | None = None
    zone: tzinfo = timezone.utc
    reject_path: str | None = None
    dry_run: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a run is: bytes of the input on disk, turns read, memories stored, records rejected."""

    bytes_read: int
    bytes_total: int | None
    turns: int
    memories: int
    rejected: int


class Ingest:
    """One run. `result` is true at any time, also after an exception cut the run short.

    Args: on_progress hears how far the run is; shield gives a context manager in which a batch is
    committed and counted, for callers that hold interrupts back meanwhile.
    """

    def __init__(
        self,
        session: Session,
        options: IngestOptions,
        *,
        stdin: BinaryIO | None = None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        shield: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._session = session
        self._options = options
        self._stdin = stdin
        self._on_progress = on_progress
        self._shield = shield
        self._rejects = RejectFile(options.reject_path, options.path, keep=not options.dry_run)
        self._counts: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._users: dict[str, None] = {}
        self._replaced = NOTHING_REPLACED
        self._places = Places()
        self._run_id = uuid.uuid4()
        self._source: Source | None = None
        self._vectorizer: Vectorizer | None = None
        self._format = ""
        self._started = time.monotonic()
        self._finished = False
        self._batch = db.Batch()
        self._thread_numbers: dict[tuple[str, str], int] = {}
        self._seen: set[tuple[int, int, bytes]] = set()
        self._batch_sessions: list[int] = []
        self._characters = 0
        self._last_counted_session = 0

    @property
    def needs_attention(self) -> bool:
        """Whether something was rejected, or should have a vector and has none."""
        vectorizer = self._vectorizer
        return self._rejects.count > 0 or (vectorizer is not None and vectorizer.needs_attention)

    @property
    def result(self) -> Ingested:
        """What is committed so far, and what was read and left out."""
        counts, replaced = self._counts, self._replaced
        return Ingested(
            sessions=counts["sessions"],
            events=counts["events"],
            memories=counts["memories"],
            rejected=self._rejects.count,
            duplicates=counts["duplicates"],
            blank=counts["blank"],
            read_sessions=counts["read_sessions"],
            read_turns=counts["read_turns"],
            threads=counts["threads"],
            jobs=counts["jobs"],
            source=self._source.name if self._source else self._options.path,
            format=self._format,
            users=list(self._users),
            replaced=ReplacedCharacters(
                nul=replaced.nul,
                surrogates=replaced.surrogates,
                byte_order_marks=replaced.byte_order_marks,
                numbers=replaced.numbers,
            ),
            left_out=dict(self._left_out),
            embedding=self._vectorizer.result if self._vectorizer else Ingested().embedding,
            rejects=self._rejects.shown,
            reject_file=self._rejects.path,
            interrupted=not self._finished,
            dry_run=self._options.dry_run,
            took_ms=round((time.monotonic() - self._started) * 1000, 1),
        )

    def run(self) -> Ingested:
        """Read the input to its end and store what is new.

        Raises: NegmemError of the input (`input_…`), of the database, `embedding_space_mismatch`;
        UsageError `user_missing` where the first session names nobody. What was committed before
        stays, `result` tells it, and the same run again goes on from there.
        """
        options = self._options
        self._source = open_source(options.path, self._stdin)
        try:
            detected = detect(self._source, options.format)
            self._format = detected.format
            self._session.require_installed()
            self._vectorizer = Vectorizer(self._session, dry_run=options.dry_run)
            wanted = ReadOptions(
                me=options.me,
                zone=options.zone,
                thread=options.thread,
                max_characters=self._session.config.formation.max_turn_chars,
            )
            for record in read(self._source, detected, wanted):
                self._take(record)
            self._flush()
            self._finished = True
        finally:
            self._source.close()
            self._rejects.close()
        self._tell()
        return self.result

    def _take(self, record: Record) -> None:
        if isinstance(record, Reject):
            self._reject(record)
        elif isinstance(record, Remark):
            key = record.code if record.code != "key_ignored" else f"key {record.detail}"
            self._left_out[key] += 1
        else:
            self._take_session(record)

    def _take_session(self, conversation: Conversation) -> None:
        if not conversation.continues:
            self._counts["read_sessions"] += 1
        try:
            user = self._owner(conversation)
        except RecordFaultError as fault:
            raw = [{"author": turn.author, "text": turn.text} for turn in conversation.turns]
            self._reject(reject(conversation.place, fault, raw))
            return
        name = conversation.thread or self._options.thread or conversation.opening.hex()[:32]
        base = self._places.base(user, name, conversation)
        if len(self._users) < _USERS_SHOWN:
            self._users[user] = None
        self._replaced += conversation.replaced
        for turn in conversation.turns:
            self._add(turn, base, user, name, conversation)

    def _owner(self, conversation: Conversation) -> str:
        user = conversation.user or self._options.user or conversation.store
        if user is None:
            if self._counts["read_sessions"] == 1:
                raise UsageError(
                    "user_missing",
                    "whose conversations are these",
                    why=f"line {conversation.place.line} names no user, and no --user was given",
                    hint="negmem ingest … --user NAME",
                )
            raise RecordFaultError("user_missing", "the session names no user")
        if not user.strip():
            raise RecordFaultError("user_empty", "the user is blank")
        return user

    def _add(self, turn: Turn, base: int, user: str, name: str, conversation: Conversation) -> None:
        self._counts["read_turns"] += 1
        thread = self._thread_numbers.get((user, name))
        if thread is None:
            thread = len(self._batch.threads)
            self._thread_numbers[user, name] = thread
            state = json.dumps(conversation.state, ensure_ascii=False)
            self._batch.threads.append(db.ThreadRow(user, name, state, conversation.occurred_at))
        key = (thread, base + turn.position, turn.content_hash)
        if key in self._seen:
            self._counts["duplicates"] += 1
            return
        self._seen.add(key)
        self._batch.turns.append(_row(turn, thread, base, conversation))
        self._batch_sessions.append(self._counts["read_sessions"])
        self._characters += len(turn.text)
        limit = self._session.config.formation.batch_turns
        if len(self._batch.turns) >= limit or self._characters >= _BATCH_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        """Store the batch: find what is new, embed it, one transaction."""
        batch, sessions = self._batch, self._batch_sessions
        self._batch, self._thread_numbers, self._seen = db.Batch(), {}, set()
        self._batch_sessions, self._characters = [], 0
        if not batch.turns:
            return
        assert self._vectorizer is not None
        database, app = self._session.database, self._session.app
        model = self._vectorizer.model if self._vectorizer.is_active else None
        found = db.find_turns(database, app, batch, model)
        fresh = [number for number in range(len(batch.turns)) if number not in found.stored]
        new = db.Batch(batch.threads, [batch.turns[number] for number in fresh])
        new_sessions = [sessions[number] for number in fresh]
        self._counts["duplicates"] += len(found.stored)
        if self._options.dry_run:
            self._count(new, new_sessions, frozenset(range(len(fresh))))
        elif new.turns or found.bare:
            self._store(new, new_sessions, batch, found)
        self._report()

    def _store(self, new: db.Batch, sessions: list[int], batch: db.Batch, found: db.Found) -> None:
        assert self._vectorizer is not None
        vectorizer = self._vectorizer
        remembered = [turn for turn in new.turns if turn.memory_id is not None]
        vectors = vectorizer.embed(
            [new.user_of(turn) for turn in remembered],
            [turn.memory_id for turn in remembered if turn.memory_id is not None],
            [
                embedded_text(json.loads(turn.metadata).get("speaker"), turn.text)
                for turn in remembered
            ],
            self._report,
        )
        repairs = vectorizer.embed(
            [batch.user_of(batch.turns[bare.number]) for bare in found.bare],
            [bare.memory_id for bare in found.bare],
            [embedded_text(bare.speaker, bare.content) for bare in found.bare],
            self._report,
        )
        with self._shield():
            stored = self._commit(_with_used_threads(new), vectors, repairs)
            self._counts["duplicates"] += len(new.turns) - len(stored.turns)
            self._counts["jobs"] += stored.jobs
            self._count(new, sessions, stored.turns)
            vectorizer.stored(
                vectors=stored.vectors,
                repaired=stored.repaired,
                missing=stored.memories - stored.vectors,
            )

    def _commit(
        self, batch: db.Batch, vectors: db.Vectors | None, repairs: db.Vectors | None
    ) -> db.Stored:
        """One transaction, tried again where others that do the same stood in its way."""
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
        counts = self._counts
        memories = sum(1 for number in turns if batch.turns[number].memory_id is not None)
        counts["events"] += len(turns)
        counts["memories"] += memories
        counts["blank"] += len(turns) - memories
        grown = {sessions[number] for number in turns}
        counts["sessions"] += len(grown - {self._last_counted_session})
        self._last_counted_session = max(grown, default=self._last_counted_session)

    def _reject(self, fault: Reject) -> None:
        self._rejects.add(fault)

    def _report(self) -> None:
        assert self._source is not None
        self._on_progress(
            Progress(
                self._source.bytes_read,
                self._source.size,
                self._counts["read_turns"],
                self._counts["memories"],
                self._rejects.count,
            )
        )

    def _tell(self) -> None:
        session = self._session
        if self._rejects.moved_from:
            session.warn(
                "reject_file_elsewhere",
                f"the rejects stand in {self._rejects.path}: cannot write to {self._rejects.moved_from}",
            )
        if self._replaced:
            session.warn(
                "characters_replaced",
                f"{self._replaced.total} characters that PostgreSQL can't hold were replaced",
            )
        if self._left_out:
            listed = ", ".join(f"{key} ({count})" for key, count in self._left_out.most_common(10))
            session.warn("left_out", f"not read: {listed}")


def ingest(
    session: Session,
    options: IngestOptions,
    *,
    stdin: BinaryIO | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Ingested:
    """Read conversations and store what is new. Raises as `Ingest.run`."""
    return Ingest(session, options, stdin=stdin, on_progress=on_progress).run()


def _with_used_threads(batch: db.Batch) -> db.Batch:
    """The batch without threads of which it has no turn: those are not opened for nothing."""
    used = sorted({turn.thread for turn in batch.turns})
    places = {old: new for new, old in enumerate(used)}
    return db.Batch(
        [batch.threads[number] for number in used],
        [replace(turn, thread=places[turn.thread]) for turn in batch.turns],
    )


def _row(turn: Turn, thread: int, base: int, conversation: Conversation) -> db.TurnRow:
    given = {key: turn.metadata[key] for key in turn.metadata.keys() & _RESERVED}
    metadata = {key: member for key, member in turn.metadata.items() if key not in _RESERVED}
    if given:
        metadata["given"] = given
    extra: dict[str, object] = {"metadata": dict(metadata)} if metadata else {}
    metadata["source"] = "session"
    metadata["role"] = turn.role
    if turn.speaker is not None:
        metadata["speaker"] = extra["speaker"] = turn.speaker
    if turn.id is not None:
        metadata["turn_id"] = extra["id"] = turn.id
    invocation = turn.metadata.get("invocation_id")
    return db.TurnRow(
        thread=thread,
        position=base + turn.position,
        content_hash=turn.content_hash,
        author=turn.author,
        role=turn.role,
        kind=turn.kind,
        text=turn.text,
        metadata=json.dumps(metadata, ensure_ascii=False),
        extra=json.dumps(extra, ensure_ascii=False),
        actions=json.dumps(turn.actions, ensure_ascii=False),
        occurred_at=turn.occurred_at or conversation.occurred_at,
        invocation_id=uuid.uuid5(uuid.NAMESPACE_URL, str(invocation)) if invocation else None,
        event_id=db.new_id(),
        memory_id=db.new_id() if turn.text.strip() else None,
    )
