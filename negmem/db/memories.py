"""Writes turns of conversations: threads, events, episodic memories, provenance, terms and vectors."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.db.connect import Database
from negmem.db.failures import DatabaseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_COPY_END = struct.pack("!h", -1)
_MEMBERS_THAT_COUNT = 5
_ANALYZE_LOCK_WAIT_MS = 500
_LOCK_NOT_AVAILABLE = "55P03"


@dataclass(frozen=True)
class ThreadRow:
    """A thread that turns belong to; `state` is JSON text."""

    user: str
    name: str
    state: str = "{}"
    occurred_at: datetime | None = None


@dataclass(frozen=True)
class Mark:
    """Personal data at characters [start, end) of a memory's text; `score` in 0..1."""

    kind: str
    start: int
    end: int
    score: float
    engine: str


@dataclass(frozen=True)
class TurnRow:
    """A turn as it is stored; `thread` is its index in the batch, `metadata` what the input said of it.

    `metadata` and `actions` are JSON texts, None where empty. `memory_id` is None where the turn makes
    no memory. `marks` are the places of personal data in `text`.
    """

    thread: int
    position: int
    content_hash: bytes
    speaker: str | None
    role: str
    kind: str
    text: str
    turn_id: str | None
    metadata: str | None
    actions: str | None
    occurred_at: datetime | None
    invocation_id: UUID | None
    event_id: UUID
    memory_id: UUID | None
    marks: tuple[Mark, ...] = ()


@dataclass
class Batch:
    """Turns that are stored in one transaction."""

    threads: list[ThreadRow] = field(default_factory=list)
    turns: list[TurnRow] = field(default_factory=list)

    def user_of(self, turn: TurnRow) -> str:
        """Whose turn it is."""
        return self.threads[turn.thread].user


@dataclass(frozen=True)
class Model:
    """The app's active embedding model: its id here, its space, its mean (dims floats) or None."""

    id: int
    provider: str
    name: str
    version: str
    dims: int
    mean: tuple[float, ...] | None


@dataclass(frozen=True)
class BareMemory:
    """A stored memory without a vector; `number` is the index of its turn in the batch."""

    number: int
    memory_id: UUID
    content: str
    speaker: str | None


@dataclass(frozen=True)
class Found:
    """Which turns of a batch are stored already, by index, and whose memories lack a vector."""

    stored: frozenset[int]
    bare: tuple[BareMemory, ...]


@dataclass(frozen=True)
class Vectors:
    """Vectors of memories: row i of `values`, (n, dims) float32, belongs to users[i], memories[i]."""

    model: Model
    users: Sequence[str]
    memories: Sequence[UUID]
    values: NDArray[np.float32]


@dataclass(frozen=True)
class Stored:
    """What one transaction added: turns by index; how many threads, memories, their vectors, jobs.

    `repaired` counts the vectors of memories that had been stored without.
    """

    turns: frozenset[int]
    threads: int
    memories: int
    vectors: int
    repaired: int
    jobs: int


def make_durable(database: Database) -> None:
    """Wait until everything that was committed so far is on disk, as the server's settings ask."""
    with database.transaction():
        database.rows("ingest", "commit_now")


def refresh_statistics(database: Database, rows: int) -> bool:
    """Let the planner know tables that grew from nothing to `rows`; whether that was needed.

    A load into a new database is over before autovacuum looks. Until then the checks of foreign keys
    are planned for empty tables, and each reads all rows of the user by an index that is not unique.
    """
    params = {"schema": database.schema, "rows": rows}
    if database.row("ingest", "without_statistics", params) is None:
        return False
    try:
        with database.transaction(lock_timeout_ms=_ANALYZE_LOCK_WAIT_MS):
            database.execute("ingest", "analyze")
    except DatabaseError as error:
        if error.sqlstate != _LOCK_NOT_AVAILABLE:  # somebody else analyzes at the moment
            raise
    return True


def new_id() -> UUID:
    """A random id that begins with the time (UUID version 7): rows of one load lie together."""
    moment = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (moment & 0xFFFFFFFFFFFF) << 80 | random
    value = value & ~(0xF000 << 64) | 0x7000 << 64
    return UUID(int=value & ~(0xC000 << 48) | 0x8000 << 48)


def active_model(database: Database, app: str) -> Model | None:
    """The app's embedding model, None where it has none."""
    row = database.row("ingest", "model", {"app_name": app})
    if row is None:
        return None
    mean = row["mean"]
    return Model(
        id=int(row["id"]),
        provider=row["provider"],
        name=row["model"],
        version=row["version"],
        dims=int(row["dims"]),
        mean=None if mean is None else tuple(mean),
    )


def find_turns(database: Database, app: str, batch: Batch, model: Model | None) -> Found:
    """What of a batch is stored already. With a model, also memories that lack its vector."""
    rows = database.rows(
        "ingest",
        "find_turns",
        {
            **_thread_columns(app, batch),
            "turn_threads": [turn.thread + 1 for turn in batch.turns],
            "turn_positions": [turn.position for turn in batch.turns],
            "turn_hashes": [turn.content_hash.hex() for turn in batch.turns],
            "model_id": None if model is None else model.id,
        },
    )
    return Found(
        frozenset(row["number"] - 1 for row in rows),
        tuple(
            BareMemory(row["number"] - 1, row["memory_id"], row["content"], row["speaker"])
            for row in rows
            if row["memory_id"] is not None
        ),
    )


def store(
    database: Database,
    app: str,
    batch: Batch,
    *,
    run_id: UUID,
    vectors: Vectors | None = None,
    missing: Vectors | None = None,
) -> Stored:
    """Store a batch in one transaction; what stands already stays as it is.

    The commit does not wait for the disk: `make_durable` does, for all batches before it.

    Args: vectors, of memories of this batch; missing, of memories stored earlier without one.
    Raises: NegmemError of the database; `deadlock` and `lock_timeout` may be tried again as they are.
    """
    with database.transaction():
        database.execute("ingest", "commit_later")
        added: list[dict[str, Any]] = []
        opened = 0
        if batch.turns:
            columns = _thread_columns(app, batch, whole=True)
            opened = database.execute("ingest", "open_threads", columns)
            users = {"app_name": app, "users": [thread.user for thread in batch.threads]}
            database.execute("ingest", "admit", users)
            added = database.rows("ingest", "store_turns", _turn_columns(app, batch, run_id))
        turns = frozenset(row["number"] - 1 for row in added)
        remembered = {
            turn.memory_id: batch.user_of(turn)
            for number, turn in enumerate(batch.turns)
            if number in turns and turn.memory_id is not None
        }
        threads = {
            (batch.user_of(batch.turns[row["number"] - 1]), row["thread_id"]): row for row in added
        }
        if added:
            _update_threads(database, app, threads)
            _count_terms(database, app, batch, added)
        marks = {turn.memory_id: turn.marks for turn in batch.turns if turn.memory_id in remembered}
        mark_memories(database, app, {key: ms for key, ms in marks.items() if key}, remembered)
        count = _copy_vectors(database, app, vectors, remembered) if vectors else 0
        repaired = 0
        if missing:
            repaired = _copy_vectors(database, app, missing, _still_bare(database, app, missing))
        jobs = 0
        if remembered:
            queued = database.row("ingest", "enqueue", _scope(app, sorted(threads)))
            jobs = int(queued["jobs"]) if queued else 0
    return Stored(turns, opened, len(remembered), count, repaired, jobs)


def mark_memories(
    database: Database,
    app: str,
    marks: Mapping[UUID, Sequence[Mark]],
    users: Mapping[UUID, str],
) -> None:
    """Record where personal data stands in memories of this transaction, given whose they are."""
    rows = [(users[memory], memory, mark) for memory, few in marks.items() for mark in few]
    if rows:
        params = {
            "app_name": app,
            "users": [user for user, _, _ in rows],
            "memory_ids": [memory for _, memory, _ in rows],
            "kinds": [mark.kind for _, _, mark in rows],
            "starts": [mark.start for _, _, mark in rows],
            "ends": [mark.end for _, _, mark in rows],
            "scores": [mark.score for _, _, mark in rows],
            "engines": [mark.engine for _, _, mark in rows],
        }
        database.execute("pii", "mark", params)


def _update_threads(
    database: Database, app: str, threads: Mapping[tuple[str, UUID], dict[str, Any]]
) -> None:
    grown = sorted(key for key, row in threads.items() if row["is_old"])
    if grown:
        database.execute("ingest", "touch_threads", _scope(app, grown))
    small = [key for key in grown if 0 < threads[key]["before"] <= _MEMBERS_THAT_COUNT]
    if small:
        database.rows("ingest", "rescore_grown", _scope(app, small))


def _count_terms(
    database: Database, app: str, batch: Batch, added: Sequence[dict[str, Any]]
) -> None:
    lengths: dict[str, list[int]] = {}
    for row in added:
        if row["len"] is not None:
            user = batch.user_of(batch.turns[row["number"] - 1])
            lengths.setdefault(user, []).append(row["len"])
    if lengths:
        users = sorted(lengths)
        counts = {
            "app_name": app,
            "users": users,
            "documents": [len(lengths[user]) for user in users],
            "total_lens": [sum(lengths[user]) for user in users],
        }
        database.execute("ingest", "count_terms", counts)


def _still_bare(database: Database, app: str, vectors: Vectors) -> dict[UUID, str]:
    users = dict(zip(vectors.memories, vectors.users, strict=True))
    rows = database.rows(
        "ingest",
        "missing_vectors",
        {
            "app_name": app,
            "users": list(vectors.users),
            "memory_ids": list(vectors.memories),
            "model_id": vectors.model.id,
        },
    )
    return {row["id"]: users[row["id"]] for row in rows}


def _copy_vectors(
    database: Database, app: str, vectors: Vectors, wanted: Mapping[UUID, str]
) -> int:
    rows = [row for row, memory in enumerate(vectors.memories) if memory in wanted]
    if not rows:
        return 0
    payload = vector_payload(app, vectors, rows)
    statement = database.queries("ingest", "copy_vectors")
    with database.connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(payload)
    return len(rows)


def vector_payload(app: str, vectors: Vectors, rows: Sequence[int]) -> bytes:
    """The rows of memory_vectors as binary COPY takes them.

    `halfvec`: dimension, two unused bytes, half floats. `bit varying`: length in bits, then the bits.
    All in network order. The bits are the signs about the model's mean, as embedding_bits() has them.
    """
    import numpy as np

    values = np.ascontiguousarray(vectors.values[list(rows)], dtype=np.float32)
    dims = values.shape[1]
    mean = vectors.model.mean
    centred = values if mean is None else values - np.asarray(mean, dtype=np.float32)
    bits = np.packbits(centred > 0, axis=1)
    halves = values.astype(">f2")
    name = app.encode()
    app_field = struct.pack("!i", len(name)) + name
    model_field = struct.pack("!ih", 2, vectors.model.id)
    bits_head = struct.pack("!ii", 4 + bits.shape[1], dims)
    vector_head = struct.pack("!ihh", 4 + 2 * dims, dims, 0)
    users: dict[str, bytes] = {}
    parts = [_COPY_HEADER]
    for at, row in enumerate(rows):
        user = vectors.users[row]
        if user not in users:
            encoded = user.encode()
            users[user] = struct.pack("!hi", 6, len(encoded)) + encoded
        parts += (
            users[user],
            app_field,
            b"\x00\x00\x00\x10",
            vectors.memories[row].bytes,
            model_field,
            bits_head,
            bits[at].tobytes(),
            vector_head,
            halves[at].tobytes(),
        )
    parts.append(_COPY_END)
    return b"".join(parts)


def _scope(app: str, threads: Sequence[tuple[str, UUID]]) -> dict[str, Any]:
    return {
        "app_name": app,
        "users": [user for user, _ in threads],
        "threads": [thread for _, thread in threads],
    }


def _thread_columns(app: str, batch: Batch, *, whole: bool = False) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "app_name": app,
        "thread_users": [thread.user for thread in batch.threads],
        "thread_names": [thread.name for thread in batch.threads],
    }
    if whole:
        columns["thread_states"] = [thread.state for thread in batch.threads]
        columns["thread_times"] = [thread.occurred_at for thread in batch.threads]
    return columns


def _turn_columns(app: str, batch: Batch, run_id: UUID) -> dict[str, Any]:
    turns = batch.turns
    return {
        **_thread_columns(app, batch),
        "run_id": run_id,
        "event_ids": [turn.event_id for turn in turns],
        "memory_ids": [turn.memory_id for turn in turns],
        "turn_threads": [turn.thread + 1 for turn in turns],
        "turn_positions": [turn.position for turn in turns],
        "turn_hashes": [turn.content_hash.hex() for turn in turns],
        "turn_speakers": [turn.speaker for turn in turns],
        "turn_roles": [turn.role for turn in turns],
        "turn_kinds": [turn.kind for turn in turns],
        "turn_texts": [turn.text for turn in turns],
        "turn_ids": [turn.turn_id for turn in turns],
        "turn_metadata": [turn.metadata for turn in turns],
        "turn_actions": [turn.actions for turn in turns],
        "turn_times": [turn.occurred_at for turn in turns],
        "turn_invocations": [turn.invocation_id for turn in turns],
    }
