"""What of a text is compared with another: its words by stem and group, amounts, denials, tense and order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from negmem.core.text.fact_words import folded
from negmem.core.text.likeness_amounts import marked_amounts
from negmem.core.text.likeness_forms import (
    IRREGULAR,
    IRREGULAR_PAST,
    PARTICIPLE,
    english_form,
    spelled_out,
)
from negmem.core.text.likeness_forms_zh import chinese_form
from negmem.core.text.likeness_rewriting import Rules, may_match, rewritten, rules
from negmem.core.text.likeness_tokens import stem as stem
from negmem.core.text.likeness_tokens import tokens
from negmem.core.text.likeness_words import (
    LIGHT_EN,
    LIGHT_VERBS,
    ORDERED,
    PAST_FORMS,
    PROGRESS,
    WEAK,
    WORDS_EN,
    with_meanings,
    words_of,
)
from negmem.core.text.likeness_words_zh import LIGHT_ZH, WORDS_ZH

_HAN = re.compile("[\u3400-\u9fff]")
_QUOTES = str.maketrans("‘’“”「」『』", '\'\'""""""')
DIRECTION = frozenset(
    words_of(
        "to into onto from than then before after with by between against over under through for at in on"
        " because 请 给 向 从 到 去 比 把 被 先 再 后 前 让 对 叫 因为"
    )
)
OWNED = frozenset(("»", "of", "的"))
_MARKS = (
    DIRECTION
    | OWNED
    | frozenset(words_of("if unless because although 如果 因为 除非 只要 与其 宁可 就 才 仅"))
)
_DENIES_ALL = re.compile(
    r"\bnot (?:\w+ ){0,3}?(?:all|every|everyone|everybody|everything|both|always|each|entirely|completely|necessarily)\b"
    r"|(?:不是|并非|并不是)(?:所有|每|全|都|谁都|什么都|总|一直|任何)|不(?:都|全|总|一直|一定|完全|每)|没有?(?:都|全|完全|每)|未必|不见得"
)
# Who does what to whom is in the order of these too, though who speaks of himself need not be named. Whose a
# thing is, is not: in "my mother called me" it is the mother who called.
PERSONS = {
    form: line.split()[0]
    for line in (
        "user 用户 i me mine 我",
        "user we us ours 我们",
        "you yours 你 您",
        "he him 他",
        "she her 她",
        "they them theirs 他们 她们",
    )
    for form in line.split()
}
_KIN = words_of(
    "妈妈 爸爸 母亲 父亲 哥哥 姐姐 弟弟 妹妹 儿子 女儿 丈夫 妻子 老公 老婆 爷爷 奶奶 外公 外婆 舅舅 舅妈 姑姑 叔叔 阿姨 表哥 表姐 表弟 表妹"
    " 朋友 同事 同学 老师 学生 上司 下属 老板 领导 邻居 室友 男友 女友 孩子 家人 父母 狗 猫"
)
_WHOSE = {
    "我": "my", "我们": "our", "你": "your", "您": "your", "你们": "your", "他": "his", "她": "hers",
    "他们": "their", "她们": "their",
}  # fmt: skip
_WHOSE_ZH = re.compile(
    f"(?:{'|'.join(sorted(_WHOSE, key=len, reverse=True))})(?=的|{'|'.join(_KIN)})"
)
_COMPARED_WITH = frozenset((*_WHOSE.values(), "mine", "yours", "theirs", "ours"))
_WHOSE_EN = re.compile(
    r"\bher (?=(?!(?:the|a|an|to|about|that|in|on|at|for|and|or|if|when|as|by|some|every|with|from)\b)[a-z])"
)
_AND = re.compile(r"\b(\w[\w-]*)((?:\s*,\s*\w[\w-]*)*)\s*,?\s+(and|or)\s+(\w[\w-]*)\b")
_NAMED = rules(
    (r"(?<=\w)'s\b|(?<=s)'(?=\s)", " » "),
    (r"\b(?:is|are|am) (?:called|named)\b(?! by\b)", " named "),
)
# "Project start: 01/2024" has no tense.
_LABEL = re.compile(r"^[a-z][^:.,;]{1,40}: ?\S")
_LIST = re.compile(r"(?<=[:]) ?[a-z][\w-]*(?:, [a-z][\w-]*){1,}(?=[.!]?$)")
_PAST_STATE = re.compile(
    r"\b(?:was|were)\b(?!\s+(?:\w+\s+)?\w+(?:ed|ing|en|ade|ept|old|ent|ught)\b)"
)
_GOING_ON = re.compile(
    r"正在|\b(?:is|are|am|(?:has|have) been) (?:\w+ly |currently )?(?!going to)\w{2,}ing\b"
)
_PERFECT = re.compile(
    rf"\b(?:has|have) (?:not )?(?:\w+ly |just |already |now |finally )?(?!been \w+ing|got\b){PARTICIPLE}\b"
)
_IMMINENT = re.compile(
    r"\babout to\b|\bsoon to\b|即将|就要|快要|[快该](?=[^，。]{1,8}了)|(?<![不需主重])要(?=[^，。要]{1,6}了[。.]?$)"
)
_FUTURE = re.compile(r"\bwill\b|\bgoing to\b|\babout to\b|即将|将要|就要|快要")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|gets?|got)\s+(?:\w+ly\s+|not\s+)?"
    rf"(?:{PARTICIPLE}|\w+(?:ed|en|ade|ept|old|ent|ught|un))\b"
)
_AUXILIARY = frozenset(words_of("is are am was were be been being has have had get gets got"))
_COMPARES = re.compile(r"比|\bthan\b")
_WAS = re.compile(r"\b(?:was|were|did|had)\b|了|已")
_HAVE = re.compile(r"\b(?:has|have) (?:not )?\w+")
_HAVE_BEEN = re.compile(r"\b(?:has|have) been \w+ing\b")
_BY = re.compile(r"\bby\b")
# What somebody wants to do themself is no order.
_MEANS_TO = re.compile(
    r"\b(?:wants?|would like|needs?|likes?|loves?|prefers?|hopes?|wish(?:es)?|ha(?:s|ve)|must|should) (?:to )?(?!to\b|be\b|the\b|an?\b|all\b|my\b|no\b)[a-z]+"
    r"(?<!replies)(?<!answers)(?<!responses)(?<!summaries)|想|打算|计划|(?:用户|我)(?:要|得|必须|需要)"
)
_ORDER = re.compile(
    r"^(?:please|kindly|do not|never|always|use|write|keep|call|send|ask|reply|answer|respond|make sure|put|avoid|give|show"
    r"|include|add|remind|explain|translate|format|round|list|start|end|stop|let|limit|quote|cite|sign|save|store|run|check|tell)\b"
    "|^(?:以后|今后|下次)?[，,]?(?:请|别|不要|勿|务必|记得|直接|一律|尽量)"
)
_QUESTION = re.compile(r"[?？]\s*$|吗[。.]?$")


@dataclass(frozen=True)
class Meaning:
    """What of a text is compared: `words` and `amounts` that must agree, how often it denies, its order."""

    text: str
    words: frozenset[str]
    amounts: frozenset[str]
    names: frozenset[str]
    light: frozenset[str]
    denials: int
    order: tuple[str, ...]
    flow: tuple[str, ...]
    listed: frozenset[str]
    denies_all: bool
    past: frozenset[str]
    present: frozenset[str]
    was_done: frozenset[str]
    is_past: bool
    is_future: bool
    is_imminent: bool
    is_going_on: bool
    has_past: bool
    has_perfect: bool
    is_passive: bool
    has_agent: bool
    is_question: bool
    is_order: bool
    means_to: bool
    compares: int


@lru_cache(maxsize=4096)
def formed(text: str) -> tuple[str, str]:
    """A text in its one form, and that with its amounts as marks and its phrases as their meanings."""
    plain = folded(text.translate(_QUOTES).replace("§", " "))
    plain = chinese_form(plain) if _HAN.search(plain) else spelled_out(plain)
    marked = marked_amounts(plain)
    if _HAN.search(plain):
        marked = _WHOSE_ZH.sub(lambda match: f" {_WHOSE[match[0]]} ", marked)
    else:
        marked = _WHOSE_EN.sub("hers ", english_form(" ".join(marked.split())))
    marked = with_meanings(rewritten(marked, _NAMED))
    return plain, rewritten(marked, _LISTS)


@lru_cache(maxsize=4096)
def meaning(
    text: str, names: frozenset[str] = frozenset(), plain_words: frozenset[str] = frozenset()
) -> Meaning:
    """What of a text is compared; `names` are words to take as they are written.

    Args: plain_words, words that begin a sentence and are known not to be names.
    """
    plain, marked = formed(text)
    begins = first_words(text) - plain_words
    words: set[str] = set()
    amounts: set[str] = set()
    light: set[str] = set()
    order: list[str] = []
    counts: dict[str, int] = {}
    denials = 0
    compares = 0
    past: set[str] = set()
    present: set[str] = set()
    was_done: set[str] = set()
    recent: list[str] = ["", ""]
    # "mine is dearer than hers": here whose it is tells one from the other
    whose = _COMPARED_WITH if _COMPARES.search(marked) else frozenset()
    flow: list[str] = []
    is_label = bool(_LABEL.match(plain))
    for kind, token in tokens(marked):
        if kind == "sign":
            flow.append(token)
            continue
        if kind == "amount":
            amounts.add(token)
            order.append(token)
            flow.append(token)
            continue
        if token == "¬":
            denials += 1
            flow.append(token)
            continue
        if token in ("more", "less", "fewer"):
            compares += 1 if token == "more" else -1
            continue
        is_light = token in (LIGHT_EN if kind == "latin" else _LIGHT_HAN) and token not in names
        key = token
        if kind == "latin" and token not in names:
            token = token.replace("-", "")
            base = IRREGULAR.get(token, token)
            key = stem(base, keeps_e=token in begins)
            key = _STEMS_EN.get(base, _STEMS_EN.get(key, key))
            if token.endswith("ed") or token in PAST_FORMS or token in IRREGULAR_PAST:
                if not _AUXILIARY & set(recent):
                    past.add(key)
                elif {"was", "were"} & set(recent):
                    was_done.add(key)
            elif not token.endswith("ing") or {"is", "are", "am"} & set(recent):
                present.add(key)
            recent = [recent[1], token]
        if is_light:
            light.add(key)
        else:
            # said twice is more than said once: 上海的会在上海 and 会在上海
            counts[key] = counts.get(key, 0) + 1
            words.add(key if counts[key] == 1 else f"{key} {counts[key]}")
        if not is_light or token in _MARKS:
            flow.append(key)
        if token in PERSONS:
            order.append(PERSONS[token])
        elif token in whose:
            order.append(token)
        elif not is_light or token in DIRECTION:
            order.append(key)
    return Meaning(
        text=marked,
        words=frozenset(words),
        amounts=frozenset(amounts),
        names=frozenset(word for word in words if word in names),
        light=frozenset(light),
        denials=denials,
        order=tuple(order),
        flow=tuple(token for token in flow if token != "、"),
        listed=_listed(flow),
        denies_all=_says(_DENIES_ALL, marked),
        past=frozenset(past),
        present=frozenset() if is_label else frozenset(present),
        was_done=frozenset(was_done),
        has_past=bool(past) or _says(_WAS, marked) or _says(_PERFECT, marked),
        has_perfect=_says(_HAVE, marked) and (_says(_PERFECT, marked) or _says(_HAVE_BEEN, marked)),
        is_going_on=_says(_GOING_ON, marked),
        is_imminent=_says(_IMMINENT, marked),
        is_future=_says(_FUTURE, marked),
        is_past=_says(_PAST_STATE, marked),
        is_passive=_says(_PASSIVE, marked) or "被" in plain,
        has_agent=_says(_BY, marked) or "被" in plain,
        is_question=bool(_QUESTION.search(plain)),
        is_order=bool(_ORDER.search(plain)),
        means_to=bool(_MEANS_TO.search(plain)),
        compares=compares,
    )


def _says(pattern: re.Pattern[str], text: str) -> bool:
    return may_match(pattern, text) and pattern.search(text) is not None


def _listed(flow: list[str]) -> frozenset[str]:
    """The words beside the marks of a Chinese list: the last one of the first item, all of the others."""
    if "、" not in flow:
        return frozenset()
    first = flow.index("、")
    last = len(flow) - flow[::-1].index("、")
    return frozenset(flow[max(0, first - 3) : last + 4]) - {"、"}


def _latin_words(text: str) -> Iterator[tuple[str, bool]]:
    """The Latin words of a text, and whether a sentence begins there."""
    for match in re.finditer(r"[A-Za-zÀ-ɏ][0-9A-Za-zÀ-ɏ]*", text):
        before = text[: match.start()].rstrip(" \"'“‘(-*•")
        yield match[0], not before or before[-1] in ".!?。！？\n:"


@lru_cache(maxsize=4096)
def names_of(text: str) -> frozenset[str]:
    """Words that are written as names: a capital where no sentence begins, or inside the word."""
    return frozenset(
        word.casefold()
        for word, begins in _latin_words(text)
        if word not in ("I", "The", "My")
        and word.casefold() not in WORDS_EN
        and any(char.isupper() for char in (word[1:] if begins else word))
    )


@lru_cache(maxsize=4096)
def first_words(text: str) -> frozenset[str]:
    """The Latin words that begin a sentence, lower case: their capital says nothing of a name."""
    return frozenset(word.casefold() for word, begins in _latin_words(text) if begins)


# "Pepper is the name of the dog" says what "the dog is called Pepper" says.
SYMMETRIC = frozenset(map(stem, words_of("named job birthday 名字 职业 生日")))
LIGHT_VERB_STEMS = (
    LIGHT_VERBS
    | {stem(word) for word in LIGHT_VERBS}
    | {WORDS_ZH.get(word, word) for word in LIGHT_VERBS}
)
_LIGHT_HAN = LIGHT_ZH | {WORDS_ZH.get(word, word) for word in LIGHT_ZH}
# All that may stand in one of two texts alone.
LOOSE = _LIGHT_HAN | LIGHT_VERB_STEMS | WEAK | PROGRESS | frozenset().union(*ORDERED)
_STEMS_EN = {form: stem(group) for word, group in WORDS_EN.items() for form in (word, stem(word))}


@lru_cache(maxsize=1)
def light_keys() -> frozenset[str]:
    """Words that may stand in one of two texts alone, as `meaning` keeps them."""
    stems = {_STEMS_EN.get(word, _STEMS_EN.get(stem(word), stem(word))) for word in LIGHT_EN}
    return LIGHT_VERB_STEMS | LIGHT_EN | LIGHT_ZH | stems


def _sorted_list(match: re.Match[str]) -> str:
    items = [match[1], *re.findall(r"\w[\w-]*", match[2]), match[4]]
    return f" {' '.join(sorted(items))} {match[3]} "


_LISTS: Rules = (
    (_LIST, lambda match: " ".join(sorted(re.findall(r"[\w-]+", match[0])))),
    (_AND, _sorted_list),
)
