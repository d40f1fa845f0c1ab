"""However long the input, memory stays bounded."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.formation.places import Places
from negmem.core.formation.readers.detect import detect, read
from negmem.core.formation.readers.records import ReadOptions, Session
from negmem.core.formation.readers.source import open_source
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on

MEGABYTE = 1_000_000
TEXT = "长长的一段话 with some words in it and numbers 12345 " * 500


class Generated(io.RawIOBase):
    """Bytes that are made when they are read: no file, no memory."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""
        self.total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        if not self._rest:
            self._rest = next(self._parts, b"")
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        self.total += size
        return size


def lines(total: int) -> Iterator[bytes]:
    size = number = 0
    while size < total:
        turns = [{"role": "user", "text": f"{number} {TEXT}"}] * 3
        line = json.dumps({"thread": f"t{number}", "user": "u", "turns": turns}, ensure_ascii=False)
        data = line.encode() + b"\n"
        size += len(data)
        number += 1
        yield data


def one_array(total: int) -> Iterator[bytes]:
    yield b'{"messages": ['
    size = number = 0
    while size < total:
        message = {"role": "user", "content": f"{number} {TEXT}"}
        data = (b"," if number else b"") + json.dumps(message, ensure_ascii=False).encode()
        size += len(data)
        number += 1
        yield data
    yield b"]}"


def transcript(total: int) -> Iterator[bytes]:
    size = number = 0
    while size < total:
        data = f"**User:** {number} {TEXT}\n\n**Assistant:** {TEXT}\n\n".encode()
        size += len(data)
        number += 1
        yield data


@pytest.mark.parametrize(
    ("parts", "wanted", "total"),
    [(lines, "auto", 200), (one_array, "auto", 200), (transcript, "markdown", 60)],
)
def test_two_hundred_megabytes_are_read_within_sixty_four(
    parts: object, wanted: str, total: int
) -> None:
    stream = Generated(parts(total * MEGABYTE))  # type: ignore[operator]
    tracemalloc.start()
    try:
        source = open_source("-", io.BufferedReader(stream))
        turns = 0
        for record in read(source, detect(source, wanted), ReadOptions()):
            assert isinstance(record, Session)
            turns += len(record.turns)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stream.total >= total * MEGABYTE and turns > 1000
    assert peak < 64 * MEGABYTE, f"{peak / MEGABYTE:.0f} MB"


def test_storing_a_long_input_takes_no_more_memory_than_a_short_one(
    database: TestDatabase, tmp_path: Path
) -> None:
    peaks = []
    for sessions in (200, 2000):
        path = tmp_path / f"{sessions}.jsonl.gz"
        with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
            for number in range(sessions):
                turns = [{"role": "user", "text": f"n{number % 7} 短"}] * 1
                file.write(json.dumps({"thread": f"{sessions}-{number}", "turns": turns}) + "\n")
        with session_on(database) as session:
            tracemalloc.start()
            try:
                Ingest(session, IngestOptions(path=str(path), user="u")).run()
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
    assert peaks[1] < peaks[0] + 4 * MEGABYTE, peaks


def test_many_threads_are_remembered_in_little() -> None:
    from negmem.core.formation.readers.records import Place, Turn

    turn = Turn(1, "user", None, "x", None, content_hash=b"h")
    session = Session(Place(1), None, None, turns=(turn,), opening=b"h")
    tracemalloc.start()
    try:
        places = Places()
        for number in range(20_000):
            assert places.base("u", f"t{number}", session) == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * MEGABYTE
    assert all(places.base("u", f"t{number}", session) == 0 for number in range(0, 20_000, 97))
