"""Answers of tools within a budget of tokens: lists are shortened from their end, texts cut, and both said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from negmem.providers.tokens import TokenCounter

_LEAST_CHARS = 40


@dataclass(frozen=True)
class Fitted:
    """An answer that fits: its content, its tokens, how many items had no room, whether texts were cut."""

    content: dict[str, Any]
    tokens: int
    left_out: int
    is_cut: bool


def fitted(content: Mapping[str, Any], most: int, counter: TokenCounter) -> Fitted:
    """The content in at most `most` tokens, as the JSON that a model reads.

    Of its longest list the last items go, but never the first; then the longest texts are cut.
    """
    whole = dict(content)
    tokens = _count(whole, counter)
    if tokens <= most:
        return Fitted(whole, tokens, 0, False)
    name = _longest_list(whole)
    left_out = 0
    if name is not None:
        items = list(whole[name])
        spent = _count({**whole, name: []}, counter) + _count({"left_out": len(items)}, counter)
        kept = 0
        for item in items:
            spent += _count(item, counter) + 1
            if spent > most and kept:
                break
            kept += 1
        left_out = len(items) - kept
        whole = {**whole, name: items[:kept]}
        if left_out:
            whole["left_out"] = left_out
        tokens = _count(whole, counter)
    limit = max(_longest_text(whole), _LEAST_CHARS)
    is_cut = False
    while tokens > most and limit > _LEAST_CHARS:
        limit = max(limit * 3 // 4, _LEAST_CHARS)
        whole, is_cut = _cut(whole, limit), True
        tokens = _count(whole, counter)
    return Fitted(whole, tokens, left_out, is_cut)


def _count(value: Any, counter: TokenCounter) -> int:
    return counter.count(json.dumps(value, ensure_ascii=False))


def _longest_list(content: Mapping[str, Any]) -> str | None:
    lists = {name: value for name, value in content.items() if isinstance(value, list) and value}
    return max(lists, key=lambda name: len(str(lists[name])), default=None)


def _longest_text(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, Mapping) else value
    return max(map(_longest_text, parts), default=0) if isinstance(value, (Mapping, list)) else 0


def _cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else value[: limit - 1] + "…"
    if isinstance(value, Mapping):
        return {key: _cut(one, limit) for key, one in value.items()}
    return [_cut(one, limit) for one in value] if isinstance(value, list) else value
