"""Whether two texts say the same: the rules that a likeness of vectors can't be trusted with.

Vectors give "likes" and "does not like", 14:30 and 15:30, "A reports to B" and "B reports to A" nearly the
same place. So they only nominate pairs, and these rules decide: every word that carries meaning, number,
date and name of one text must stand in the other, as often denied, and in no order that swaps who does
what. English and Chinese; no model, no clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from negmem.core.text.lexicon import english
from negmem.core.text.likeness_forms import IRREGULAR, derived, joined_as
from negmem.core.text.likeness_meaning import (
    LIGHT_VERB_STEMS,
    Meaning,
    first_words,
    formed,
    names_of,
    stem,
)
from negmem.core.text.likeness_meaning import meaning as meaning
from negmem.core.text.likeness_roles import same_parts
from negmem.core.text.likeness_scope import same_scope
from negmem.core.text.likeness_script import one_script, shortened_as, spelled_as
from negmem.core.text.likeness_signs import signs_apart
from negmem.core.text.likeness_words import OPPOSED, ORDERED, PROGRESS, WEAK
from negmem.core.text.likeness_words_zh import PAIRS_ZH

MAX_CHARACTERS = 4000
"""Longer texts are only the same where they are word for word."""
LEXICON_FROM = 0.35
"""Calibrated similarity from which the lexicon is believed."""

# What an amount measures, by the kinds of units that say so themselves.
MEASURED = {
    word: frozenset(kinds.split())
    for kinds, words in (
        ("byte", "siz capacity storag 大小 容量"),
        ("s month", "last tak duration tim 持续 时长"),
        ("usd eur gbp cny twd jpy hkd", "pric cost 价格 花费 花 spend pay 付款"),
        ("time", "run begin 开始"),
        ("n", "版本 version"),
        ("g", "weigh 体重 重"),
        ("m", "height 身高 长"),
        ("weekday weekly date day", "happen"),
    )
    for word in words.split()
}
# Of answers, and of what is asked for, it is all the same whether it shall be, is wanted or is preferred so.
ANSWERS = frozenset(("reply", "回答"))
ASKED = frozenset(
    [
        "prefer",
        "want",
        "lik",
        "lov",
        "must",
        "nee",
        "use",
        "favourit",
        "希望",
        "喜欢",
        "更喜欢",
        "必须",
        "使用",
    ]
)
_ALL = frozenset(("all", "per", "全部", "每个"))


_LOWER = re.compile(r"(?<![^\W\d_])[a-z]+(?![^\W\d_])")
_BASES = frozenset(IRREGULAR.values())
_JOINED_ZH = re.compile(r"[和与及、跟]")


@dataclass(frozen=True)
class Likeness:
    """Whether two texts say the same; else `guard`, the first rule that keeps them apart.

    Guards: question, negation, amount (numbers, dates, times), name, time (a past state), detail (one says
    more), words, order, length, empty. `apart` are the words that stand in one alone.
    """

    same: bool
    guard: str | None = None
    apart: tuple[str, ...] = ()


def likeness(one: str, other: str, similarity: float | None = None) -> Likeness:
    """Whether `one` and `other` say the same, by rule; symmetric.

    Args: similarity, calibrated similarity of the two as a whole in 0..1. Where it is given and high,
    words count as the same that only the lexicon knows as such.
    """
    if max(len(one), len(other)) > MAX_CHARACTERS:
        return Likeness(
            one.strip() == other.strip(), None if one.strip() == other.strip() else "length"
        )
    if apart := signs_apart(one, other):
        return Likeness(False, "words", apart)
    one, other = one_script(spelled_as(one, other)), one_script(spelled_as(other, one))
    one, other = shortened_as(one, other), shortened_as(other, one)
    one, other = joined_as(one, other), joined_as(other, one)
    other = _in_order_of(one, other)
    names = names_of(one) | names_of(other)
    lower = _lower(one) | _lower(other)
    begins = first_words(one) | first_words(other)
    plain_words = begins & lower
    for word in begins & _BASES - plain_words:  # Write, written: no name either
        if any(IRREGULAR.get(said) == word for said in lower):
            plain_words |= {word}
    a, b = (meaning(text, *_that_matter(text, names, plain_words)) for text in (one, other))
    if not (a.words or a.amounts) or not (b.words or b.amounts):
        return Likeness(False, "empty")
    return _compared(a, b, similarity)


def _that_matter(
    text: str, names: frozenset[str], plain_words: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The names and plain words that the text has, so that its meaning is worked out but once for most pairs."""
    marked = formed(text)[1]
    return frozenset(name for name in names if name in marked), plain_words & first_words(text)


def _lower(text: str) -> set[str]:
    """Words that stand in a text without a capital: no names, also where one begins a sentence."""
    return set(_LOWER.findall(text))


def _compared(a: Meaning, b: Meaning, similarity: float | None) -> Likeness:
    if a.is_question != b.is_question:
        return Likeness(False, "question")
    if _bare(a, b) != _bare(b, a):
        return Likeness(False, "amount", tuple(sorted(a.amounts ^ b.amounts)))
    if a.denials != b.denials:
        return Likeness(False, "negation")
    only_a, only_b = a.words - b.words - b.light, b.words - a.words - a.light
    only_a, only_b = _without_weak(only_a, only_b, a, b)
    if only_a and only_b and similarity is not None and similarity >= LEXICON_FROM:
        only_a, only_b = _unmatched(only_a, only_b, a.names | b.names)
    if (only_a and only_b) or not (only_a | only_b) <= LIGHT_VERB_STEMS:
        apart = tuple(sorted(only_a | only_b))
        if (only_a & a.names) and (only_b & b.names):
            return Likeness(False, "name", apart)
        return Likeness(False, "words" if only_a and only_b else "detail", apart)
    if (
        a.is_going_on != b.is_going_on
        and (b if a.is_going_on else a).has_past
        and not (a.has_perfect and b.has_perfect)
    ):
        return Likeness(False, "time")
    if a.is_imminent != b.is_imminent and not _dated(a.amounts & b.amounts):
        return Likeness(False, "time")
    if a.is_future != b.is_future and (a.has_past or b.has_past):
        return Likeness(False, "time")
    if a.is_past != b.is_past or a.past & b.present or b.past & a.present:
        return Likeness(False, "time")
    if a.was_done & b.present or b.was_done & a.present:
        return Likeness(False, "time")
    if any((pair & a.light - b.light) and (pair & b.light - a.light) for pair in OPPOSED) or bool(
        a.compares
    ) != bool(b.compares):
        return Likeness(False, "order")
    if a.denies_all != b.denies_all:
        return Likeness(False, "negation")
    if not same_scope(a, b):
        return Likeness(False, "time")
    if not same_parts(a, b):
        return Likeness(False, "order")
    return Likeness(True)


def _dated(amounts: frozenset[str]) -> bool:
    """Whether a day or month is said, beside which "is about to" says nothing more."""
    return any(amount.startswith(("date:", "day:", "month:")) for amount in amounts)


def _without_weak(
    only_a: frozenset[str], only_b: frozenset[str], a: Meaning, b: Meaning
) -> tuple[frozenset[str], frozenset[str]]:
    """Without what merely stresses, orders or dates to these days."""
    if only_a & PROGRESS and only_b & PROGRESS:
        only_a, only_b = only_a - PROGRESS, only_b - PROGRESS
    if (only_a & _ALL and "some" in b.light - a.light) or (
        only_b & _ALL and "some" in a.light - b.light
    ):
        return only_a, only_b
    if only_a & _ALL and only_b & _ALL:
        only_a, only_b = only_a - _ALL, only_b - _ALL
    if not (only_a & WEAK and only_b & WEAK):
        only_a, only_b = only_a - WEAK, only_b - WEAK
    only_a, only_b = _without_measured(only_a, only_b, a), _without_measured(only_b, only_a, b)
    if ANSWERS & a.words & b.words or (a.is_order != b.is_order and not (a.means_to or b.means_to)):
        only_a, only_b = only_a - ASKED, only_b - ASKED
    for ordered in ORDERED if not a.denials else ():  # to want it of others is to order it
        if ordered & only_a and ordered & (b.words | b.light) - a.words:
            only_a -= ordered
        if ordered & only_b and ordered & (a.words | a.light) - b.words:
            only_b -= ordered
    return only_a, only_b


def _without_measured(
    only: frozenset[str], others: frozenset[str], said: Meaning
) -> frozenset[str]:
    """Without the noun or verb of a measure that the unit of its amount says as well."""
    if others or not only & MEASURED.keys():
        return only
    kinds = {amount.partition(":")[0] for amount in said.amounts}
    return frozenset(word for word in only if not kinds & MEASURED.get(word, frozenset()))


def _bare(one: Meaning, other: Meaning) -> frozenset[str]:
    """Amounts without what the other text leaves unsaid: yuan, and the one of "one son" beside "a son"."""
    others = other.amounts
    return frozenset(
        f"n:{amount[4:]}" if amount.startswith("cny:") and f"n:{amount[4:]}" in others else amount
        for amount in one.amounts
        if amount != "n:1" or amount in others or not {"a", "an"} & (other.light - one.light)
    )


def _unmatched(
    only_a: frozenset[str], only_b: frozenset[str], names: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The words of each side that the lexicon finds nothing for on the other."""
    lexicon = english(stem)
    left_a, left_b = set(only_a), set(only_b)
    for mine, theirs in ((left_a, left_b), (left_b, left_a)):
        for phrase, group in lexicon.phrase_groups(mine - names):
            if not phrase <= mine:
                continue
            found = [
                frozenset((word,))
                for word in theirs - names
                if group in lexicon.groups.get(word, ())
            ]
            found += [
                other for other, same in lexicon.phrase_groups(theirs - names) if same == group
            ]
            if found:
                mine -= phrase
                theirs -= found[0]
    for word in sorted(left_a - names):
        match = next(
            (
                other
                for other in sorted(left_b - names)
                if lexicon.same(word, other)
                or frozenset((word, other)) in PAIRS_ZH
                or (derived(word, other) and not lexicon.opposite(word, other))
            ),
            None,
        )
        if match is not None:
            left_a.discard(word)
            left_b.discard(match)
    return frozenset(left_a), frozenset(left_b)


def _in_order_of(one: str, other: str) -> str:
    """`other` with a pair joined by 和 or its like in the order that `one` has it in."""
    for match in _JOINED_ZH.finditer(one):
        before, after = one[: match.start()], one[match.end() :]
        for left in range(1, min(6, len(before)) + 1):
            for right in range(1, min(6, len(after)) + 1):
                first, last = before[-left:], after[:right]
                for sign in "和与及、跟":
                    turned = f"{last}{sign}{first}"
                    if first != last and turned in other:
                        return other.replace(turned, f"{first}{sign}{last}", 1)
    return other
