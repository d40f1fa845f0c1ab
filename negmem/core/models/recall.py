"""What a new session should know of a user, as the API returns it and `--json` prints it."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.context import ContextTokenizer, LeftOut
from negmem.core.models.memory import Instant

CacheState = Literal["hit", "miss", "stale", "expired", "refreshed", "off"]


class RecallItem(Model):
    """One text that is in the recall. `kind` is core, memory or fact; `score` its rank, in [0, 1].

    `is_cut` says that only the beginning of the stored text is in, `verify` what of it should be checked
    before it is relied on.
    """

    id: UUID
    kind: str
    type: str
    text: str
    tokens: int
    score: float
    is_cut: bool
    occurred_at: Instant | None
    verify: list[str]


class RecallCache(Model):
    """Where the answer comes from.

    `hit`: the cache, as it was made at `made_at`. `miss`: nothing was cached. `stale`: what it rested on
    has changed, `reason` says what. `expired`: its time was over. `refreshed`: a new one was asked for.
    `off`: nothing is cached, by configuration. `is_kept` says whether a later recall will find this one.
    """

    state: CacheState
    reason: str | None
    made_at: Instant | None
    expires_at: Instant | None
    age_s: float | None
    is_kept: bool


class Recall(Model):
    """What a new session should know of a user. `tokens` counts `text`, never above `max_tokens`."""

    text: str
    tokens: int
    max_tokens: int
    tokenizer: ContextTokenizer
    items: list[RecallItem]
    left_out: list[LeftOut]
    cache: RecallCache
    retrieval_id: UUID | None
