"""Decisions about memories and the trail of them, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

DecisionKind = Literal["retain", "delete", "anonymize"]
DECISIONS: tuple[DecisionKind, ...] = ("retain", "delete", "anonymize")


class Decision(Model):
    """One decision about one memory. `expected_version` is its last number on the trail, 0 before the first."""

    memory_id: UUID
    decision: DecisionKind
    expected_version: int | None = Field(default=None, ge=0)
    note: str | None = None


class DecisionRecord(Model):
    """What was recorded of one decision, and by whom. `replayed`: it was decided so before, and not again."""

    memory_id: UUID
    decision: str
    version: int
    at: Instant
    by: str | None
    replayed: bool


class Reached(Model):
    """How many rows of one table a decision or erasure concerned."""

    table: str
    rows: int


class Decided(Model):
    """Decisions with their reach. With `dry_run` nothing was done, and `records` are those that would be."""

    user: str
    records: list[DecisionRecord]
    reach: list[Reached]
    summaries_rebuilt: int = 0
    dry_run: bool = False


class AuditEntry(Model):
    """One entry of the trail. `subject` is the id of what it is about, or `user` for the person as a whole."""

    sequence: int
    subject: str
    decision: str
    version: int
    at: Instant
    note: str | None
    actor: str
    actor_verified: bool
    idempotency_key: str | None


class AuditHistory(Model):
    """Entries about one person, the newest first; `next` is the `before` of the page that follows."""

    user: str
    entries: list[AuditEntry]
    next: int | None


class TrailHead(Model):
    """The end of an app's trail: kept elsewhere, it proves all entries up to it. `head` is one line of it."""

    app: str
    sequence: int
    entry_hash: str
    entries: int
    at: Instant | None
    head: str


class TrailFault(Model):
    """Where the trail is not as it was written: entries `first` to `last`, and what is wrong with them.

    `kind` is changed, removed, rewritten, cut, details_changed, details_missing, details_foreign or head_forged.
    """

    kind: str
    first: int | None
    last: int | None
    said: str


class HeadChecked(Model):
    """One head that was compared: whether the entry that it names is the one that stands there."""

    sequence: int
    entry_hash: str
    holds: bool


class TrailVerified(Model):
    """Whether an app's trail is whole. `proven_to` is the last entry that a head vouches for; None without one."""

    app: str
    whole: bool
    entries: int
    faults: list[TrailFault]
    heads: list[HeadChecked]
    proven_to: int | None
    remarks: list[str]
    head: str
