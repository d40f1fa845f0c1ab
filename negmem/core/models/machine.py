"""What the learning machine does with messages and for them, as the API returns it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.consolidation import Consolidated
from negmem.core.models.ingest import Ingested
from negmem.core.models.retrieval import Fallback


class StoreFailure(Model):
    """A store that failed, alone: the others went on."""

    store: str
    code: str
    message: str


class ContextBlock(Model):
    """What a store gave to a context: `items` are in, `left_out` had no room."""

    store: str
    text: str
    items: int
    left_out: int


class BuiltContext(Model):
    """Blocks of all stores that are on, as `text`; `str()` gives it. `tokens` is at most `max_tokens`."""

    text: str
    tokens: int
    max_tokens: int
    blocks: list[ContextBlock]
    failed: list[StoreFailure]
    retrieval_id: UUID | None
    level: str | None
    fallbacks: list[Fallback]

    def __str__(self) -> str:
        return self.text


class ProcessedMessages(Model):
    """What became of messages: stored, and queued to be learned from.

    `queued`: a job waits for them. `worked`, where the caller waited for it: what it did.
    """

    user: str
    thread: str | None
    stored: Ingested
    queued: bool
    worked: Consolidated | None = None
