"""A context is never over its budget, whatever is to go in and however tokens are counted."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negmem.core.formulas.budget import Group, Item, Section, pack, shares
from negmem.core.text.token_estimate import estimate_tokens

Count = Callable[[str], int]


def characters(text: str) -> int:
    return len(text)


def words(text: str) -> int:
    return len(text.split())


def contrary(text: str) -> int:
    """The whole has more tokens than its parts together: what a real tokenizer may do at a seam."""
    return math.ceil(math.pow(len(text), 1.2))


def cut_by(count: Count) -> Callable[[str, int], str]:
    def fit(text: str, limit: int) -> str:
        while text and count(text) > limit:
            text = text[: len(text) * 3 // 4]
        return text

    return fit


COUNTS: list[Count] = [characters, words, estimate_tokens, contrary]
texts = st.text(alphabet="ab 你好\n", max_size=200)
items = st.lists(texts, max_size=6).map(
    lambda values: [Item(str(n), value) for n, value in enumerate(values)]
)
limits = st.one_of(st.none(), st.integers(0, 300))
names = ("core", "facts", "memories", "history")


@st.composite
def groups(draw: st.DrawFn) -> list[Group]:
    def section(name: str) -> Section:
        is_history = name == "history"
        return Section(name, draw(items), draw(limits), is_history, is_history)

    return [
        Group(draw(st.integers(0, 400)), [section(name) for name in names[:3]]),
        Group(draw(st.integers(0, 400)), [section("history")]),
    ]


@settings(max_examples=300)
@given(groups(), st.integers(0, 600), st.sampled_from(COUNTS))
def test_never_over_budget_and_nothing_lost(
    wanted: list[Group], max_tokens: int, count: Count
) -> None:
    packed = pack(wanted, max_tokens, names, count, cut_by(count))
    assert count(packed.text) == packed.tokens <= max_tokens
    for group in wanted:
        for section in group.sections:
            inside = [item.id for item in packed.sections[section.name]]
            outside = packed.left_out[section.name]
            assert sorted(inside + outside) == sorted(item.id for item in section.items)
            for item in packed.sections[section.name]:
                assert item.text in packed.text


@given(groups(), st.integers(0, 600))
def test_texts_are_whole_or_marked_as_cut(wanted: list[Group], max_tokens: int) -> None:
    packed = pack(wanted, max_tokens, names, characters, cut_by(characters))
    originals = {s.name: {i.id: i.text for i in s.items} for g in wanted for s in g.sections}
    for name, taken in packed.sections.items():
        for item in taken:
            whole = originals[name][item.id]
            if item.is_cut:
                assert item.text.endswith("…")
                assert whole.startswith(item.text[:-1])
            else:
                assert item.text == whole


@given(groups(), st.integers(0, 600))
def test_history_has_no_holes_and_reads_forwards(wanted: list[Group], max_tokens: int) -> None:
    packed = pack(wanted, max_tokens, names, characters, cut_by(characters))
    inside = [int(item.id) for item in packed.sections["history"]]
    assert inside == list(range(len(inside)))[::-1]


@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_shares_never_exceed_the_budget(budget: int, memory: float, history: float) -> None:
    if memory + history > 1:
        with pytest.raises(ValueError, match="memory_ratio"):
            shares(budget, memory, history)
        return
    both = shares(budget, memory, history)
    assert both.memory >= 0
    assert both.history >= 0
    assert both.total <= budget
