"""Values of a profile's fields: read by type, and what was extracted as the one plain value that it says. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

from negmem.core.text.dates import find_dates
from negmem.core.text.fact_words import name_form, value_text
from negmem.core.text.likeness_numbers import chinese_number

_NUMBER = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?(?![\d.])")
_NUMERAL = re.compile(r"[零〇一二两三四五六七八九十百千万]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PARTS = re.compile(r"\s*(?:[,，、;；]|\band\b|和)\s*")


def read_value(kind: str, value: Any) -> Any:
    """The value as its type has it: itself, or a text that reads as one. Raises: ValueError, TypeError."""
    return _READERS[kind](value)


def plain_value(value: Any, kind: str | None = None) -> Any:
    """The one value that a fact of the profile says, of the field's type where its words read so.

    Of what was extracted that is its text, which keeps a negation ("not Berlin").
    """
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return value
    said = value["text"]
    if kind is None or kind == "text" or value.get("negated"):
        return said
    try:
        return read_value(kind, _as_typed(kind, str(value.get("object") or said)))
    except (ValueError, TypeError):
        return said


def same_field(one: Any, other: Any, kind: str | None) -> bool:
    """Whether two values of a field say the same, whoever wrote them: by hand, by an extractor."""
    first, second = plain_value(one, kind), plain_value(other, kind)
    if first == second and isinstance(first, bool) == isinstance(second, bool):
        return True
    form = name_form(value_text(first))
    return form != "" and form == name_form(value_text(second))


def _as_typed(kind: str, said: str) -> str:
    """The part of a text that is a value of a type: 34 of "34 years old", 三十四岁 or "34"."""
    if kind in ("integer", "number"):
        numbers = _NUMBER.findall(said)
        if not numbers:
            numbers = [str(chinese_number(one) or "") for one in _NUMERAL.findall(said)]
        return numbers[0] if len(numbers) == 1 else said
    if kind == "date":
        dates = [one for one in find_dates(said, date(2000, 1, 1)) if _YEAR.search(one.words)]
        return dates[0].span.iso if len(dates) == 1 else said
    if kind == "list":
        return json.dumps([part for part in _PARTS.split(said) if part], ensure_ascii=False)
    return said


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _integer(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
        raise ValueError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    read = float(value)
    if not abs(read) < float("inf"):
        raise ValueError
    return read


def _boolean(value: Any) -> bool:
    said = str(value).lower()
    if said not in ("true", "yes", "false", "no"):
        raise ValueError
    return said in ("true", "yes")


def _date(value: Any) -> str:
    return date.fromisoformat(str(value)).isoformat()


def _list(value: Any) -> list[str]:
    if isinstance(value, str):
        value = json.loads(value) if value.startswith("[") else value.split(",")
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError
    return [_text(one) for one in value]


_READERS: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "list": _list,
}
