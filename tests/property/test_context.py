"""A context never has more tokens than it may, and nothing in it leaves its block: for any input."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from negmem.core.formulas.budget import shares
from negmem.core.models.context import SECTIONS
from negmem.core.retrieval import packing
from negmem.core.retrieval.candidates import Candidate
from negmem.core.retrieval.packing import choose
from negmem.core.text import labelled as labels
from negmem.core.text.labelled import labelled
from negmem.core.text.token_estimate import estimate_tokens
from negmem.providers.tokens import TokenCounter


@dataclass
class Fake:
    """A tokenizer by any rule; its `fit` may cut anywhere that the rule allows."""

    name: str
    rule: Callable[[str], int]

    def count(self, text: str) -> int:
        return self.rule(text)

    def fit(self, text: str, limit: int) -> tuple[str, int, bool]:
        kept = text
        while kept and self.rule(kept) > limit:
            kept = kept[: len(kept) * 4 // 5]
        return kept, self.rule(kept), kept != text


COUNTERS = [
    Fake("characters", len),
    Fake("bytes", lambda text: len(text.encode("utf-8", "surrogatepass"))),
    Fake("words", lambda text: len(text.split())),
    Fake("longer as a whole", lambda text: math.ceil(math.pow(len(text), 1.3))),
    Fake("two a character and one", lambda text: 2 * len(text) + 1 if text else 0),
    Fake("estimate", estimate_tokens),
    TokenCounter("gpt-4o"),
    TokenCounter("gpt-4"),
]
pieces = st.sampled_from(
    [
        "咖啡",
        "我喜欢喝乌龙茶。",
        "👩‍👩‍👧‍👦",
        "🍵",
        "word ",
        "\n",
        "\r\n",
        "\u2028",
        "[Memory x] ",
        "<|endoftext|>",
        "…",
    ]
)
texts = st.one_of(st.lists(pieces, max_size=60).map("".join), st.text(max_size=120))
ids = st.integers(0, 5).map(lambda n: UUID(int=n))


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    found = []
    for _ in range(draw(st.integers(0, 12))):
        said, label = draw(texts), draw(texts)
        section = draw(st.sampled_from(SECTIONS))
        found.append(
            Candidate(draw(ids), section, said, labelled(label, said), None, None, 0.5, "episodic")
        )
    return found


ratios = st.tuples(st.floats(0, 0.6), st.floats(0, 0.4))


@given(candidates(), st.integers(0, 3_000), ratios, st.sampled_from(COUNTERS))
@example([], 1, (0.3, 0.5), COUNTERS[0])
def test_never_over_budget(
    found: list[Candidate],
    max_tokens: int,
    parts: tuple[float, float],
    counter: Fake | TokenCounter,
) -> None:
    both = shares(max_tokens, *parts)
    chosen = choose(found, both, counter)
    text = chosen.packed.text
    assert counter.count(text) <= both.total <= max_tokens
    assert chosen.packed.tokens == counter.count(text)
    inside = {(name, item.id) for name, few in chosen.packed.sections.items() for item in few}
    keys = {(c.section, f"{c.section}:{c.id}") for c in found}
    left = {(one.section, f"{one.section}:{one.id}") for one in chosen.left_out}
    assert inside | left == keys
    assert inside.isdisjoint(left)


@given(candidates(), st.sampled_from(COUNTERS[:3]))
def test_nothing_leaves_its_block(found: list[Candidate], counter: Fake) -> None:
    chosen = choose(found, shares(100_000, 0.5, 0.5), counter)
    shown = sum(len(few) for few in chosen.packed.sections.values())
    lines = chosen.packed.text.splitlines() if shown else []
    heads = [line for line in lines if not line.startswith("  ")]
    assert len(heads) == shown
    assert all(line.startswith("[") and "]" in line for line in heads)


@given(texts, texts)
def test_a_label_is_one_line_with_one_pair_of_brackets(label: str, said: str) -> None:
    first, *rest = labelled(label, said).splitlines()
    assert first.startswith("[")
    assert first.partition("]")[0].count("[") == 1
    assert all(line.startswith("  ") for line in rest)


@given(
    st.text(
        st.one_of(st.characters(), st.sampled_from("[] \n\x0b\x85\u2028\u202e\u200f你🍵")),
        max_size=40,
    )
)
def test_what_is_printable_needs_no_cleaning(text: str) -> None:
    """The short way of a label and of a text, which spares most of them two searches, changes neither."""
    if text.isprintable():
        assert not labels._STEERING.search(text)
        assert not labels._LINE_ENDS.search(text)
    assert packing.plain_words(text) == packing._BLANKS.sub(" ", text).strip(" ")
