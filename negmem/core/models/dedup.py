"""What deduplication took or would take, as the API returns it and `--json` prints it."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model


class DuplicatePair(Model):
    """One item that goes, and the one that stays for it.

    `exact`: the same to the letter but for what the key levels; `similarity` is calibrated, null where no
    vector was asked.
    """

    survivor: UUID
    removed: UUID
    exact: bool
    similarity: float | None
    survivor_content: str
    removed_content: str


class VetoedPair(Model):
    """Two items that are near and stay both; `guard` is the rule that keeps them apart."""

    one: UUID
    other: UUID
    guard: str
    similarity: float | None
    one_content: str
    other_content: str


class Deduplicated(Model):
    """A deduplication, done or planned.

    `groups` counts survivors, `removed` what went for them, `kept` the live items that are left, `vetoed`
    the pairs that are near and were kept apart, of which `vetoed_pairs` lists the nearest. `pairs` lists
    what went; `pairs_left_out` more are not listed. `blank` have no words and are never merged.
    `compared` counts pairs that the rules looked at; where that reached its ceiling, `resume_after` is
    where the rest begins. `run_id` takes the run back; null where nothing was touched. `restored` counts
    what an undo brought back.
    """

    store: str
    mode: str
    threshold: float | None
    groups: int
    removed: int
    kept: int
    vetoed: int
    blank: int
    compared: int
    changed_meanwhile: int
    restored: int
    resume_after: UUID | None
    dry_run: bool
    run_id: UUID | None
    pairs: list[DuplicatePair]
    pairs_left_out: int
    vetoed_pairs: list[VetoedPair]
