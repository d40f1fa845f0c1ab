"""What little words change: tense and aspect, one or several, must and may, how far a denial reaches.

Asked of two texts with the same words, these rules find what makes them two statements all the same.
"""

from __future__ import annotations

import re

from negmem.core.text.likeness_forms import PARTICIPLE
from negmem.core.text.likeness_meaning import Meaning

# What the one must not have where the other has what stands beside it.
_SET_AGAINST = tuple(
    (re.compile(one), re.compile(other))
    for one, other in (
        (rf"\bhad\b(?! (?:been|to|not|{PARTICIPLE})\b)", r"\b(?:has|have)\b"),
        (r"\bdid\b", r"\b(?:does|do)\b"),
        (r"\b(?:was|were)\b", r"\b(?:is|are|am)\b"),
        (
            r"\b(?:has|have) (?:\w+ )?been (?!\w+ing\b)\w+",
            r"\b(?:must|should|shall|will|can|may|to) (?:not )?be (?!\w+ing\b)\w+",
        ),
        (r"\bwould (?!like|rather|prefer|love)", r"^(?!.*\b(?:would|will|can|could|must)\b)"),
        (r"\bwill be an? ", r"\b(?:is|are|am) an? "),
        (
            r"\b(?:has|have) been\b(?! \w+ing\b)(?!.*\b(?:for|since|§)\b)(?!.*§)",
            r"\b(?:is|are|am)\b",
        ),
        (r"\b(?:is|are|am|was|were) being\b", rf"\b(?:is|are|am|was|were|been) {PARTICIPLE}\b"),
        (r"(?:很|非常|特别|十分|极其?|最)[不没]", r"[不没]是?(?:很|太|非常|特别|十分|怎么|那么)"),
    )
)
_MUST = re.compile(
    r"\b(?:user|i|he|she|they|we) (?:must|should|shall|has to|have to|needs? to|ought to)\b"
    r"|(?:用户|我|他|她)(?:每[天日周月年])?(?:必须|应该|应当|务必|该)"
)
_PERSON_FIRST = re.compile(
    r"^(?:the )?(?:user|i|he|she|they|we)\b(?!'s| »)|^(?:用户|我|他|她)(?!的)"
)
_ONE_OF_KIND = re.compile(
    r"(?<!^)\b(?:an?|one|§n:1§) +([a-z]{3,})\b(?= ?(?:[.,;!]|$)| (?:in|on|at|for|of|to|with|and|who|that|from)\b)"
)
_WITH = re.compile(r"\bwith ([a-z]+)")
_TO = re.compile(r"\bto ([a-z]+)")
_THE = r"(?:the|my|his|hers?|our|their|your|»)"
_THE_ONE = re.compile(rf"\b{_THE} ([a-z]{{2,}}[a-rt-z])\b(?! [a-z]+s\b)")
_SEVERAL = re.compile(r"\b([a-z]{3,})s (?:are|were|have)\b")
_DOES_NOT_STAND = frozenset(
    ["see", "eat", "drink", "watch", "send", "write", "giv", "mak", "tak", "put", "receiv", "get"]
)
# What others are asked for with.
_ASKS = frozenset(
    ["want", "prefer", "lik", "ask", "request", "希望", "喜欢", "更喜欢", "询问", "不要"]
)
_TO_BE = frozenset(("is", "are", "am"))


def same_scope(a: Meaning, b: Meaning) -> bool:
    """Whether nothing that a little word says of the one is another in the other; symmetric."""
    return _stands_for(a, b) and _stands_for(b, a) and not _orders(a, b) and not _orders(b, a)


def _orders(one: Meaning, other: Meaning) -> bool:
    """Whether the one asks for what somebody does of themself, or has to do, in the other."""
    return (
        one.is_order
        and not other.is_order
        and not other.is_passive
        and _PERSON_FIRST.search(other.text) is not None
        and _ASKS.isdisjoint(other.words | other.light)
    )


def _stands_for(one: Meaning, other: Meaning) -> bool:
    for mine, theirs in _SET_AGAINST:
        if (
            mine.search(one.text)
            and not mine.search(other.text)
            and theirs.search(other.text)
            and not theirs.search(one.text)
        ):
            return False
    if _MUST.search(one.text) and not _MUST.search(other.text) and _PERSON_FIRST.search(other.text):
        return False
    for match in _ONE_OF_KIND.finditer(one.text):
        several = re.compile(rf"\b{re.escape(match[1])}(?:e?s)\b")
        if (
            several.search(other.text)
            and not several.search(one.text)
            and not re.search(rf"\b{re.escape(match[1])}\b", other.text)
        ):
            return False
    for match in _THE_ONE.finditer(one.text):
        if re.search(rf"\b{_THE} {match[1]}e?s\b", other.text) and not re.search(
            rf"\b{match[1]}e?s\b", one.text
        ):
            return False
    for match in _WITH.finditer(one.text):
        if f"{match[1]} »" in " ".join(other.text.split()) and "»" not in one.text:
            return False
    for match in _TO.finditer(one.text):
        if match[1] in one.names and f"for {match[1]}" in other.text:
            return f"to {match[1]}" in other.text
    for match in _SEVERAL.finditer(one.text):
        if re.search(rf"\b{match[1]} (?:is|was|has)\b", other.text):
            return False
    acts = (_DOES_NOT_STAND & one.words - other.words) - ({"tak"} if one.amounts else set())
    return not (acts and _TO_BE & other.light and not _TO_BE & one.light)
