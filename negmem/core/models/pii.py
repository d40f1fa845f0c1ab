"""Where personal data stands, and what a repair did, as the API returns them and `--json` prints them."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.base import Model


class PiiPlace(Model):
    """Personal data of one kind in one column: how often in how many rows, never the text.

    `kind_of_column` is the registry's; `examples` are ids of rows, up to three, where rows have such.
    """

    kind: str
    table: str
    column: str
    kind_of_column: str
    rows: int
    findings: int
    examples: list[UUID]


class PiiSkipped(Model):
    """A table that was not read, and why."""

    table: str
    reason: str


class PiiScan(Model):
    """What a scan found, by kind and place.

    `rows` and `tables` were read. `unscanned` of the rows bear the mark that the detector could not read
    them when they were written, `failed` could not be read now. `next` goes on from here; None: the end
    was reached.
    """

    engine: str
    user: str | None
    findings: list[PiiPlace]
    rows: int
    tables: int
    unscanned: int
    failed: int
    skipped: list[PiiSkipped]
    next: str | None


class PiiFixed(Model):
    """What was rewritten or marked in one table (or would be)."""

    table: str
    rows: int
    findings: int


class PiiFix(Model):
    """What a repair did.

    `changed_meanwhile` rows were written by somebody else since they were read and stay as they are;
    `failed` could not be read; `left` are tables with findings that are not rewritten in place, and why.
    `embedded` counts vectors computed anew. `next` goes on from here.
    """

    policy: str
    engine: str
    user: str | None
    fixed: list[PiiFixed]
    rows: int
    scanned: int
    changed_meanwhile: int
    failed: int
    embedded: int
    left: list[PiiSkipped]
    skipped: list[PiiSkipped]
    dry_run: bool
    next: str | None
