"""The file in which rejected records are kept: one JSON object each, with where and why."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import IO

from negmem.core.formation.readers.records import Reject
from negmem.core.models.ingest import RejectedRecord

_SHOWN = 20
_SHOWN_CHARACTERS = 200


class RejectFile:
    """Keeps rejects in a file that is made when the first one comes.

    Args: wanted, the path that a person named; source, the input's path, `-` for standard input,
    beside which the file goes otherwise; keep, False to write nothing.
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
        if self._file is None:
            self._open()
        assert self._file is not None
        entry = {
            "line": place.line,
            "item": place.item,
            "turn": place.turn,
            "reason": fault.reason,
            "detail": fault.detail,
            "raw": fault.raw,
        }
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        if self._wanted is not None:
            self._file = _create(Path(self._wanted))
            self.path = self._wanted
            return
        name = "negmem" if self._source == "-" else Path(self._source).name
        beside = Path.cwd() if self._source == "-" else Path(self._source).parent
        places = (beside, Path.cwd(), Path(tempfile.gettempdir()))
        for number, folder in enumerate(places):
            path = folder / f"{name}.rejects.jsonl"
            try:
                self._file = _create(path)
            except OSError as error:
                if number == len(places) - 1:
                    raise
                self.moved_from = f"{folder}: {error.strerror or error}"
                continue
            self.path = str(path)
            return


def _create(path: Path) -> IO[str]:
    # a lone surrogate in a raw line must not stop the run that rejects it
    return path.open("w", encoding="utf-8", errors="backslashreplace")
