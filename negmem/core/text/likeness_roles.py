"""Who does what to whom, whose a thing is and what is denied: the parts that words play in two texts.

Both texts have the same words when these rules are asked. They find the pairs in which two words
changed places, and leave alone what merely stands elsewhere: "on Fridays", a list, a fronted clause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import tee

from negmem.core.text.likeness_forms import PARTICIPLE
from negmem.core.text.likeness_meaning import DIRECTION, OWNED, PERSONS, SYMMETRIC, Meaning
from negmem.core.text.likeness_words import words_of

_ACTS_UPON = (("i", "me"), ("he", "him"), ("we", "us"), ("they", "them"))
# What such a word opens may stand anywhere in the sentence, and says by the word what part it plays.
_OPENS = frozenset(
    words_of(
        "to into onto from before befor after with over under through for at in on 从 到 给 向 对 跟"
    )
)
# What stands next to one of these plays a part that nothing else in the sentence plays.
_BINDS = frozenset(
    words_of("if unless because becaus than although 如果 因为 除非 只要 比 与其 宁可 把 就")
)
_IS_ACTED_UPON = re.compile(
    rf"\b(?:user|i|he|she|they|we) (?:is|are|am|was|were|gets?|got|(?:has|have) been) (?:\w+ly )?{PARTICIPLE}\b"
)
_NEAR = 3
_OWNER_FIRST = re.compile(r"(?:the )?([a-z]+) +»")
_OWN = frozenset(("his", "her", "hers", "their"))
_NICKNAME = re.compile("[小老阿][\u4e00-\u9fff]")
_THIRD = (("he", "his"), ("she", "hers"), ("they", "their"))
_USER_OWNS = re.compile("\\buser +»|用户 *的")
# When and how often: where only one of these is said, it may stand anywhere.
_WHEN = frozenset(
    words_of(
        "最近 去年 今年 明年 前年 上个月 下个月 本月 上周 下周 本周 今天 昨天 明天 经常 总是 通常 现在 目前 以前 recent recently currently"
        " usual often always today yesterday tomorrow last next"
    )
)
_WHEN_KINDS = ("date:", "day:", "month:", "weekday:", "weekly:", "time:", "quarter:")
_IN_TURN = frozenset(words_of("before befor after then 前 后 以前 以后 先 再"))


def _pairs(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """Each token with the next one."""
    first, second = tee(tokens)
    next(second, None)
    return zip(first, second, strict=False)


def same_parts(a: Meaning, b: Meaning) -> bool:
    """Whether no two words of two texts with the same words changed their parts."""
    return not (
        _acted_upon(a, b)
        or _acted_upon(b, a)
        or _another_part(a, b)
        or not _order_agrees(a, b)
        or _bound_otherwise(a, b)
        or _denied_otherwise(a, b)
        or _owned_otherwise(a, b)
        or _acts_or_owns(a, b)
        or _acts_or_owns(b, a)
    )


def _acted_upon(one: Meaning, other: Meaning) -> bool:
    """Whether somebody acts in one text and is acted upon in the other, in the same voice."""
    if one.is_passive or other.is_passive:
        return False
    return any(
        {acts, upon} & one.light == {acts} and {acts, upon} & other.light == {upon}
        for acts, upon in _ACTS_UPON
    )


def _another_part(a: Meaning, b: Meaning) -> bool:
    """Whether who speaks has another part in the one than in the other, and things changed places beside.

    "My manager is Sam" and "I manage Sam" do; "my car is in the garage" and "the car is in my garage" do not.
    """
    turned = [token for token in a.order if token in a.words & b.words] != [
        token for token in b.order if token in a.words & b.words
    ]
    for acts, owns in _THIRD:
        said = {frozenset({acts, owns} & (one.light | set(one.order))) for one in (a, b)}
        if turned and said == {frozenset((acts,)), frozenset((owns,))}:
            return a.is_passive == b.is_passive
    parts = [({"user"} & set(one.order)) | ({"my"} & one.light) for one in (a, b)]
    if parts[0] == parts[1] or a.is_passive != b.is_passive:
        return False
    mine, theirs = _speaker(a), _speaker(b)
    # who is left out on one side, as in a note, plays the part that is left open
    if mine == theirs or not mine or not theirs:
        return False
    shared = a.words & b.words - _WHEN
    first = [token for token in dict.fromkeys(a.order) if token in shared]
    second = [token for token in dict.fromkeys(b.order) if token in shared]
    # words that only the lexicon matches have no place to be compared
    return first != second or bool(a.words - b.words and b.words - a.words)


def _speaker(said: Meaning) -> frozenset[str]:
    """Whether who speaks takes part, or something that is theirs: "the user's" is "my"."""
    owned = len(_USER_OWNS.findall(said.text))
    parts = {"whose"} if owned or {"my", "our"} & said.light else set()
    return frozenset(parts | ({"who"} if said.order.count("user") > owned else set()))


def _order_agrees(a: Meaning, b: Meaning) -> bool:
    """Whether no two things changed places around a third that stands between them in both texts.

    "Sam reports to Nadia" and "Nadia reports to Sam" do; "on weekends I climb" and "I climb on weekends"
    do not. A change of voice, or of more and less, wants the change.
    """
    passive, active = (a, b) if "被" in a.order else (b, a)
    if ("被" in passive.order) != ("被" in active.order):
        return _done_by(passive.order, active.order)
    turned = a.compares * b.compares < 0
    first, second = (a.order, b.order) if turned else _without_opened(a.order, b.order)
    swapped = _swaps(_placed(first), _placed(second), a.listed & b.listed)
    if a.is_passive != b.is_passive and (a.has_agent or b.has_agent):
        turned = not turned
        return swapped == turned
    if a.is_passive != b.is_passive:
        upon, acting = (second, first) if b.is_passive else (first, second)
        if acting and ("to", acting[0]) in set(_pairs(list(upon))):
            return False
        shared = (a.words & b.words) | {"user"}
        # "is paid" and "pays": what is acted upon stands before the one and behind the other
        return not _IS_ACTED_UPON.search((a if a.is_passive else b).text) or _begins(
            first, shared
        ) != _begins(second, shared)
    return swapped == turned and not _names_turned(a, b)


def _begins(order: tuple[str, ...], shared: frozenset[str]) -> list[str]:
    return [token for token in order if token in shared][:2]


def _names_turned(a: Meaning, b: Meaning) -> bool:
    """Whether two names that stand side by side stand there the other way round."""
    names = (a.names & b.names) | {
        token for token in a.order if _NICKNAME.fullmatch(token) and token in b.order
    }
    pairs = {pair for pair in _pairs(list(a.order)) if set(pair) <= names}
    return any((last, first) in pairs for first, last in _pairs(list(b.order)))


def _done_by(passive: tuple[str, ...], active: tuple[str, ...]) -> bool:
    """Whether who stands behind 被 acts in a text without it, and what stands before 被 does not."""
    place = passive.index("被")
    if not 0 < place < len(passive) - 1:
        return True
    upon, acts = passive[place - 1], passive[place + 1]
    if active.count(upon) != 1 or active.count(acts) != 1:
        return False
    return active.index(acts) < active.index(upon)


def _without_opened(
    one: tuple[str, ...], other: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two orders without the phrases that both have and that a word like "at" opens in them but once."""
    left, right = list(one), list(other)
    for word, following in sorted(set(_pairs(left)) & set(_pairs(right))):
        if word not in _OPENS or following in PERSONS:
            continue
        places = [
            [place for place, pair in enumerate(_pairs(order)) if pair == (word, following)]
            for order in (left, right)
        ]
        if len(places[0]) != 1 or len(places[1]) != 1:
            continue
        is_repeated = left.count(word) > 1 or right.count(word) > 1
        if is_repeated and _IN_TURN & (set(left) | set(right)):
            continue
        start, begin = places[0][0], places[1][0]
        length = 1
        while (
            max(start, begin) + length < max(len(left), len(right))
            and left[start + length : start + length + 1]
            == right[begin + length : begin + length + 1]
            != []
            and left[start + length] not in DIRECTION
        ):
            length += 1
        # of two such phrases each belongs to what stands beside it, but for one at the edge of the sentence
        if is_repeated and not all(
            place == 0 or place + length == len(order)
            for place, order in ((start, left), (begin, right))
        ):
            continue
        if length > 1:
            del left[start : start + length], right[begin : begin + length]
    return tuple(left), tuple(right)


def _placed(order: tuple[str, ...]) -> list[str]:
    """The tokens, a repeated one with the number of its turn."""
    seen: Counter[str] = Counter()
    placed = []
    for token in order:
        seen[token] += 1
        placed.append(token if seen[token] == 1 else f"{token} {seen[token]}")
    return placed


def _swaps(one: list[str], other: list[str], listed: frozenset[str]) -> bool:
    places = {token: place for place, token in enumerate(other)}
    shared = [token for token in one if token in places]
    when = [token for token in shared if token in _WHEN or token.startswith(_WHEN_KINDS)]
    if len(when) == 1 or (len(when) == 2 and _stand_together(when, one, other)):
        shared = [token for token in shared if token not in when]
    for left in range(len(shared) - 2):
        for right in range(left + 2, len(shared)):
            first, last = places[shared[left]], places[shared[right]]
            if first < last or shared[left] in DIRECTION or shared[right] in DIRECTION:
                continue
            if shared[left] in listed and shared[right] in listed:
                continue
            between = shared[left + 1 : right]
            if any(last < places[token] < first for token in between if token not in SYMMETRIC):
                return True
    return False


def _stand_together(pair: list[str], *orders: list[str]) -> bool:
    """Whether two tokens are next to each other in all orders, the same one first: last Friday."""
    first, second = pair
    return all(order.index(second) - order.index(first) == 1 for order in orders)


def _followed(said: Meaning, marks: frozenset[str], words: int) -> dict[str, set[str]]:
    """What stands behind each of some marks: that many tokens, up to the next denial."""
    found: dict[str, set[str]] = {}
    for place, token in enumerate(said.flow):
        if token not in marks:
            continue
        after = [other for other in said.flow[place + 1 :] if other not in OWNED]
        once = [other for other in after if said.flow.count(other) == 1]
        after = [other for other in after[:words] if other in once] or once[:1]
        found.setdefault(token, set()).update(after)
    return found


def _bound_otherwise(a: Meaning, b: Meaning) -> bool:
    """Whether what stands next to "if", "because", 比 … in the one stands elsewhere in the other."""
    if a.is_passive != b.is_passive or a.compares * b.compares < 0:
        return False
    first, second = _followed(a, _BINDS, 1), _followed(b, _BINDS, 1)
    said = set(a.flow) & set(b.flow)
    return any(
        first[mark].isdisjoint(second[mark]) and first[mark] | second[mark] <= said
        for mark in first.keys() & second.keys()
    )


_DENIAL = frozenset("¬")


def _denied_otherwise(a: Meaning, b: Meaning) -> bool:
    """Whether the words behind each denial of the one stand elsewhere in the other, undenied."""
    if a.denials != 1 or b.denials != 1:
        return False
    first, second = _followed(a, _DENIAL, 2).get("¬"), _followed(b, _DENIAL, 2).get("¬")
    if not first or not second:
        return bool(first or second) and a.is_passive == b.is_passive
    if not first.isdisjoint(second):
        return False
    return first <= set(b.flow) and second <= set(a.flow)


def _owned_otherwise(a: Meaning, b: Meaning) -> bool:
    """Whether "X of Y" in the one is "Y of X" in the other, or one thing has two owners that both texts name."""
    said = set(a.flow) & set(b.flow)
    for head, owner in _owned(a):
        for other_head, other_owner in _owned(b):
            if head & other_owner and owner & other_head:
                return True
            if (
                head & other_head
                and owner.isdisjoint(other_owner)
                and owner | other_owner <= said
                and (owner | other_owner).isdisjoint(head | other_head)
            ):
                return True
    return False


def _acts_or_owns(one: Meaning, other: Meaning) -> bool:
    """Whether it is somebody's relation that acts in the one, and they themselves in the other: Tim's mother, Tim his mother."""
    owner = _OWNER_FIRST.match(one.text)
    if owner is None or "»" in other.text or not _OWN & other.light:
        return False
    return re.match(rf"(?:the )?{re.escape(owner[1])}\b", other.text) is not None


def _owned(said: Meaning) -> Iterator[tuple[set[str], set[str]]]:
    """Words about an "of", 's or 的: of the thing, and of whose it is; one before the mark, some behind it."""
    flow = said.flow
    for place, token in enumerate(flow):
        if token not in OWNED:
            continue
        before = _until_mark(reversed(flow[:place]), 1)
        after = _until_mark(iter(flow[place + 1 :]), _NEAR)
        if before and after:
            yield (before, after) if token == "of" else (after, before)


def _until_mark(tokens: Iterator[str], most: int) -> set[str]:
    found: set[str] = set()
    for token in tokens:
        if token in OWNED or token in DIRECTION or token == "¬" or len(found) == most:
            break
        found.add(token)
    return found
