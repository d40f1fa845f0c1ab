"""Files of decisions: JSON, JSON Lines or CSV, each fault told by its place."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from negmem.core.models.audit import Decision
from negmem.errors import UsageError

_COLUMNS = ("memory_id", "decision", "expected_version", "note")
_MOST_BYTES = 16 * 2**20


def read_decisions(path: str) -> list[Decision]:
    """The decisions of a file, or of stdin for `-`.

    JSON is a list of objects with memory_id, decision, expected_version, note, one object a line, or an
    object with `decisions`; CSV has these names in its first line.
    Raises: UsageError `decisions_unreadable`.
    """
    try:
        data = sys.stdin.buffer.read(_MOST_BYTES + 1) if path == "-" else _bytes(Path(path))
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"byte {error.start} is no UTF-8") from None
    if len(data) > _MOST_BYTES:
        raise _unreadable(path, f"it has more than {_MOST_BYTES:,} bytes")
    start = text.lstrip()[:1]
    rows = _json(path, text) if start in ("[", "{") else _csv(path, text)
    return [_decision(path, place, row) for place, row in rows]


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _json(path: str, text: str) -> list[tuple[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError:
        found: list[tuple[str, Any]] = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    found.append((f"line {number}", json.loads(line)))
                except ValueError:
                    raise _unreadable(path, f"line {number} is no JSON") from None
        return found
    if isinstance(document, dict):
        document = document.get("decisions", [document])
    if not isinstance(document, list):
        raise _unreadable(path, "`decisions` is no list")
    return [(f"item {number}", row) for number, row in enumerate(document, 1)]


def _csv(path: str, text: str) -> list[tuple[str, Any]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        if "memory_id" not in names or "decision" not in names or set(names) - set(_COLUMNS):
            raise _unreadable(
                path, f"its first line does not name the columns {','.join(_COLUMNS)}"
            )
        found = []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"line {reader.line_num}"
            if len(cells) != len(names):
                raise _unreadable(path, f"{place} has {len(cells)} cells, not {len(names)}")
            row: dict[str, Any] = {
                name: cell.strip() for name, cell in zip(names, cells, strict=True) if cell.strip()
            }
            version = str(row.get("expected_version", "0"))
            if not version.isascii() or not version.isdigit():
                raise _unreadable(path, f"{place}: expected_version {version[:20]!r} is no number")
            if "expected_version" in row:
                row["expected_version"] = int(version)
            found.append((place, row))
        return found
    except csv.Error as error:
        raise _unreadable(path, f"line {reader.line_num}: {error}") from None


def _decision(path: str, place: str, row: Any) -> Decision:
    if not isinstance(row, dict):
        raise _unreadable(path, f"{place} is no object")
    try:
        return Decision.model_validate_json(json.dumps(row), strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "it"
        raise _unreadable(path, f"{place}: {where}: {fault['msg'].lower()}") from None
    except ValueError:
        raise _unreadable(path, f"{place} can't be stored") from None


def _unreadable(path: str, why: str) -> UsageError:
    return UsageError(
        "decisions_unreadable",
        "the decisions can't be read; nothing was done",
        why=f"{path}: {why}",
        hint='{"memory_id": "…", "decision": "delete", "expected_version": 3, "note": "…"}',
    )
