"""JSON documents read element by element give what Python's own parser gives, whatever their size."""

import json
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from negmem.core.formation.readers import documents
from negmem.core.formation.readers.documents import Element, json_documents, json_lines
from negmem.core.formation.readers.records import Reject
from tests.support.conversations import source_of

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
INDENT = st.sampled_from([None, 0, 2])


def items(text: str, arrays: frozenset[str] = frozenset(), chunk: int = 7) -> list[Element]:
    with patch.object(documents, "_CHUNK", chunk):
        found = list(json_documents(source_of(text), arrays))
    assert not [element for element in found if isinstance(element, Reject)], found
    return [element for element in found if isinstance(element, Element)]


@given(st.lists(VALUES, max_size=6), INDENT, st.integers(1, 40))
def test_an_array_gives_its_items(values: list[object], indent: int | None, chunk: int) -> None:
    found = items(json.dumps(values, indent=indent), chunk=chunk)
    assert [element.value for element in found if not element.ends] == values
    assert [element.place.item for element in found if not element.ends] == list(
        range(1, len(values) + 1)
    )


@given(st.dictionaries(TEXT, VALUES, max_size=5), st.lists(VALUES, max_size=5), INDENT)
def test_an_object_gives_the_items_of_its_array_and_the_rest(
    members: dict[str, object], values: list[object], indent: int | None
) -> None:
    members.pop("events", None)
    found = items(json.dumps({**members, "events": values}, indent=indent), frozenset(("events",)))
    assert [element.value for element in found if element.key == "events"] == values
    assert found[-1].ends and found[-1].value == members


@given(st.lists(st.dictionaries(TEXT, VALUES, min_size=1, max_size=3), min_size=1, max_size=4))
def test_documents_may_follow_each_other(values: list[dict[str, object]]) -> None:
    found = items("\n".join(json.dumps(value, indent=1) for value in values))
    assert [element.value for element in found if element.ends] == values
    assert [element.document for element in found if element.ends] == list(
        range(1, len(values) + 1)
    )


@given(st.lists(VALUES.filter(lambda v: v is not None), min_size=1, max_size=6), st.booleans())
def test_lines_give_their_values_and_numbers(values: list[object], blank_lines: bool) -> None:
    between = "\n\n" if blank_lines else "\n"
    found = list(json_lines(source_of(between.join(json.dumps(value) for value in values))))
    step = 2 if blank_lines else 1
    assert [element.value for element in found if isinstance(element, Element)] == values
    assert [element.place.line for element in found] == [
        1 + step * number for number in range(len(values))
    ]


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_records_and_never_an_error(data: bytes, as_lines: bool) -> None:
    source = source_of(b'[{"a": 1}, ' + b" " * 4000 + data)
    reader = json_lines(source) if as_lines else json_documents(source, frozenset(("a",)))
    for element in reader:
        assert isinstance(element, (Element, Reject))
