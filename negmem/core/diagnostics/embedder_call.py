"""Asks the embedding model for a vector while the database is looked at: loading it takes the longest."""

from __future__ import annotations

import time
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

# Calling a hosted model costs money and loads litellm, which takes seconds.
HOSTED = "litellm"
_TEXT = "记忆 memory"


class EmbedderCall:
    """One call in a thread of its own, begun at once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._took_ms = 0.0
        self._error: Exception | None = None
        self._thread = Thread(target=self._call, daemon=True)
        self._thread.start()

    def _call(self) -> None:
        try:
            self._embedder.embed_query(_TEXT)
            started = time.perf_counter()
            self._embedder.embed_query(_TEXT)
            self._took_ms = (time.perf_counter() - started) * 1000
        except Exception as error:  # raised where the answer is asked for
            self._error = error

    def answer(self) -> float:
        """How long one query takes, in ms. Raises: what the embedder raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._took_ms
