"""Feedback on a retrieval, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

OUTCOMES = ("helpful", "irrelevant", "harmful")


class Feedback(Model):
    """What was said of a retrieval. `replayed`: the same was said before, and is counted once.

    `memories` move the weights by `outcome`; `used` are the items that went into the answer. Without
    either the feedback counts for the metrics alone.
    """

    id: UUID | None
    retrieval_id: UUID
    user: str
    outcome: str
    memories: list[UUID]
    used: list[UUID]
    rating: int | None
    returned: int
    replayed: bool
    dry_run: bool
    given_by: str
    created_at: Instant | None
