"""The file in which rejected records are kept: one JSON object each, with where and why."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO

from negmem.core.formation.readers.records import Reject
from negmem.core.models.ingest import RejectedRecord
from negmem.errors import NegmemError, UsageError

_SHOWN = 20
_SHOWN_CHARACTERS = 200
_KEYS = ("line", "item", "turn", "reason", "detail", "raw")


class RejectFile:
    """Keeps rejects in a file that is made when the first one comes.

    Args: wanted, the path that a person named; source, the input's path, `-` for standard input,
    beside which the file goes otherwise; keep, False to write nothing.
    A file that nobody named overwrites nothing but the rejects that stand there of the same input.
    """

    def __init__(self, wanted: str | None, source: str, *, keep: bool) -> None:
        self._wanted = wanted
        self._source = source
        self._keep = keep
        self._file: IO[str] | None = None
        self.path: str | None = None
        self.count = 0
        self.shown: list[RejectedRecord] = []
        self.moved_from: str | None = None

    def check(self) -> None:
        """Refuse a wanted path that could not take rejects, before anything is read.

        Raises: UsageError `reject_file_is_input`, NegmemError `reject_file_unusable`.
        """
        if self._wanted is None:
            return
        wanted = Path(self._wanted)
        if self._source != "-" and _is_same_file(wanted, Path(self._source)):
            raise UsageError(
                "reject_file_is_input",
                "the rejects would overwrite the input",
                why=f"{self._wanted} and {self._source} are the same file",
                hint="leave --rejects out: then they go to a file of their own beside the input",
            )
        if wanted.is_dir() or not wanted.parent.is_dir():
            why = "it is a directory" if wanted.is_dir() else f"there is no folder {wanted.parent}"
            raise self._unusable(why)

    def add(self, fault: Reject) -> None:
        """Keep one reject."""
        self.count += 1
        place = fault.place
        if len(self.shown) < _SHOWN:
            raw = fault.raw
            if len(raw) > _SHOWN_CHARACTERS:
                raw = raw[: _SHOWN_CHARACTERS - 1] + "…"
            self.shown.append(
                RejectedRecord(
                    line=place.line,
                    item=place.item,
                    turn=place.turn,
                    reason=fault.reason,
                    detail=fault.detail,
                    raw=raw.encode("utf-8", "replace").decode("utf-8"),
                )
            )
        if not self._keep:
            return
        values = (place.line, place.item, place.turn, fault.reason, fault.detail, fault.raw)
        entry = dict(zip(_KEYS, values, strict=True))
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            with suppress(OSError):  # each record was written out; one that could not be was told
                self._file.close()
            self._file = None

    def _opened(self) -> IO[str]:
        if self._wanted is not None:
            self.path = self._wanted
            return _open(Path(self._wanted), "w")
        is_piped = self._source == "-"
        name = "negmem" if is_piped else Path(self._source).name
        beside = Path.cwd() if is_piped else Path(self._source).parent
        places = (beside, Path.cwd(), Path(tempfile.gettempdir()))
        for number, folder in enumerate(places):
            try:
                path, file = _create(folder, name, of_same_input=number == 0 and not is_piped)
            except OSError as error:
                if number == len(places) - 1:
                    raise
                self.moved_from = f"{folder}: {error.strerror or error}"
                continue
            self.path = str(path)
            return file
        raise AssertionError("the last place raises")

    def _unusable(self, why: str) -> NegmemError:
        return NegmemError(
            "reject_file_unusable",
            "rejected records can't be kept",
            why=f"{self.path or self._wanted or tempfile.gettempdir()}: {why}",
            hint="negmem ingest … --rejects FILE",
        )


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _create(folder: Path, name: str, *, of_same_input: bool) -> tuple[Path, IO[str]]:
    """A new file, under the first name that is free; the rejects of an earlier run of the same input give way."""
    for number in count(1):
        path = folder / (
            f"{name}.rejects.jsonl" if number == 1 else f"{name}.rejects.{number}.jsonl"
        )
        try:
            return path, _open(path, "x")
        except FileExistsError:
            if of_same_input and _holds_rejects(path):
                return path, _open(path, "w")
    raise AssertionError("numbers do not end")


def _holds_rejects(path: Path) -> bool:
    """Whether a file is one of ours; nothing in it counts as ours too, as a run that was cut off leaves it."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(1 << 20)
    return not first or first.startswith(f'{{"{_KEYS[0]}": '.encode())


def _open(path: Path, mode: str) -> IO[str]:
    # a lone surrogate in a raw line must not stop the run that rejects it
    return path.open(mode, encoding="utf-8", errors="backslashreplace")
