"""Summaries, as the API returns them and `--json` prints them."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

SUMMARY_TYPES = ("user_profile", "session")


class Summary(Model):
    """A summary of a user (`user_profile`) or of one thread (`session`).

    `model_used` is None where no model had a part in it: then it is made of sentences and facts as they
    stand. `freshness` is `fresh`, `sources_changed` (what it would be made of is another by now) or
    `source_removed` (something it was made of was removed: no context shows it). `events` counts the
    events behind it; `fallback` says why a model that was asked has no part in it.
    """

    id: UUID
    type: str
    thread: str | None
    content: str
    tokens: int | None
    memories: int | None
    facts: int | None
    events: int
    model_used: str | None
    version: int
    freshness: str
    fallback: str | None
    created_at: Instant
    updated_at: Instant


class Summaries(Model):
    """A page of one user's summaries: the profile first, then threads, the latest first."""

    summaries: list[Summary]
    total: int
    truncated: bool


class RefreshedSummary(Model):
    """What a refresh did with one summary.

    `action` is `written`, `unchanged` (its sources are the same), `removed` (nothing is left that it
    could be made of) or `nothing` (there is nothing to make one of). `reason` says why.
    """

    type: str
    thread: str | None
    action: str
    reason: str
    summary: Summary | None


class SummaryRefresh(Model):
    """What a refresh did. `fell_back` says that a model was asked and some summary has no part of it."""

    refreshed: list[RefreshedSummary]
    model: str | None
    calls: int
    tokens: int
    cost_usd: float | None
    fell_back: bool
    dry_run: bool = False
