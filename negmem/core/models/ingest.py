"""What `negmem ingest` did, as the API returns it and `--json` prints it."""

from __future__ import annotations

from pydantic import Field

from negmem.core.models.base import Model


class RejectedRecord(Model):
    """A record of the input that was not taken. `raw` is its text, shortened."""

    line: int
    item: int | None = None
    turn: int | None = None
    reason: str
    detail: str
    raw: str


class ReplacedCharacters(Model):
    """What PostgreSQL can't hold and was replaced, by kind."""

    nul: int = 0
    surrogates: int = 0
    byte_order_marks: int = 0
    numbers: int = 0


class Embedded(Model):
    """What became of the vectors.

    `vectors` were stored, `repaired` of them for memories of earlier runs; `missing` memories of this
    run have none, `parked` of them because the model refused the text; `truncated` texts were longer
    than the model sees.
    """

    model: str | None = None
    vectors: int = 0
    repaired: int = 0
    missing: int = 0
    parked: int = 0
    truncated: int = 0
    tokens: int = 0
    cost_usd: float | None = None


class Ingested(Model):
    """What was added: sessions that got something new, events, memories; and what was not.

    `duplicates` are turns that were stored already or stand twice in the input; `blank` turns have no
    text and made an event without a memory. `rejects` shows the first of the rejected records, all of
    them stand in `reject_file`.
    """

    sessions: int = 0
    events: int = 0
    memories: int = 0
    rejected: int = 0
    duplicates: int = 0
    blank: int = 0
    read_sessions: int = 0
    read_turns: int = 0
    threads: int = 0
    jobs: int = 0
    source: str = ""
    format: str = ""
    users: list[str] = Field(default_factory=list)
    replaced: ReplacedCharacters = ReplacedCharacters()
    left_out: dict[str, int] = Field(default_factory=dict)
    embedding: Embedded = Embedded()
    rejects: list[RejectedRecord] = Field(default_factory=list)
    reject_file: str | None = None
    interrupted: bool = False
    dry_run: bool = False
    took_ms: float = 0.0
