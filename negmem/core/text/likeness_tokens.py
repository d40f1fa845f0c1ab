"""The words of a marked text one by one: Latin words, known Chinese words longest first, denials; and their stems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from negmem.core.text.likeness_words_zh import DENIED_ZH, LIGHT_ZH, LONGEST_ZH, WORDS_ZH

_TOKEN = re.compile(
    r"§([^§]*)§|([a-z0-9à-ɏ]+(?:['_.+#&/-][a-z0-9à-ɏ]+)*[+#]*)|([\u3400-\u9fff]+)|([»、])"
)
_NOT_EN = frozenset(("not", "no"))
_NOT_ZH = frozenset("不没无未非勿")
_UN = re.compile(r"^un(?!der|i|til|to$|less|cle)(?=[a-z]{4})")
_DIS = re.compile(
    r"^dis(?=(?:trust|agree|approve|satisf|connect|obey|please|comfort|honest|loyal|respect|similar))"
)


def tokens(marked: str) -> Iterator[tuple[str, str]]:
    """The words of a marked text, each with its kind: latin, han, amount or sign; ¬ is a denial."""
    for match in _TOKEN.finditer(marked):
        if match[1]:
            yield "amount", match[1]
        elif match[2]:
            word = match[2].rstrip("'.")
            if word in _NOT_EN or word.endswith("n't"):
                yield "latin", "¬"
                continue
            shorter = _UN.sub("", _DIS.sub("un", word)) if word.startswith(("un", "dis")) else word
            if shorter != word:
                yield "latin", "¬"
            yield "latin", shorter
        elif match[4]:
            yield "sign", match[4]
        else:
            yield from _han(match[3])


def _han(run: str) -> Iterator[tuple[str, str]]:
    """Known words, longest first; other characters one by one."""
    place = 0
    previous = ""
    while place < len(run):
        for length in range(min(LONGEST_ZH, len(run) - place), 0, -1):
            part = run[place : place + length]
            if part in WORDS_ZH:
                word = WORDS_ZH[part]
                if word in DENIED_ZH:
                    yield "han", "¬"
                    for denied in DENIED_ZH[word]:
                        yield "han", denied
                elif word != previous:  # 开门营业 says one thing
                    yield "han", word
                previous = word
                break
            if part == "用户" or (length > 1 and part in LIGHT_ZH):
                yield "han", part
                break
        else:
            length = 2 if _is_nickname(run, place) else 1
            char = run[place : place + length]
            yield "han", "¬" if char in _NOT_ZH else char
        place += length


def _is_nickname(run: str, place: int) -> bool:
    """Whether 小, 老 or 阿 stands before a character that begins no known word: 小周 is one name."""
    if run[place] not in "小老阿" or place + 1 >= len(run):
        return False
    longest = min(LONGEST_ZH, len(run) - place - 1)
    following = (run[place + 1 : place + 1 + length] for length in range(1, longest + 1))
    return not any(part in WORDS_ZH or part in LIGHT_ZH or part in _NOT_ZH for part in following)


@lru_cache(maxsize=8192)
def stem(word: str, keeps_e: bool = False) -> str:
    """A word without its ending: plural, -ing, -ed, a silent e. Crude, and the same for both texts.

    The first word of a sentence may be a name, so that its e stays: Ann and Anne are two people.
    """
    if not word.isalpha() or len(word) < 4:
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
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
    if len(word) > 6 and word.endswith("ll"):
        word = word[:-1]
    if len(word) > 4:
        word = _SPELLING.sub(lambda match: _SPELLED[match[0]], word)
    return word[:-1] if word.endswith("e") and len(word) > 3 and not keeps_e else word


_SPELLED = {
    "ise": "ize",
    "is": "iz",
    "our": "or",
    "tre": "ter",
    "ogue": "og",
    "ence": "ense",
    "yse": "yze",
}
_SPELLING = re.compile(r"(?:(?<=\w{3})is|(?<=\w{3})ise|(?<=\w{2})our|tre|ogue|ence|yse)$")
