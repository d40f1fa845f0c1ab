"""A short label for texts that belong together: the words that most of them share.

Chinese and Japanese have no blanks between words, so there the longest run of characters that several
texts share counts as a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

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
    " assistant"
)
_STOP = frozenset(_STOP_WORDS.split())
_HAN_STOP = frozenset(
    "的了是我你您他她它们在和与也都就吗呢吧啊呀哪那这个有什么怎样谁几多少来着对于被把给让请问还会到说要去不过很没想"
    "可以能上下里为因所以但而且或者如果就是一些今昨明天时候现然后觉得知道"
)


def topic_label(texts: Sequence[str]) -> str:
    """Up to three shared words, joined by `_`; `topic` where the texts share none."""
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for text in texts:
        words = {}
        for word in _words(text[:_MAX_TEXT]):
            words.setdefault(word.lower(), word)
        counts.update(words.keys())
        for folded, word in words.items():
            shown.setdefault(folded, word)
    least = 2 if len(texts) > 1 else 1
    ranked = sorted(
        (word for word, count in counts.items() if count >= least),
        key=lambda word: (-counts[word], -len(word), word),
    )
    chosen: list[str] = []
    for word in ranked:
        if any(word in other or other in word for other in chosen):
            continue
        longer = [
            other
            for other in ranked
            if word in other and other != word and counts[other] * 2 >= counts[word]
        ]
        best = max(longer, key=lambda other: (counts[other], len(other)), default=word)
        chosen.append(max((best, word), key=len))
        if len(chosen) == WORDS:
            break
    return "_".join(chosen)[:MAX_CHARACTERS] or DEFAULT_LABEL


def _words(text: str) -> Iterable[str]:
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
