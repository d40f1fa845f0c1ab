"""Keys and values that both extractors write alike, so that a fact is the same whoever found it."""

from __future__ import annotations

import re

from pydantic import JsonValue

from negmem.core.formation.extraction.keys import (
    attribute_key,
    liking_key,
    relation_key,
    rule_key,
    thing_key,
)
from negmem.core.models.extraction import FactType

MAX_KEY_CHARS = 255

_HAN = re.compile(r"[\u4e00-\u9fff]")
_FAVOURITE = re.compile(r"^(?:favou?rite|最喜欢的?)[\s_:.-]*(?P<kind>.*)$", re.I)
_LEAD = re.compile(
    r"^(?:user|i|the user|用户|我)?[\s:_.-]*(?:likes?|loves?|dislikes?|hates?|prefers?|preference)?[\s:_.-]*"
)


def fact_value(statement: str, thing: str, negated: bool) -> dict[str, JsonValue]:
    """The JSON value of a fact: `text` reads by itself, `object` is the bare thing."""
    return {"text": statement, "object": thing, "negated": negated}


def normal_key(kind: FactType, said_key: str, thing: str) -> str:
    """The key that a fact of this type and thing has, whatever a model called it."""
    said = " ".join(said_key.replace("_", " ").replace(".", " ").split())
    if kind == "preference":
        favourite = _FAVOURITE.match(said)
        if favourite and favourite["kind"]:
            return f"favorite:{thing_key(favourite['kind'])}"[:MAX_KEY_CHARS]
        return f"likes:{liking_key(thing)}"[:MAX_KEY_CHARS]
    if kind == "rule":
        return rule_key(thing)[:MAX_KEY_CHARS]
    if kind == "plan":
        return f"plan:{thing_key(thing)}"[:MAX_KEY_CHARS]
    head, _, rest = said.partition(":")
    if kind == "relation":
        key = relation_key(head) or thing_key(head)
    else:
        key = attribute_key(head) or thing_key(_LEAD.sub("", head) or head)
    tail = thing_key(rest) if rest.strip() else ""
    return (f"{key}:{tail}" if tail else key)[:MAX_KEY_CHARS]


def statement_of(kind: FactType, thing: str, negated: bool) -> str:
    """A sentence for a thing in the thing's own language that keeps the negation."""
    chinese = bool(_HAN.search(thing))
    if kind == "preference":
        if chinese:
            return f"{'不喜欢' if negated else '喜欢'}{thing}"
        return f"{'does not like' if negated else 'likes'} {thing}"
    if not negated:
        return thing
    if kind == "rule":
        return f"不要{thing}" if chinese else f"do not {thing}"
    return (
        f"不是{thing}"
        if chinese and kind == "profile"
        else f"没有{thing}"
        if chinese
        else f"not {thing}"
    )
