"""Short versions of texts without a model: the sentences that say most; and checks of what a model made.

Pure. English and Chinese. A made text is held to its sources: numbers, addresses and identifiers that no
source has are invented, and a line that shares no word with its sources is about something else.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from negmem.core.text.topic_labels import content_words

MAX_SENTENCE_CHARS = 240
_MAX_TEXT_CHARS = 20_000
_MAX_SENTENCES = 2_000
_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+[”’」』\"')]*|\.(?=\s|$)[”’\"')]*|\n|$)")
_QUESTION = re.compile(r"[?？]|(?:吗|呢)[。！]?$")
_OWN = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|my|we|our)\b|我|咱", re.IGNORECASE)
# How ingest tells of a shared picture.
_PICTURE = re.compile(r"\[picture: [^\]\n]*\]")
# What PostgreSQL can't store, and what a reader can't see.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_MARKUP = re.compile(r"^[\s#>*`|\-–—•\[\]{}<]+")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'，。；！？、）)】]+|[\w.%+-]{1,64}@[\w.-]{1,255}", re.I
)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9_-]{3,64}"
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|earlier)"
    r"|\bsystem (?:prompt|message)\b|\byou are now\b|\bact as (?:an?|the) (?:ai|assistant|system|admin|developer)|\bnew instructions?\b|\bjailbreak"
    r"|\b(?:reveal|print|repeat|output)\b.{0,30}\b(?:prompt|instructions|secret|password|key)"
    r"|\b(?:delete|erase|drop|remove)\b.{0,20}\b(?:all|every)\b.{0,30}\b(?:memor|fact|user|record|table)"
    r"|\bim_(?:start|end)\b|<\|?(?:system|endoftext)\b|\[/?INST\]"
    r"|(?:忽略|无视|忘记|忘掉|不要管)[^，。！？；]{0,10}(?:指令|指示|提示词|规则|(?:以上|之前|前面|上面)的?(?:所有|一切|全部|内容|要求|对话))"
    r"|系统提示|你现在是|从现在起你|新的?指令|(?:删除|清空|抹掉)(?:.{0,8})(?:所有|全部)(?:.{0,8})(?:记忆|事实|用户|数据|记录)",
    re.IGNORECASE | re.DOTALL,
)


def plain_line(text: str, most: int = MAX_SENTENCE_CHARS) -> str:
    """A text on one line, without what would make a heading, a list or a label of its beginning."""
    line = _MARKUP.sub("", " ".join(_CONTROL.sub(" ", text).split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def looks_like_an_order(text: str) -> bool:
    """Whether a text speaks to the model that reads it, instead of about its user."""
    return _ORDER.search(text) is not None


def invented(text: str, sources: Iterable[str]) -> list[str]:
    """Numbers, addresses and identifiers of a text that none of its sources has."""
    said = "\n".join(sources)
    numbers = set(_NUMBER.findall(said))
    parts = {part for number in numbers for part in re.split(r"[.,:/-]", number)}
    parts |= {part.lstrip("0") for part in parts}
    folded = said.lower()
    found = [one for one in _ADDRESS.findall(text) if one.lower() not in folded]
    rest = _ADDRESS.sub(" ", text)
    found += [one for one in _IDENTIFIER.findall(rest) if one.lower() not in folded]
    for number in _NUMBER.findall(_IDENTIFIER.sub(" ", rest)):
        pieces = re.split(r"[.,:/-]", number)
        if number not in numbers and not all(p in parts or p.lstrip("0") in parts for p in pieces):
            found.append(number)
    return found


def shares_words(text: str, sources: Iterable[str]) -> bool:
    """Whether a text has a content word, or a stem of five letters, with one of its sources in common."""
    own = {word[:5] if word.isascii() else word for word in content_words(text)}
    return any(
        (word[:5] if word.isascii() else word) in own
        for source in sources
        for word in content_words(source[:_MAX_TEXT_CHARS])
    )


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    found = (
        plain_line(match[0])
        for match in _SENTENCE.finditer(_PICTURE.sub("\n", text[:_MAX_TEXT_CHARS]))
    )
    return [sentence for sentence in found if sentence]


def key_sentences(texts: Sequence[str], most: int) -> list[tuple[int, str]]:
    """The sentences that say most of what all texts are about, in their order, with the text's index.

    A sentence counts for its words that others share, in its length; one that repeats a chosen one
    counts little, questions count half, what speaks to a model is left out.
    """
    pool = [
        (index, sentence, frozenset(content_words(sentence)))
        for index, text in enumerate(texts)
        for sentence in split_sentences(text)
        if not looks_like_an_order(sentence)
    ][:_MAX_SENTENCES]
    shared = Counter(word for _, _, words in pool for word in words)

    def worth(sentence: str, words: frozenset[str]) -> float:
        if not words or (len(words) < 2 and sentence.isascii()):
            return 0.0
        weight = sum(math.log(1 + shared[word]) for word in words) / math.sqrt(len(words) + 4)
        weight *= 0.5 if _QUESTION.search(sentence) else 1.0
        return weight * (1.2 if _OWN.search(sentence) else 1.0)

    scores = [worth(sentence, words) for _, sentence, words in pool]
    left = {place for place, score in enumerate(scores) if score > 0}
    chosen: list[int] = []
    likeness = [0.0] * len(pool)
    while left and len(chosen) < most:
        best = max(left, key=lambda place: (scores[place] * (1 - likeness[place]), -place))
        if scores[best] * (1 - likeness[best]) <= 0:
            break
        chosen.append(best)
        left.discard(best)
        mine = pool[best][2]
        for place in left:
            words = pool[place][2]
            alike = len(words & mine) / min(len(words), len(mine))
            likeness[place] = max(likeness[place], alike)
    return [(pool[place][0], pool[place][1]) for place in sorted(chosen)]


def is_mostly_chinese(texts: Iterable[str]) -> bool:
    """Whether more of the letters are Chinese than Latin, a Chinese character counting for two."""
    said = "".join(texts)[:_MAX_TEXT_CHARS]
    han = sum(1 for character in said if "\u3400" <= character <= "\u9fff")
    latin = sum(1 for character in said if character.isascii() and character.isalpha())
    return han * 2 > latin
