"""Stored text as it stands in a context: behind a label that no content can forge.

A block begins with `[` at the start of a line, and nothing else does: all further lines of a text are set
in, names inside a label lose their brackets, and characters that steer a terminal or turn the direction
of writing are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

# Neither of the two matches in what is printable, which most of what people write is.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BRACKETS = str.maketrans("[]", "()")
_LINE_ENDS = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def labelled(label: str, content: str, *, verify: Sequence[str] = ()) -> str:
    """A text behind its label; `verify`, what of it should be checked before use, stands in the label."""
    mark = f" | verify {label_part(', '.join(verify))} before use" if verify else ""
    inside = content.strip()
    if not inside.isprintable():
        lines = _LINE_ENDS.split(inside)
        inside = "\n  ".join(_STEERING.sub("\N{REPLACEMENT CHARACTER}", line) for line in lines)
    return f"[{label_part(label)}{mark}] {inside}"


def label_part(text: str) -> str:
    """A name as it may stand inside a label, or before a text: one line, no brackets."""
    if text.isprintable():
        return " ".join(text.split()).translate(_BRACKETS)
    return _STEERING.sub(
        "\N{REPLACEMENT CHARACTER}",
        " ".join(_LINE_ENDS.sub(" ", text).split()).translate(_BRACKETS),
    )


def spoken(said: str, metadata: Mapping[str, Any]) -> str:
    """A turn with who said it before it, where that was a named speaker or another than the user."""
    role = metadata.get("role")
    who = metadata.get("speaker") or (role if role != "user" else None)
    return f"{label_part(who)}: {said}" if isinstance(who, str) and who else said


def date_part(moment: datetime | None) -> str:
    """The day in UTC as a label has it, or nothing."""
    return "" if moment is None else f" | {moment.astimezone(timezone.utc):%Y-%m-%d}"


def short_id(identity: object) -> str:
    """The end of an id, which tells items apart; the beginning is when it was made."""
    return str(identity)[-8:]
