"""The first design's key of duplicates, held to the golden table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from negmem.core.text.compat_key import compat_key
from tests.support.golden import TABLES

CASES = [
    json.loads(line) for line in (TABLES / "exact_duplicates.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_golden_table_as_shipped(case: dict[str, Any]) -> None:
    assert (compat_key(case["a"]) == compat_key(case["b"])) == case["shipped"]


def test_blanks_are_not_trimmed_again() -> None:
    assert compat_key("- Likes tea .") == " likes tea "
    assert compat_key("…") == compat_key("!!!") == ""
