"""What an extractor found in somebody's words, before it is written as a fact."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field, JsonValue

from negmem.core.models.base import Model

FactType = Literal["preference", "profile", "rule", "plan", "relation", "custom"]
FACT_TYPES: tuple[FactType, ...] = ("preference", "profile", "rule", "plan", "relation", "custom")
"""preference: likes and dislikes; profile: who the user is; rule: how the user wants to be treated;
plan: what the user is going to do; relation: people and animals around the user; custom: the rest."""


class ExtractedFact(Model):
    """One thing that the user said of themselves.

    `key` is normalised: a changed mind meets the old fact under it (`location`, `likes:coffee`).
    `value` is `{"text": …, "object": …, "negated": …}`: `text` reads by itself and keeps the
    negation ("does not like coffee"), `object` is the bare thing ("coffee"). `text` is the sentence
    as it was said. `event_ids` are the turns that support it, at least one. `occurred_at` is when it
    was said; `valid_from` and `valid_until` bound when it is true, as far as the words say.
    """

    type: FactType
    key: str = Field(min_length=1, max_length=255)
    value: dict[str, JsonValue]
    text: str
    confidence: float = Field(ge=0, le=1)
    event_ids: list[UUID] = Field(default_factory=list)
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    negated: bool = False
    extractor: str
    model: str | None = None
