"""Conversations in: from a stream of records to stored threads, events and memories.

Each batch is one transaction. What is stored already is found by (thread, position, content hash), so a
run that was cut off, or a file that grew, is finished by the same command. While one batch is embedded
and stored, the next is read: by this thread, so that an interrupt never meets a commit.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
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
from negmem.core.formation.storing import Gathered, Storer
from negmem.core.formation.vectors import Vectorizer
from negmem.core.models.ingest import Embedded, Ingested, ReplacedCharacters
from negmem.core.pii import Guard, guard_of
from negmem.core.session import Session
from negmem.core.text.clean import NOTHING_REPLACED
from negmem.core.text.names import check_name
from negmem.db import memories as db
from negmem.errors import NegmemError, UsageError

_BATCH_CHARACTERS = 4_000_000
_USERS_SHOWN = 20
# keys of metadata that negmem itself reads or writes; given ones move under "given"
_RESERVED = frozenset(
    (
        *("source", "role", "speaker", "turn_id", "given", "deleted", "deleted_at"),
        *("deleted_reason", "merged_into", "merged_from", "relevance_weight", "pii_flags"),
        *("pii_spans", "pii_redacted", "pii_unscanned", "update_history"),
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
    """One run. `result` is true at any time, also after an exception cut the run short."""

    def __init__(
        self,
        session: Session,
        options: IngestOptions,
        *,
        stdin: BinaryIO | None = None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._session = session
        self._guard = guard_of(session)
        self._options = options
        self._stdin = stdin
        self._on_progress = on_progress
        self._rejects = RejectFile(options.reject_path, options.path, keep=not options.dry_run)
        self._read: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._users: dict[str, None] = {}
        self._replaced = NOTHING_REPLACED
        self._places = Places()
        self._source: Source | None = None
        self._format = ""
        self._vectorizer: Vectorizer | None = None
        self._storer: Storer | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._under_way: Future[None] | None = None
        self._started = time.monotonic()
        self._finished = False
        self._begin_batch()

    def _begin_batch(self) -> None:
        self._gathered = Gathered()
        self._thread_numbers: dict[tuple[str, str], int] = {}
        self._seen: set[tuple[int, int, bytes]] = set()
        self._characters = 0

    @property
    def needs_attention(self) -> bool:
        """Whether something was rejected, or should have a vector and has none."""
        vectorizer = self._vectorizer
        return self._rejects.count > 0 or (vectorizer is not None and vectorizer.needs_attention)

    @property
    def result(self) -> Ingested:
        """What is committed so far, and what was read and left out."""
        stored = self._storer.counts if self._storer else Counter[str]()
        read, replaced = self._read, self._replaced
        return Ingested(
            sessions=stored["sessions"],
            events=stored["events"],
            memories=stored["memories"],
            rejected=self._rejects.count,
            duplicates=stored["duplicates"] + read["repeated"],
            blank=stored["blank"],
            read_sessions=read["sessions"],
            read_turns=read["turns"],
            threads=stored["threads"],
            jobs=stored["jobs"],
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
            embedding=self._vectorizer.result if self._vectorizer else Embedded(),
            rejects=self._rejects.shown,
            reject_file=self._rejects.path,
            interrupted=not self._finished,
            dry_run=self._options.dry_run,
            took_ms=round((time.monotonic() - self._started) * 1000, 1),
        )

    def run(self) -> Ingested:
        """Read the input to its end and store what is new.

        Raises: NegmemError of the input (`input_…`), of the database, `embedding_space_mismatch`,
        `reject_file_unusable`; UsageError `user_missing` where the first session names nobody,
        `reject_file_is_input`, `name_invalid`. What was committed before stays, `result` tells it, and the same run again
        goes on from there.
        """
        options, session = self._options, self._session
        self._rejects.check()
        if options.thread is not None:
            check_name(options.thread, "thread")
        self._source = open_source(options.path, self._stdin)
        try:
            detected = detect(self._source, options.format)
            self._format = detected.format
            session.require_installed()
            self._vectorizer = Vectorizer(session, dry_run=options.dry_run)
            self._storer = Storer(
                session,
                self._vectorizer,
                uuid.uuid4(),
                dry_run=options.dry_run,
                on_step=self._report,
            )
            wanted = ReadOptions(
                me=options.me,
                zone=options.zone,
                thread=options.thread,
                max_characters=session.config.formation.max_turn_chars,
            )
            try:
                with ThreadPoolExecutor(1, "negmem-ingest") as self._worker:
                    self._work_through(read(self._source, detected, wanted))
            except BaseException:
                with suppress(NegmemError):
                    self._storer.finish()
                raise
            self._storer.finish()
            self._finished = True
        finally:
            self._source.close()
            self._rejects.close()
        self._tell()
        return self.result

    def _work_through(self, records: Iterator[Record]) -> None:
        assert self._storer is not None
        try:
            for record in records:
                self._take(record)
            self._flush()
            self._wait()
        except BaseException:
            self._storer.stop()
            raise

    def _take(self, record: Record) -> None:
        if isinstance(record, Reject):
            self._rejects.add(record)
        elif isinstance(record, Remark):
            key = record.code if record.code != "key_ignored" else f"key {record.detail}"
            self._left_out[key] += 1
        else:
            self._take_session(record)

    def _take_session(self, conversation: Conversation) -> None:
        if not conversation.continues:
            self._read["sessions"] += 1
        try:
            user = self._owner(conversation)
        except RecordFaultError as fault:
            raw = [{"author": turn.author, "text": turn.text} for turn in conversation.turns]
            self._rejects.add(reject(conversation.place, fault, raw))
            return
        threads = self._gathered.batch.threads
        if threads and threads[-1].user != user and self._session.database.facts.row_security_binds:
            self._flush()
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
            if self._read["sessions"] == 1:
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
        self._read["turns"] += 1
        batch = self._gathered.batch
        thread = self._thread_numbers.get((user, name))
        if thread is None:
            thread = len(batch.threads)
            self._thread_numbers[user, name] = thread
            kept, _ = self._guard.screen_value(conversation.state)
            state = json.dumps(kept, ensure_ascii=False)
            batch.threads.append(db.ThreadRow(user, name, state, conversation.occurred_at))
        key = (thread, base + turn.position, turn.content_hash)
        if key in self._seen:
            self._read["repeated"] += 1
            return
        self._seen.add(key)
        batch.turns.append(_row(turn, thread, base, conversation, self._guard))
        self._gathered.sessions.append(self._read["sessions"])
        self._characters += len(turn.text)
        limit = self._session.config.formation.batch_turns
        if len(batch.turns) >= limit or self._characters >= _BATCH_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        """Hand the batch over, once the one before it is stored."""
        gathered = self._gathered
        self._begin_batch()
        self._wait()
        if gathered.batch.turns:
            assert self._worker is not None and self._storer is not None
            self._under_way = self._worker.submit(self._storer.store, gathered)

    def _wait(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _report(self) -> None:
        assert self._source is not None and self._storer is not None
        self._on_progress(
            Progress(
                self._source.bytes_read,
                self._source.size,
                self._read["turns"],
                self._storer.counts["memories"],
                self._rejects.count,
            )
        )

    def _tell(self) -> None:
        session = self._session
        if self._rejects.moved_from:
            session.warn(
                "reject_file_elsewhere",
                f"the rejects stand in {self._rejects.path}: "
                f"cannot write to {self._rejects.moved_from}",
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


def _row(
    turn: Turn, thread: int, base: int, conversation: Conversation, guard: Guard
) -> db.TurnRow:
    metadata = turn.metadata
    if reserved := metadata.keys() & _RESERVED:
        given = {key: metadata[key] for key in reserved}
        metadata = {key: member for key, member in metadata.items() if key not in reserved}
        metadata["given"] = given
    invocation = turn.metadata.get("invocation_id")
    screened = guard.screen(turn.text, metadata, (turn.speaker, turn.actions))
    metadata, (speaker, actions) = screened.metadata, screened.beside
    return db.TurnRow(
        thread=thread,
        position=base + turn.position,
        content_hash=turn.content_hash,
        speaker=speaker,
        role=turn.role,
        kind=turn.kind,
        text=screened.text,
        turn_id=turn.id,
        metadata=json.dumps(metadata, ensure_ascii=False) if metadata else None,
        actions=json.dumps(actions, ensure_ascii=False) if actions else None,
        occurred_at=turn.occurred_at or conversation.occurred_at,
        invocation_id=uuid.uuid5(uuid.NAMESPACE_URL, str(invocation)) if invocation else None,
        event_id=db.new_id(),
        memory_id=db.new_id() if turn.text.strip() else None,
        marks=screened.marks,
    )
