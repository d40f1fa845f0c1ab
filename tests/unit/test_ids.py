"""What is said of an id that is none."""

from __future__ import annotations

import pytest

from negmem.core.memories import parse_id
from negmem.errors import UsageError


@pytest.mark.parametrize(
    ("text", "is_end"),
    [("99d84d30", True), ("…99d84d30", True), ("茶", False), ("99d84d30-", False)],
)
def test_the_end_of_an_id_is_known_as_such(text: str, is_end: bool) -> None:
    with pytest.raises(UsageError) as raised:
        parse_id(text)
    assert raised.value.code == "id_malformed"
    assert ("the end of one" in raised.value.why) == is_end
