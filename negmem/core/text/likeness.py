"""Whether two texts say the same: the rules that a likeness of vectors can't be trusted with.

Vectors give "likes" and "does not like", 14:30 and 15:30, "A reports to B" and "B reports to A" nearly the
same place. So they only nominate pairs, and these rules decide: every word that carries meaning, number,
date and name of one text must stand in the other, as often denied, and in no order that swaps who does
what. English and Chinese; no model, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from negmem.core.text.fact_words import folded
from negmem.core.text.likeness_amounts import marked_amounts
from negmem.core.text.likeness_words import (
    LIGHT_EN,
    LIGHT_VERBS,
    OPPOSED,
    PAST_FORMS,
    PHRASE_EN,
    PHRASES_EN,
    WORDS_EN,
    words_of,
)
from negmem.core.text.likeness_words_zh import DENIED_ZH, LIGHT_ZH, LONGEST_ZH, WORDS_ZH

MAX_CHARACTERS = 4000
"""Longer texts are only the same where they are word for word."""

_TOKEN = re.compile(r"§([^§]*)§|([a-z0-9à-ɏ]+(?:['_.+#&/-][a-z0-9à-ɏ]+)*[+#]*)|([\u3400-\u9fff]+)")
_QUOTES = str.maketrans("‘’“”「」『』", '\'\'""""""')
_NOT_EN = frozenset(("not", "no"))
_NOT_ZH = frozenset("不没无未非勿")
_UN = re.compile(r"^un(?!der|i|til|to$|less|cle)(?=[a-z]{4})")
_DIRECTION = frozenset(
    words_of(
        "to from than then before after with by between against over under through for at in on"
        " because 给 向 从 到 去 比 把 被 先 再 后 前 让 对 叫 因为"
    )
)
_AND = re.compile(r"\b(\w[\w-]*)((?:\s*,\s*\w[\w-]*)*)\s*,?\s+(and|or)\s+(\w[\w-]*)\b")
_PAST_STATE = re.compile(
    r"\b(?:was|were)\b(?!\s+(?:\w+\s+)?\w+(?:ed|ing|en|ade|ept|old|ent|ught)\b)"
)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+)?\w+(?:ed|en|ade|ept|old|ent|ught|un)\b"
)
_AUXILIARY = frozenset(words_of("is are am was were be been being has have had get gets got"))
_QUESTION = re.compile(r"[?？]\s*$|吗[。.]?$")


@dataclass(frozen=True)
class Meaning:
    """What of a text is compared: `words` and `amounts` that must agree, how often it denies, its order."""

    words: frozenset[str]
    amounts: frozenset[str]
    names: frozenset[str]
    light: frozenset[str]
    denials: int
    order: tuple[str, ...]
    past: frozenset[str]
    present: frozenset[str]
    is_past: bool
    is_passive: bool
    has_agent: bool
    is_question: bool
    compares: int


@dataclass(frozen=True)
class Likeness:
    """Whether two texts say the same; else `guard`, the first rule that keeps them apart.

    Guards: question, negation, amount (numbers, dates, times), name, time (a past state), detail (one says
    more), words, order, length, empty. `apart` are the words that stand in one alone.
    """

    same: bool
    guard: str | None = None
    apart: tuple[str, ...] = ()


def likeness(one: str, other: str) -> Likeness:
    """Whether `one` and `other` say the same, by rule alone; symmetric."""
    if max(len(one), len(other)) > MAX_CHARACTERS:
        return Likeness(
            one.strip() == other.strip(), None if one.strip() == other.strip() else "length"
        )
    other = _in_order_of(one, other)
    names = _names(one) | _names(other)
    a, b = meaning(one, names), meaning(other, names)
    if not (a.words or a.amounts) or not (b.words or b.amounts):
        return Likeness(False, "empty")
    return _compared(a, b)


def _compared(a: Meaning, b: Meaning) -> Likeness:
    if a.is_question != b.is_question:
        return Likeness(False, "question")
    if a.amounts != b.amounts:
        return Likeness(False, "amount", tuple(sorted(a.amounts ^ b.amounts)))
    if a.denials != b.denials:
        return Likeness(False, "negation")
    only_a = a.words - b.words - b.light
    only_b = b.words - a.words - a.light
    if (only_a and only_b) or not (only_a | only_b) <= _LIGHT_VERBS:
        apart = tuple(sorted(only_a | only_b))
        if (only_a & a.names) and (only_b & b.names):
            return Likeness(False, "name", apart)
        return Likeness(False, "words" if only_a and only_b else "detail", apart)
    if a.is_past != b.is_past or a.past & b.present or b.past & a.present:
        return Likeness(False, "time")
    if any((pair & a.light - b.light) and (pair & b.light - a.light) for pair in OPPOSED) or bool(
        a.compares
    ) != bool(b.compares):
        return Likeness(False, "order")
    if not _order_agrees(a, b):
        return Likeness(False, "order")
    return Likeness(True)


@lru_cache(maxsize=4096)
def meaning(text: str, names: frozenset[str] = frozenset()) -> Meaning:
    """What of a text is compared; `names` are words to take as they are written."""
    plain = folded(text.translate(_QUOTES).replace("§", " "))
    marked = marked_amounts(plain)
    marked = re.sub(r"(?<=\w)'s\b|(?<=s)'(?=\s)", " ", marked)
    marked = re.sub(r"\b(?:is|are|am) (?:called|named)\b(?! by\b)", " named ", marked)
    marked = PHRASE_EN.sub(lambda match: PHRASES_EN[match[0]], marked)
    marked = _AND.sub(_sorted_list, marked)
    begins = _first_words(text)
    words: set[str] = set()
    amounts: set[str] = set()
    light: set[str] = set()
    order: list[str] = []
    counts: dict[str, int] = {}
    denials = 0
    compares = 0
    past: set[str] = set()
    present: set[str] = set()
    recent: list[str] = ["", ""]
    for kind, token in _tokens(marked):
        if kind == "amount":
            amounts.add(token)
            order.append(token)
            continue
        if token == "¬":
            denials += 1
            continue
        if token in ("more", "less", "fewer"):
            compares += 1 if token == "more" else -1
            continue
        is_light = token in (LIGHT_EN if kind == "latin" else LIGHT_ZH) and token not in names
        key = token
        if kind == "latin" and token not in names:
            key = _stem(token, keeps_e=token in begins)
            key = _STEMS_EN.get(token, _STEMS_EN.get(key, key))
            if token.endswith("ed") or token in PAST_FORMS:
                if not _AUXILIARY & set(recent):
                    past.add(key)
            elif not token.endswith("ing"):
                present.add(key)
            recent = [recent[1], token]
        if is_light:
            light.add(key)
        else:
            # said twice is more than said once: 上海的会在上海 and 会在上海
            counts[key] = counts.get(key, 0) + 1
            words.add(key if counts[key] == 1 else f"{key} {counts[key]}")
        if not is_light or token in _DIRECTION or token in ("user", "用户"):
            order.append(key)
    return Meaning(
        words=frozenset(words),
        amounts=frozenset(amounts),
        names=frozenset(word for word in words if word in names),
        light=frozenset(light),
        denials=denials,
        order=tuple(order),
        past=frozenset(past),
        present=frozenset(present),
        is_past=bool(_PAST_STATE.search(marked)),
        is_passive=bool(_PASSIVE.search(marked)) or "被" in plain,
        has_agent=bool(re.search(r"\bby\b", marked)) or "被" in plain,
        is_question=bool(_QUESTION.search(plain)),
        compares=compares,
    )


def _latin_words(text: str) -> Iterator[tuple[str, bool]]:
    """The Latin words of a text, and whether a sentence begins there."""
    for match in re.finditer(r"[A-Za-zÀ-ɏ][0-9A-Za-zÀ-ɏ]*", text):
        before = text[: match.start()].rstrip(" \"'“‘(-*•")
        yield match[0], not before or before[-1] in ".!?。！？\n:"


@lru_cache(maxsize=4096)
def _names(text: str) -> frozenset[str]:
    """Words that are written as names: a capital where no sentence begins, or inside the word."""
    return frozenset(
        word.casefold()
        for word, begins in _latin_words(text)
        if word != "I" and any(char.isupper() for char in (word[1:] if begins else word))
    )


def _first_words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word, begins in _latin_words(text) if begins)


def _in_order_of(one: str, other: str) -> str:
    """`other` with a pair joined by 和 or its like in the order that `one` has it in."""
    for match in re.finditer(r"[和与及、跟]", one):
        before, after = one[: match.start()], one[match.end() :]
        for left in range(1, min(6, len(before)) + 1):
            for right in range(1, min(6, len(after)) + 1):
                first, last = before[-left:], after[:right]
                for sign in "和与及、跟":
                    turned = f"{last}{sign}{first}"
                    if first != last and turned in other:
                        return other.replace(turned, f"{first}{sign}{last}", 1)
    return other


def _tokens(marked: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(marked):
        if match[1]:
            yield "amount", match[1]
        elif match[2]:
            word = match[2].rstrip("'.")
            if word in _NOT_EN or word.endswith("n't"):
                yield "latin", "¬"
                continue
            shorter = _UN.sub("", word)
            if shorter != word:
                yield "latin", "¬"
            yield "latin", shorter
        else:
            yield from _han(match[3])


def _han(run: str) -> Iterator[tuple[str, str]]:
    """Known words, longest first; other characters one by one."""
    place = 0
    while place < len(run):
        for length in range(min(LONGEST_ZH, len(run) - place), 0, -1):
            part = run[place : place + length]
            if part in WORDS_ZH:
                word = WORDS_ZH[part]
                if word in DENIED_ZH:
                    yield "han", "¬"
                    for denied in DENIED_ZH[word]:
                        yield "han", denied
                else:
                    yield "han", word
                break
            if part == "用户" or (length > 1 and part in LIGHT_ZH):
                yield "han", part
                break
        else:
            length = 1
            char = run[place]
            yield "han", "¬" if char in _NOT_ZH else char
        place += length


def _stem(word: str, keeps_e: bool = False) -> str:
    """A word without its ending: plural, -ing, -ed, a silent e. Crude, and the same for both texts.

    The first word of a sentence may be a name, so that its e stays: Ann and Anne are two people.
    """
    if not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("ches", "shes", "sses", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) == 4 and word.endswith("ed"):
        return word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 and not keeps_e else word


# "Pepper is the name of the dog" says what "the dog is called Pepper" says.
_SYMMETRIC = frozenset(map(_stem, words_of("named job birthday 名字 职业 生日")))
_LIGHT_VERBS = LIGHT_VERBS | frozenset(map(_stem, LIGHT_VERBS))
_STEMS_EN = {form: _stem(group) for word, group in WORDS_EN.items() for form in (word, _stem(word))}


def _sorted_list(match: re.Match[str]) -> str:
    items = [match[1], *re.findall(r"\w[\w-]*", match[2]), match[4]]
    return f" {' '.join(sorted(items))} {match[3]} "


def _order_agrees(a: Meaning, b: Meaning) -> bool:
    """Whether no two things changed places around a third that stands between them in both texts.

    "Sam reports to Nadia" and "Nadia reports to Sam" do; "on weekends I climb" and "I climb on weekends"
    do not. A change of voice, or of more and less, wants the change.
    """
    swapped = _swaps(_placed(a.order), _placed(b.order))
    turned = a.compares * b.compares < 0
    if a.is_passive != b.is_passive and (a.has_agent or b.has_agent):
        turned = not turned
        return swapped == turned
    if a.is_passive != b.is_passive:
        return True
    return swapped == turned


def _placed(order: tuple[str, ...]) -> list[str]:
    """The tokens, a repeated one with the number of its turn."""
    seen: dict[str, int] = {}
    placed = []
    for token in order:
        seen[token] = seen.get(token, 0) + 1
        placed.append(token if seen[token] == 1 else f"{token} {seen[token]}")
    return placed


def _swaps(one: list[str], other: list[str]) -> bool:
    places = {token: place for place, token in enumerate(other)}
    shared = [token for token in one if token in places]
    for left in range(len(shared) - 2):
        for right in range(left + 2, len(shared)):
            first, last = places[shared[left]], places[shared[right]]
            if first < last or shared[left] in _DIRECTION or shared[right] in _DIRECTION:
                continue
            between = shared[left + 1 : right]
            if any(last < places[token] < first for token in between if token not in _SYMMETRIC):
                return True
    return False
