"""Vectors of documents kept on disk, so that a second run over the same texts embeds nothing.

Keyed by the space of the model and a hash of the text: another model, version or dimension never
meets these rows. The file holds no text, but vectors say something about it: only its owner may
read it, and erasing a person empties it of that person's texts (`forget`).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from negmem.errors import NegmemError
from negmem.providers.calibration import Calibration
from negmem.providers.embedding import (
    Embedder,
    EmbeddingBatch,
    EmbeddingUsage,
    ParkedText,
    space_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE_NAME = "embeddings.sqlite3"
# So much is embedded before it is stored: what an interrupted run loses at most.
_TEXTS_PER_STORE = 256
_BUSY_TIMEOUT_S = 60.0

_TABLES = """
CREATE TABLE IF NOT EXISTS spaces (
    id INTEGER PRIMARY KEY,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    version TEXT NOT NULL,
    dims INTEGER NOT NULL,
    UNIQUE (provider, model, version, dims)
);
CREATE TABLE IF NOT EXISTS vectors (
    space INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    truncated INTEGER NOT NULL,
    PRIMARY KEY (space, text_hash)
) WITHOUT ROWID;
"""
_INSERT_SPACE = "INSERT OR IGNORE INTO spaces (provider, model, version, dims) VALUES (?, ?, ?, ?)"
_SELECT_SPACE = (
    "SELECT id FROM spaces WHERE provider = ? AND model = ? AND version = ? AND dims = ?"
)
_SELECT_VECTOR = "SELECT vector, truncated FROM vectors WHERE space = ? AND text_hash = ?"
_INSERT_VECTOR = (
    "INSERT OR IGNORE INTO vectors (space, text_hash, vector, truncated) VALUES (?, ?, ?, ?)"
)
_DELETE_VECTOR = "DELETE FROM vectors WHERE space IN (SELECT id FROM spaces) AND text_hash = ?"


def _text_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """SQLite gives up at once, busy timeout or not, where two connections turn a new file to WAL."""
    import fcntl

    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class EmbeddingCache:
    """The file; several processes may use it at once. Close it, or use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._told():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            with _one_at_a_time(path.with_suffix(".lock")):
                self._connection = sqlite3.connect(
                    path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False, isolation_level=None
                )
                # Readers then don't wait for a writer. Where the file system has no shared memory
                # SQLite keeps its old journal, which is slower and as safe.
                self._connection.execute("PRAGMA journal_mode = WAL").close()
                self._connection.execute("PRAGMA synchronous = NORMAL").close()
                self._connection.executescript(_TABLES)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise NegmemError(
                "embedding_cache_unusable",
                "the cache of embeddings can't be used",
                why=f"{self.path}: {error}",
                hint=f"rm '{self.path}'     it only saves time",
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def space_id(self, embedder: Embedder) -> int:
        """The number under which the vectors of this embedder's space are kept."""
        space = space_of(embedder)
        with self._transaction() as connection:
            connection.execute(_INSERT_SPACE, space)
            found = connection.execute(_SELECT_SPACE, space).fetchone()
        return int(found[0])

    def load(self, space: int, texts: Sequence[str]) -> dict[str, tuple[bytes, bool]]:
        """Those texts that are known, with their vector (float32 bytes) and whether it was cut."""
        found: dict[str, tuple[bytes, bool]] = {}
        with self._lock, self._told():
            for text in dict.fromkeys(texts):
                row = self._connection.execute(_SELECT_VECTOR, (space, _text_hash(text))).fetchone()
                if row is not None:
                    found[text] = (row[0], bool(row[1]))
        return found

    def store(self, space: int, rows: Sequence[tuple[str, bytes, bool]]) -> None:
        """Keep (text, float32 bytes, truncated); what another process stored first stays."""
        with self._transaction() as connection:
            connection.executemany(
                _INSERT_VECTOR,
                [(space, _text_hash(text), vector, truncated) for text, vector, truncated in rows],
            )

    def forget(self, texts: Sequence[str]) -> int:
        """Remove the vectors of these texts in every space; returns how many were there."""
        with self._transaction() as connection:
            return sum(
                connection.execute(_DELETE_VECTOR, (_text_hash(text),)).rowcount for text in texts
            )

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> EmbeddingCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class CachedEmbedder:
    """An embedder that looks documents up in a cache first; queries always go to the model."""

    def __init__(self, inner: Embedder, cache: EmbeddingCache) -> None:
        self.inner = inner
        self.cache = cache
        self.name = inner.name
        self.model = inner.model
        self.version = inner.version
        self.dims = inner.dims
        self.max_tokens = inner.max_tokens
        self._space = cache.space_id(inner)

    @property
    def calibration(self) -> Calibration:
        return self.inner.calibration

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """As the inner embedder's; `usage.cache_hits` counts what was not embedded again.

        What is embedded is stored in slices, so that an error or Ctrl-C keeps what was paid for.
        """
        import numpy as np

        known = self.cache.load(self._space, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        hits = len(texts) - sum(1 for text in texts if text not in known)
        usage = EmbeddingUsage(cache_hits=hits)
        refused: dict[str, ParkedText] = {}
        for start in range(0, len(missing), _TEXTS_PER_STORE):
            slice_ = missing[start : start + _TEXTS_PER_STORE]
            batch = self.inner.embed_batch(slice_)
            usage += batch.usage
            cut = set(batch.truncated)
            refused.update((slice_[parked.index], parked) for parked in batch.parked)
            fresh = [
                (text, batch.vectors[index].astype("<f4").tobytes(), index in cut)
                for index, text in enumerate(slice_)
                if text not in refused
            ]
            self.cache.store(self._space, fresh)
            known.update((text, (vector, was_cut)) for text, vector, was_cut in fresh)
        rows = np.zeros((len(texts), self.dims), dtype=np.float32)
        truncated: list[int] = []
        parked_rows: list[ParkedText] = []
        for index, text in enumerate(texts):
            if text in refused:
                parked_rows.append(replace(refused[text], index=index))
                continue
            vector, was_cut = known[text]
            rows[index] = np.frombuffer(vector, dtype="<f4")
            if was_cut:
                truncated.append(index)
        return EmbeddingBatch(rows, tuple(parked_rows), tuple(truncated), usage)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dims) float32, rows of unit length."""
        return self.embed_batch(texts).complete()

    def embed_query(self, text: str) -> array[float]:
        """(dims,) float32 of unit length."""
        return self.inner.embed_query(text)
