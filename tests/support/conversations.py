"""Inputs for the readers of conversations: bytes in, records out."""

from __future__ import annotations

import io
from typing import Any

from negmem.core.formation.readers.detect import detect, read
from negmem.core.formation.readers.records import ReadOptions, Record, Reject, Remark, Session, Turn
from negmem.core.formation.readers.source import Source, open_source


def source_of(data: bytes | str) -> Source:
    """An input that holds these bytes, as standard input gives them."""
    if isinstance(data, str):
        data = data.encode()
    return open_source("-", io.BytesIO(data))


def records_of(data: bytes | str, wanted: str = "auto", **options: Any) -> list[Record]:
    """All records of an input."""
    source = source_of(data)
    return list(read(source, detect(source, wanted), ReadOptions(**options)))


def sessions_of(data: bytes | str, wanted: str = "auto", **options: Any) -> list[Session]:
    """The sessions of an input that has no rejects."""
    records = records_of(data, wanted, **options)
    assert not [record for record in records if isinstance(record, Reject)], records
    return [record for record in records if isinstance(record, Session)]


def turns_of(data: bytes | str, wanted: str = "auto", **options: Any) -> list[Turn]:
    """All turns of an input that has no rejects."""
    return [turn for session in sessions_of(data, wanted, **options) for turn in session.turns]


def rejects_of(data: bytes | str, wanted: str = "auto", **options: Any) -> list[Reject]:
    """The rejects of an input."""
    return [r for r in records_of(data, wanted, **options) if isinstance(r, Reject)]


def remarks_of(data: bytes | str, wanted: str = "auto", **options: Any) -> list[Remark]:
    """The remarks on an input."""
    return [r for r in records_of(data, wanted, **options) if isinstance(r, Remark)]
