"""An assembled context, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant
from negmem.core.models.retrieval import Fallback

SECTIONS = (
    "summary",
    "core",
    "instructions",
    "profile",
    "reflections",
    "memories",
    "facts",
    "entities",
    "knowledge",
    "history",
)
"""In reading order."""


class ContextItem(Model):
    """One text that is in the context, as it stands there.

    `score` is the search's, None where nothing was searched; `is_cut` says that only its beginning
    is in; `verify` names what of it should be checked before it is relied on.
    """

    id: UUID
    text: str
    tokens: int
    score: float | None
    is_cut: bool
    occurred_at: Instant | None
    thread: str | None
    verify: list[str]


class ContextSection(Model):
    """One section in reading order; `tokens` is the sum of its items'."""

    name: str
    tokens: int
    items: list[ContextItem]


class LeftOut(Model):
    """A candidate that is not in the context.

    `reason` is `budget` (no room was left for it) or `repeated` (the history or an earlier section shows it
    already). `tokens` is what it would have taken, None where it was too long to be counted.
    """

    id: UUID
    section: str
    reason: str
    tokens: int | None


class ContextTokenizer(Model):
    """What counted the tokens; `is_exact` where it is the tokenizer of the configured model."""

    name: str
    is_exact: bool


class ContextBudget(Model):
    """Tokens that may be used: the shares of memory and history; what both leave stays free.

    `utilization` is the part of all tokens that was used, in [0, 1].
    """

    memory: int
    history: int
    utilization: float


class Context(Model):
    """What an agent should read before it answers. `tokens` counts `text`, never above `max_tokens`."""

    text: str
    tokens: int
    max_tokens: int
    budget: ContextBudget
    tokenizer: ContextTokenizer
    sections: list[ContextSection]
    left_out: list[LeftOut]
    retrieval_id: UUID | None
    level: str | None
    fallbacks: list[Fallback]
