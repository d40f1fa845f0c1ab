"""A short label for texts that belong together: the words that most of them share.

Chinese and Japanese have no blanks between words, so there the longest run of characters that several
texts share counts as a word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

DEFAULT_LABEL = "topic"
WORDS = 3
MAX_CHARACTERS = 80
_LATIN = re.compile(r"[^\W\d_\u2e80-\u9fff\uac00-\ud7af][\w'’-]*", re.UNICODE)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_LONGEST_RUN = 4
_MAX_TEXT = 2_000
_STOP_WORDS = (
    "a about after again all also am an and any are aren't as at be because been before being but by can can't"
    " could did didn't do does doesn't doing don't down each even ever every few for from get getting go going"
    " gonna good got great had has have haven't having he her here hers hey hi him his how i i'd i'll i'm i've"
    " if in into is isn't it it's its just know let let's like lot made make many me more most much my myself"
    " need never new nice no not now of off oh ok okay on one only or other our out over own really right said"
    " same say see she should so some something still such sure take tell than thank thanks that that's the"
    " their them then there there's these they they're thing things think this those though time to today"
    " together too up us use used very want was wasn't way we we're we've well went were what what's when where"
    " which while who why will with won't wow would yeah yes yet you you'd you'll you're you've your user"
    " assistant awesome cool wow amazing sounds looks since"
)
_STOP = frozenset(_STOP_WORDS.split())
_HAN_STOP = frozenset(
    "的了是我你您他她它们在和与也都就吗呢吧啊呀哪那这个有什么怎样谁几多少来着对于被把给让请问还会到说要去不过很没想"
    "可以能上下里为因所以但而且或者如果就是一些今昨明天时候现然后觉得知道"
)


def word_counts(texts: Sequence[str]) -> Counter[str]:
    """In how many of the texts each word stands."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(content_words(text[:_MAX_TEXT])))
    return counts


def topic_label(
    texts: Sequence[str], common: Mapping[str, int] | None = None, background: int = 0
) -> str:
    """Up to three words that the texts share, joined by `_`; `topic` where they share none.

    `common` counts in how many of `background` other texts each word stands: a word that stands
    everywhere, such as the name of who speaks, says little of a topic.
    """
    counts = word_counts(texts)
    least = 2 if len(texts) > 1 else 1

    def weight(word: str) -> float:
        rare = math.log((background + 2) / ((common or {}).get(word, 0) + 1))
        return counts[word] * (rare if background else 1.0)

    ranked = sorted(
        (word for word, count in counts.items() if count >= least),
        key=lambda word: (-weight(word), -len(word), word),
    )
    chosen: list[str] = []
    for word in ranked:
        # of runs of characters within one another, the longest that nearly as many texts share
        longer = [o for o in ranked if word in o and counts[o] * 2 >= counts[word] and _is_han(o)]
        best = max(longer, key=lambda o: (counts[o], len(o)), default=word)
        best = max((best, word), key=len)
        if not any(best in other or other in best or _overlap(best, other) for other in chosen):
            chosen.append(best)
        if len(chosen) == WORDS:
            break
    return "_".join(chosen)[:MAX_CHARACTERS] or DEFAULT_LABEL


def _overlap(one: str, other: str) -> bool:
    """Whether two runs of characters are pieces of one phrase: 海虹桥出, 虹桥出发."""
    return _is_han(one) and any(one[at : at + 2] in other for at in range(len(one) - 1))


def _is_han(word: str) -> bool:
    return bool(_HAN.match(word))


def content_words(text: str) -> Iterable[str]:
    """The words of a text that say what it is about; of unspaced scripts all runs of 2 to 4 characters."""
    for match in _LATIN.finditer(text):
        word = match[0].strip("'’-").lower().removesuffix("'s").removesuffix("’s")
        if len(word) > 2 and word not in _STOP:
            yield word
    for match in _HAN.finditer(text):
        run = match[0]
        for length in range(2, _LONGEST_RUN + 1):
            for start in range(len(run) - length + 1):
                part = run[start : start + length]
                if not _HAN_STOP & set(part):
                    yield part
