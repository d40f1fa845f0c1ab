"""Text that may be shown: memory content is untrusted."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe_text(text: str) -> str:
    """`text` without control characters (escape sequences, direction overrides, lone surrogates)."""
    return _CONTROL.sub("\ufffd", text)


def one_line(text: str, width: int | None = None) -> str:
    """`text` safe and on one line, cut to `width` characters with … when it is given."""
    line = " ".join(safe_text(text).split())
    if width is not None and len(line) > width:
        return line[: max(0, width - 1)] + "…"
    return line
