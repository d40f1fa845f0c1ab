"""How a context's tokens are shared out, and which texts fit.

Sections are filled in the order given, each best first, up to its own share and that of its group; what
a group leaves goes to those that still have something to say. The whole is counted again once it is
joined, and shortened until it fits: the sum of the parts is not the count of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from negmem.core.formulas.bounds import require_finite

ELLIPSIS = "…"
# A shorter beginning says too little to be worth its place.
MIN_CUT_TOKENS = 50

Count = Callable[[str], int]
"""The tokens of a text; 0 for the empty one."""

Fit = Callable[[str, int], str]
"""The beginning of a text that has at most so many tokens."""


@dataclass(frozen=True)
class Shares:
    """Tokens for what is remembered and for what was just said; what both leave is not used."""

    memory: int
    history: int

    @property
    def total(self) -> int:
        """All that a context may have."""
        return self.memory + self.history


def shares(max_tokens: int, memory_ratio: float, history_ratio: float) -> Shares:
    """The two shares of a budget, in whole tokens, never more than the budget together.

    Raises: ValueError for a negative budget, ratios outside 0..1 or above 1 together.
    """
    require_finite("max_tokens", max_tokens, at_least=0)
    require_finite("memory_ratio", memory_ratio, at_least=0, at_most=1)
    require_finite("history_ratio", history_ratio, at_least=0, at_most=1)
    require_finite("memory_ratio + history_ratio", memory_ratio + history_ratio, at_most=1 + 1e-9)
    memory = int(max_tokens * memory_ratio + 1e-9)
    history = int(max_tokens * history_ratio + 1e-9)
    return Shares(memory, min(history, max_tokens - memory))


@dataclass(frozen=True)
class Item:
    """One text that wants to be in a context; `id` is unique in its section."""

    id: str
    text: str


@dataclass(frozen=True)
class Section:
    """Texts of one kind, best first.

    `limit` is the section's share in tokens, None as much as its group. `is_contiguous` ends it at the
    first text that does not fit, as a conversation with holes misleads; `is_reversed` shows the first
    one last, as a conversation is read.
    """

    name: str
    items: Sequence[Item]
    limit: int | None = None
    is_contiguous: bool = False
    is_reversed: bool = False


@dataclass(frozen=True)
class Group:
    """Sections that share `limit` tokens, in the order in which they are filled."""

    limit: int
    sections: Sequence[Section]


@dataclass(frozen=True)
class PackedItem:
    """A text that is in; `is_cut` says that only its beginning is."""

    id: str
    text: str
    tokens: int
    is_cut: bool = False


@dataclass
class _Filled:
    section: Section
    taken: list[PackedItem] = field(default_factory=list)
    waiting: list[Item] = field(default_factory=list)
    is_closed: bool = False
    tokens: int = 0

    def take(self, item: PackedItem) -> None:
        self.taken.append(item)
        self.tokens += item.tokens

    @property
    def shown(self) -> list[PackedItem]:
        return self.taken[::-1] if self.section.is_reversed else list(self.taken)


@dataclass(frozen=True)
class Packed:
    """What is in and what is not. `tokens` counts `text` as a whole; items are in reading order."""

    text: str
    tokens: int
    sections: dict[str, list[PackedItem]]
    left_out: dict[str, list[str]]


def pack(
    groups: Sequence[Group], max_tokens: int, reading_order: Sequence[str], count: Count, fit: Fit
) -> Packed:
    """The texts that fit into `max_tokens`, and those left out, by section.

    Args: reading_order, the names of all sections as they appear in the text; the last of them is the
    first to be shortened where the whole comes out longer than its parts.
    """
    filled = _filled(groups, max_tokens, count, fit)
    return _shortened([filled[name] for name in reading_order], max_tokens, count)


def fill(
    groups: Sequence[Group], max_tokens: int, count: Count, fit: Fit
) -> dict[str, list[PackedItem]]:
    """The texts that fit by the sum of their tokens, in reading order, without joining them."""
    return {name: one.shown for name, one in _filled(groups, max_tokens, count, fit).items()}


def _filled(groups: Sequence[Group], max_tokens: int, count: Count, fit: Fit) -> dict[str, _Filled]:
    filled: dict[str, _Filled] = {}
    left = max_tokens
    for group in groups:
        room = min(group.limit, left)
        for section in group.sections:
            one = filled[section.name] = _Filled(section, waiting=list(section.items))
            limit = room if section.limit is None else min(section.limit, room)
            _fill(one, limit, count, fit)
            room -= one.tokens
            left -= one.tokens
    for one in filled.values():
        before = one.tokens
        _fill(one, before + left, count, fit)
        left -= one.tokens - before
    return filled


def _fill(one: _Filled, limit: int, count: Count, fit: Fit) -> None:
    """Take what fits under `limit` tokens of the whole section."""
    if one.is_closed:
        return
    waiting, one.waiting = one.waiting, []
    for number, item in enumerate(waiting):
        room = limit - one.tokens
        tokens = count(item.text + "\n")
        if tokens <= room:
            one.take(PackedItem(item.id, item.text, tokens))
            continue
        if room >= MIN_CUT_TOKENS and (one.section.is_contiguous or not one.taken):
            cut = _cut(item, room, count, fit)
            if cut is not None:
                one.take(cut)
                one.is_closed = one.section.is_contiguous
                one.waiting.extend(waiting[number + 1 :])
                return
        one.waiting.append(item)
        if one.section.is_contiguous:
            one.waiting.extend(waiting[number + 1 :])
            return


def _cut(item: Item, room: int, count: Count, fit: Fit) -> PackedItem | None:
    """The whole lines of a text that fit into `room` tokens, with the mark of a cut, or None.

    Where not even the first line fits, its beginning.
    """
    for spare in (2, 4, 8, 16):
        fitted = fit(item.text, room - spare)
        lines = fitted.rpartition("\n")[0]
        text = (lines if lines.strip() else fitted).rstrip() + ELLIPSIS
        tokens = count(text + "\n")
        if tokens <= room:
            return PackedItem(item.id, text, tokens, is_cut=True)
    return None


def _join(sections: Iterable[_Filled]) -> str:
    return "\n".join(item.text for one in sections for item in one.shown)


def _shortened(sections: Sequence[_Filled], max_tokens: int, count: Count) -> Packed:
    """The whole, without as many of the last section's least texts as it takes to fit."""
    text = _join(sections)
    tokens = count(text)
    while tokens > max_tokens:
        last = next((one for one in reversed(sections) if one.taken), None)
        if last is None:
            text, tokens = "", 0
            break
        gone = last.taken.pop()
        last.tokens -= gone.tokens
        last.waiting.insert(0, Item(gone.id, gone.text))
        text = _join(sections)
        tokens = count(text)
    return Packed(
        text=text,
        tokens=tokens,
        sections={one.section.name: one.shown for one in sections},
        left_out={one.section.name: [item.id for item in one.waiting] for one in sections},
    )
