"""Cleaning, whatever the text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from negmem.core.text.clean import clean_text, clean_value

ANY_TEXT = st.text(st.characters(exclude_categories=()))
STORABLE = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))


@given(ANY_TEXT)
def test_what_comes_out_can_be_stored_and_is_stable(text: str) -> None:
    cleaned, replaced = clean_text(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    again, nothing = clean_text(cleaned)
    if not cleaned.startswith("\ufeff"):
        assert again == cleaned and not nothing
    assert replaced or cleaned == text or any("\ud800" <= c <= "\udfff" for c in text)


@given(STORABLE)
def test_storable_text_is_never_changed(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert clean_text(text)[0] == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
        max_leaves=20,
    )
)
def test_clean_values_are_strict_json_in_utf8(value: object) -> None:
    cleaned, _ = clean_value(value)
    text = json.dumps(cleaned, ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in text or "\\\\u0000" in text
    text.encode("utf-8")
