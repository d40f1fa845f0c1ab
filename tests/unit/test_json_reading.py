"""JSON out of what models really return."""

from __future__ import annotations

import pytest

from negmem.core.text.json_reading import MAX_ANSWER_CHARS, UnreadableError, read_json

WANTED = ("facts",)
GOOD = {"facts": [{"a": "茶 ```json {} ```"}]}
TEXT = '{"facts": [{"a": "茶 ```json {} ```"}]}'


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"Sure!\n```\n{TEXT}\n```\nAnything else?",
        f"```\n```json\n{TEXT}\n```\n```",
        f"<think>{{ maybe [</think>\n{TEXT}",
        f"\ufeff {TEXT}",
        TEXT.replace("}]}", "},]}"),
        TEXT.replace('{"facts"', '{ /* all */ "facts"'),
        f'{{"facts": []}} or rather {TEXT}',
        f"[1] {TEXT} {{}}",
    ],
)
def test_the_object_is_found_whatever_stands_around_it(text: str) -> None:
    assert read_json(text, WANTED) == GOOD


def test_lists_and_lines_are_lists() -> None:
    assert read_json('[{"a": 1}]', WANTED) == [{"a": 1}]
    assert read_json('{"a": 1}\n{"a": 2}', WANTED) == [{"a": 1}, {"a": 2}]
    assert read_json("[]", WANTED) == []
    assert read_json("null", WANTED) is None
    assert read_json('{"facts": NaN}', WANTED) == {"facts": None}


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "no JSON here", TEXT[:20], TEXT[:-3], '{"facts": [{"a": 1}, {"a": 2}, {"a"', "{" * 50_000, "[" * 50_000, "x" * (MAX_ANSWER_CHARS + 1)],
)  # fmt: skip
def test_half_an_answer_is_no_answer(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_json(text, WANTED)
