"""Text cleaned at the door: what PostgreSQL can't hold is replaced and counted, the rest stays.

Nothing here trims, folds or normalises: Chinese, emoji, code, tabs and line ends are content.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

MAX_TEXT_BYTES = 8 * 1024 * 1024
"""The longest text of one turn or memory, in bytes of UTF-8; longer ones are refused, never cut."""

MAX_METADATA_CHARACTERS = 1024 * 1024
"""The largest metadata of one turn, in characters of its JSON text."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
BYTE_ORDER_MARK = "\ufeff"

JsonValue = Union[None, bool, int, float, str, "list[JsonValue]", "dict[str, JsonValue]"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_MAX_DEPTH = 100
_MAX_INTEGER_BITS = 4096


class TextRefusedError(ValueError):
    """A text or value that can't be stored: `reason` is a stable code, `detail` says limit and value."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Replaced:
    """How many characters or numbers were replaced, by kind."""

    nul: int = 0
    surrogates: int = 0
    byte_order_marks: int = 0
    numbers: int = 0

    def __add__(self, other: Replaced) -> Replaced:
        if not other:
            return self
        return Replaced(
            self.nul + other.nul,
            self.surrogates + other.surrogates,
            self.byte_order_marks + other.byte_order_marks,
            self.numbers + other.numbers,
        )

    def __bool__(self) -> bool:
        return bool(self.nul or self.surrogates or self.byte_order_marks or self.numbers)

    @property
    def total(self) -> int:
        """All replacements together."""
        return self.nul + self.surrogates + self.byte_order_marks + self.numbers


NOTHING_REPLACED = Replaced()


def decode_line(line: bytes) -> str:
    """The line as text.

    Raises: TextRefusedError (`invalid_utf8`) with the offset of the first bad byte, from 0.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextRefusedError(
            "invalid_utf8", f"byte 0x{line[error.start]:02x} at offset {error.start} is not UTF-8"
        ) from None


def refuse_escaped_bytes(text: str) -> None:
    """Refuses text that was decoded with `surrogateescape` from bytes that are not UTF-8.

    Raises: TextRefusedError (`invalid_utf8`) with the first bad byte's offset in characters, from 0.
    """
    if text.isascii():
        return
    found = _ESCAPED_BYTE.search(text)
    if found:
        raise TextRefusedError(
            "invalid_utf8",
            f"byte 0x{ord(found.group()) - 0xDC00:02x} at offset {found.start()} is not UTF-8",
        )


def clean_text(text: str, *, max_bytes: int = MAX_TEXT_BYTES) -> tuple[str, Replaced]:
    r"""The text as it can be stored, and what was replaced.

    NUL and lone surrogates become U+FFFD; two surrogates that belong together become their
    character; one byte order mark at the start goes. The six characters `\u0000` are text and stay.

    Raises: TextRefusedError (`text_too_long`) above max_bytes of UTF-8.
    """
    cleaned, replaced = _clean_characters(text)
    if len(cleaned) * 4 > max_bytes:
        size = len(cleaned.encode("utf-8"))
        if size > max_bytes:
            raise TextRefusedError(
                "text_too_long", f"at most {max_bytes:,} bytes a text, got {size:,}"
            )
    return cleaned, replaced


def clean_value(value: object) -> tuple[JsonValue, Replaced]:
    """A JSON value with every key and string cleaned; numbers that JSON can't express become null.

    Raises: TextRefusedError (`metadata_too_deep`, `metadata_invalid`, `number_too_long`).
    """
    return _clean_value(value, 0)


def _clean_characters(text: str) -> tuple[str, Replaced]:
    nul = text.count("\0")
    if nul:
        text = text.replace("\0", REPLACEMENT)
    if text.isascii():
        return text, Replaced(nul=nul) if nul else NOTHING_REPLACED
    marks = 0
    if text.startswith(BYTE_ORDER_MARK):
        text, marks = text[1:], 1
    surrogates = 0
    if _SURROGATE.search(text):
        before = text.count(REPLACEMENT)
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        surrogates = text.count(REPLACEMENT) - before
    if nul or marks or surrogates:
        return text, Replaced(nul, surrogates, marks)
    return text, NOTHING_REPLACED


def _clean_value(value: object, depth: int) -> tuple[JsonValue, Replaced]:
    if depth > _MAX_DEPTH:
        raise TextRefusedError("metadata_too_deep", f"nested more than {_MAX_DEPTH} levels")
    if value is None or isinstance(value, bool):
        return value, NOTHING_REPLACED
    if isinstance(value, str):
        return _clean_characters(value)
    if isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise TextRefusedError("number_too_long", "a whole number of more than 1,233 digits")
        return value, NOTHING_REPLACED
    if isinstance(value, float):
        return (value, NOTHING_REPLACED) if math.isfinite(value) else (None, Replaced(numbers=1))
    replaced = NOTHING_REPLACED
    if isinstance(value, Mapping):
        members: dict[str, JsonValue] = {}
        for key, member in value.items():
            name, in_key = _clean_characters(str(key))
            members[name], in_member = _clean_value(member, depth + 1)
            replaced = replaced + in_key + in_member
        return members, replaced
    if isinstance(value, (list, tuple)):
        items: list[JsonValue] = []
        for member in value:
            item, in_item = _clean_value(member, depth + 1)
            items.append(item)
            replaced = replaced + in_item
        return items, replaced
    raise TextRefusedError("metadata_invalid", f"{type(value).__name__} is not a JSON value")
