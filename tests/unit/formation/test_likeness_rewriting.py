"""What is read off a pattern never hides a text that the pattern matches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from negmem.core.text import (
    likeness_amounts,
    likeness_forms,
    likeness_forms_zh,
    likeness_meaning,
    likeness_said_amounts,
)
from negmem.core.text.likeness_meaning import formed
from negmem.core.text.likeness_rewriting import may_match
from tests.labelled.score_duplicates import DEVELOPMENT

MODULES = (
    likeness_amounts,
    likeness_forms,
    likeness_forms_zh,
    likeness_meaning,
    likeness_said_amounts,
)


def _patterns(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _patterns(part)


def test_no_text_that_matches_is_passed_over() -> None:
    pairs = [json.loads(line) for line in DEVELOPMENT.read_text("utf-8").splitlines()]
    said = {text for pair in pairs[::3] for text in (pair["a"].lower(), pair["b"].lower())}
    texts = said | {form for text in said for form in formed(text)}
    patterns = {pattern for module in MODULES for pattern in _patterns(list(vars(module).values()))}
    matched = hidden = 0
    for pattern in patterns:
        for text in texts:
            if pattern.search(text):
                matched += 1
                assert may_match(pattern, text), (pattern.pattern, text)
            elif not may_match(pattern, text):
                hidden += 1
    assert matched > 300
    assert hidden > 10 * matched  # most that do not match are told by a look


@pytest.mark.parametrize(
    ("pattern", "text", "may"),
    [
        (r"\b(?:has|have) become\b|\bbecame\b", "it became cold", True),
        (r"\b(?:has|have) become\b|\bbecame\b", "it is cold", False),
        (r"colou?r (?:is|was) red", "the color was red", True),
        (r"(?<=a )b+c?", "a bb", True),
        (r"(?<=a )b+c?", "a c", False),
        (r"[ab]x{2,}", "axx", True),
        (r"(?i)Wort", "wort", True),
        (r"\d+ km", "5 km", True),
        (r"\d+ km", "5 m", False),
        (r"(?!x)[^y]*", "x", True),
    ],
)
def test_what_a_pattern_needs(pattern: str, text: str, may: bool) -> None:
    assert may_match(re.compile(pattern), text) is may
