"""JSON read out of what models really return: in fences, in chat, with a comma too many.

Pure, and bounded in work: hostile text costs no more than a few passes over it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Union

JsonValue = Union[None, bool, int, float, str, "list[JsonValue]", "dict[str, JsonValue]"]

MAX_ANSWER_CHARS = 400_000
"""A longer answer is not read at all."""

_MAX_STARTS = 200
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_FENCE_LINE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[\w-]*[ \t]*$")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.S)


class UnreadableError(ValueError):
    """No JSON of the wanted kind in a text; the message says why."""


def read_json(text: str, wanted: Collection[str]) -> JsonValue:
    """The JSON value that a text holds.

    Args: wanted, keys of which the object that is meant has at least one.
    Returns: an object with a wanted key, the longest if there are several; else a list of objects
    (also objects one after the other); else whatever JSON the whole text is.
    Raises: UnreadableError where there is none, or only half of one.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise UnreadableError(
            f"an answer of {len(text):,} characters, at most {MAX_ANSWER_CHARS:,}"
        )
    plain = _THOUGHT.sub(" ", text.replace("\ufeff", "")).strip()
    if not plain:
        raise UnreadableError("the answer is empty")
    inside = _FENCE_LINE.sub("", plain).strip()
    whole = _loads(inside)
    if whole is _NOTHING:
        whole = _loads(_without_slips(inside))
    if isinstance(whole, str):
        # An object given as a string: quoted twice.
        inner = _loads(whole.strip())
        whole = inner if isinstance(inner, dict | list) else whole
    if whole is not _NOTHING and not isinstance(whole, str):
        return whole  # type: ignore[return-value]
    for candidate in (plain, _without_slips(plain)):
        found = _embedded(candidate, wanted)
        if found is not _NOTHING:
            return found  # type: ignore[return-value]
    if whole is not _NOTHING:
        return whole  # type: ignore[return-value]
    if re.search(r"[{\[]", plain):
        raise UnreadableError("the answer breaks off, or is no JSON")
    raise UnreadableError(f"the answer is prose: {plain[:80]!r}")


_NOTHING = object()


def _is_wanted(value: object, wanted: Collection[str]) -> bool:
    if isinstance(value, dict):
        return any(key in value for key in wanted)
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _loads(text: str) -> object:
    try:
        return json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        return _NOTHING


def _embedded(text: str, wanted: Collection[str]) -> object:
    """The object or list that stands between other words."""
    decoder = json.JSONDecoder(parse_constant=lambda name: None)
    best: object = _NOTHING
    best_size = -1
    items: list[object] = []
    place = tried = 0
    while tried < _MAX_STARTS:
        match = re.compile(r"[{\[]").search(text, place)
        if match is None:
            break
        tried += 1
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            place = match.start() + 1
            continue
        size = end - match.start()
        if _is_wanted(value, wanted) and size > best_size and value != []:
            best, best_size = value, size
        elif isinstance(value, dict):
            items.append(value)
        elif value == [] and best is _NOTHING and not items:
            best, best_size = value, 0
        place = end
    if best is _NOTHING or (best_size <= 0 and items):
        # Half an object with whole ones inside must not pass for a list of them.
        is_broken = tried > len(items) + (best_size >= 0)
        return items if items and not is_broken else _NOTHING if items else best
    return best


def _without_slips(text: str) -> str:
    """Comments and trailing commas taken out, outside of strings."""
    return _TOKEN.sub(lambda match: match.group() if match.group()[0] == '"' else "", text)
