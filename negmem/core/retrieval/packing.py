"""Which candidates go into a context, how long, and why the others do not: pure, whatever counts the tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from negmem.core.formulas.budget import Group, Item, Packed, Section, Shares, fill, pack
from negmem.core.models.context import SECTIONS, LeftOut
from negmem.core.retrieval.candidates import Candidate

# Parts of the memory's share, as in sql/functions/get_context_window.sql; what a section leaves, others take.
SECTION_SHARES = {
    "core": 0.3,
    "instructions": 0.15,
    "summary": 0.15,
    "profile": 0.2,
    "reflections": 0.1,
    "entities": 0.2,
    "knowledge": 0.2,
}
# The order in which sections are filled, and in which the first to say something says it.
_FILLED = (
    "core",
    "instructions",
    "summary",
    "profile",
    "reflections",
    "entities",
    "knowledge",
    "found",
)
_FOUND = ("memories", "facts")
# A text of more characters than this for each token fits in no case, and is not counted whole.
_MAX_CHARS_PER_TOKEN = 64
_BLANKS = re.compile(r"[ \t\r\n]+")


class Counter(Protocol):
    """What counts tokens: the tokens of a text; the longest beginning within a limit, first of three."""

    def count(self, text: str) -> int: ...
    def fit(self, text: str, limit: int) -> tuple[str, int, bool]: ...


@dataclass(frozen=True)
class Chosen:
    """What was packed: the final text, which texts are only beginnings, and what stayed out.

    `candidates` are by the ids of the packed items.
    """

    candidates: dict[str, Candidate]
    packed: Packed
    cut: frozenset[str]
    left_out: list[LeftOut]


class _Counted:
    """A counter that counts each text once: the same ones are weighed for their section and for the whole."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._counter.count(text)
        return found

    def fit(self, text: str, limit: int) -> str:
        return self._counter.fit(text, limit)[0]


def choose(candidates: Sequence[Candidate], both: Shares, counter: Counter) -> Chosen:
    """History first, within its share; what it leaves goes to memory; then the whole is fitted.

    The text never has more tokens than `both` allows, by this counter's own count of it.
    """
    counted = _Counted(counter)
    longest = _MAX_CHARS_PER_TOKEN * both.total + 1
    keyed = {f"{c.section}:{c.id}": c for c in candidates}
    filled: dict[str, dict[str, Candidate]] = {name: {} for name in (*_FILLED, "history")}
    for key, c in keyed.items():
        filled["found" if c.section in _FOUND else c.section][key] = c

    def items(name: str, without: frozenset[str] = frozenset()) -> list[Item]:
        return [
            Item(key, c.text[:longest]) for key, c in filled[name].items() if key not in without
        ]

    last = Section("history", items("history"), is_contiguous=True, is_reversed=True)
    history = fill([Group(both.history, [last])], both.history, counted.count, counted.fit)
    said_last = history["history"]
    repeated = _repeated(filled, {item.id for item in said_last})
    room = both.total - sum(item.tokens for item in said_last)
    sections = [
        Section(
            name,
            items(name, without=repeated),
            limit=int(SECTION_SHARES[name] * both.memory) if name in SECTION_SHARES else None,
        )
        for name in _FILLED
    ]
    memory = fill([Group(room, sections)], room, counted.count, counted.fit)
    taken = [item for few in (said_last, *memory.values()) for item in few]
    texts = {item.id: item.text for item in taken}
    whole = [
        Section(
            name,
            [
                Item(key, texts[key])
                for key, c in filled["found" if name in _FOUND else name].items()
                if c.section == name and key in texts
            ],
            is_contiguous=name == "history",
            is_reversed=name == "history",
        )
        for name in SECTIONS
    ]
    packed = pack([Group(both.total, whole)], both.total, SECTIONS, counted.count, counted.fit)
    inside = {item.id for few in packed.sections.values() for item in few}
    left_out = [
        LeftOut(
            id=c.id,
            section=c.section,
            reason="repeated" if key in repeated else "budget",
            tokens=None if len(c.text) > longest else counted.count(c.text),
        )
        for key, c in keyed.items()
        if key not in inside
    ]
    return Chosen(keyed, packed, frozenset(item.id for item in taken if item.is_cut), left_out)


def _repeated(filled: dict[str, dict[str, Candidate]], in_history: set[str]) -> frozenset[str]:
    """What the history or an earlier section says in the same words, blanks aside."""
    seen = {plain_words(c.said) for key, c in filled["history"].items() if key in in_history}
    has_profile = bool(filled["profile"])
    found = set()
    for name in _FILLED:
        for key, c in filled[name].items():
            words = plain_words(c.said)
            if words in seen or (has_profile and c.section == "facts" and c.type == "profile"):
                found.add(key)
            seen.add(words)
    return frozenset(found)


def plain_words(text: str) -> str:
    """A text without the blanks that make no difference: equal ones say the same."""
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    return _BLANKS.sub(" ", text).strip(" ")
