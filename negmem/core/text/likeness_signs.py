"""Signs that say something: 👍 and 👎, ✅ and ❌, < and >, ★★★ and ★, :) and :(."""

from __future__ import annotations

import re
from collections import Counter

# Pictures and dingbats, stars, and what compares two things; joiners and skin tones say nothing here.
_PICTURES = "\u2605\u2606\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_SIGN = re.compile(rf"[{_PICTURES}]|[:;=]['-]?[()DP](?![\w])|[<>≠≤≥]|(?<![<>!=])=(?![=)(])")
# One of these alone turns what stands beside it.
_VERDICTS = frozenset("👍👎✅❌✔✖✓✗✘☑☒☐🚫⛔⭕❎")


def signs_apart(one: str, other: str) -> tuple[str, ...]:
    """The signs by which two texts differ: where both have some, or where one alone has a verdict."""
    first, second = (Counter(_SIGN.findall(text)) for text in (one, other))
    apart = (first - second) + (second - first)
    if (first and second) or _VERDICTS & apart.keys():
        return tuple(sorted(apart.elements()))
    return ()
