"""What a Chinese sentence says of its speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from negmem.core.formation.extraction.chinese_clauses import clauses
from negmem.core.formation.extraction.chinese_plans import found_plans
from negmem.core.formation.extraction.chinese_preferences import (
    compared_with,
    found_preferences,
    fronted,
    is_implied,
)
from negmem.core.formation.extraction.chinese_profile import found_profile
from negmem.core.formation.extraction.chinese_relations import found_relations
from negmem.core.formation.extraction.chinese_rules import found_rules
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import relation_key, thing_key
from negmem.core.text.sentences import Sentence

_GAP = re.compile(
    r"(?<=[\u4e00-\u9fff])[ \t]+(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])[ \t]+(?=[\u4e00-\u9fff])"
)
_IS_MY = re.compile(
    r"^(?P<name>[\u4e00-\u9fff]{2,4}|[A-Z][A-Za-z ]{1,20})是我(?:的|们的|最好的)?(?P<kin>[\u4e00-\u9fff]{1,5})$"
)
_ALL_CALL_ME = re.compile(
    r"^(?:大家|朋友们?|同事们?|家里?人|身边人?)(?:一般|平时|通常)?都?(?:叫|喊|称呼)我(?P<name>[\u4e00-\u9fffA-Za-z]{1,6})$"
)
_TOLD = re.compile(
    r"^我(?:是不是|有没有|以前|之前)?(?:跟你|和你|对你|给你)?(?:说过|提过|告诉过你|讲过)(?P<said>我.+?)(?:吗|没有?|么)?$"
)
_GREETED = re.compile(
    r"^(?:你好|您好|大家好|嗨|哈喽|嘿)[呀啊]?[，,！! ]*我是(?P<name>(?!.*(?:[人的]|师|生|员|医|家|长|士|手)$)[\u4e00-\u9fff]{2,4}|[A-Z][a-z]+)(?=$|[，,])"
)
_CALLED = re.compile(
    r"^(?:它|他|她)?(?:的?名字)?(?:叫做?|名叫|名字是)(?P<name>[\u4e00-\u9fffA-Za-z]{1,8})$"
)
_THEN_ALLERGIC = re.compile(r"^一?(?:吃|喝|碰|闻)?(?:到|了)?就(?:会)?过敏")


def read_chinese(sentence: Sentence, previous: str = "") -> Iterator[Found]:
    """Facts in a sentence; `previous` is the sentence before it in the same turn."""
    text = _GAP.sub("", sentence.text)
    told = _TOLD.match(text) if sentence.is_question else None
    if told:
        text = told["said"]
    greeted = _GREETED.match(text)
    if greeted:
        yield Found("profile", "name", greeted["name"], greeted["name"])
    parts = list(clauses(text, sentence.is_question and not told))
    wholes = [part.whole for part in parts]
    other: str | None = None
    speaker_named = False
    last_thing = pet = ""
    for number, part in enumerate(parts):
        if part.whose == "kin" and part.kin:
            yield from found_relations(part.kin, part.text)
            continue
        compared = compared_with(part.whole) or compared_with(part.text)
        if compared:
            other = compared
            continue
        reversed_kin = _IS_MY.match(part.whole)
        if reversed_kin and (key := relation_key(reversed_kin["kin"])):
            name = reversed_kin["name"]
            yield Found("relation", key, name, part.whole)
            continue
        in_front = list(fronted(part.whole))
        if in_front:
            yield from in_front
            continue
        nick = _ALL_CALL_ME.match(part.whole)
        if nick:
            yield Found("profile", "name", nick["name"], nick["name"])
            continue
        named = _CALLED.match(part.whole)
        if named and pet and number:
            about = relation_key(pet) or pet
            yield Found("relation", about, named["name"], f"{pet}叫{named['name']}")
            continue
        if _THEN_ALLERGIC.match(part.whole) and last_thing:
            yield Found(
                "profile", f"allergy:{thing_key(last_thing)}", last_thing, f"{last_thing}过敏"
            )
            continue
        is_own = part.whose in ("mine", "ours")
        implied = not is_own or not re.match(r"^(?:我|俺|咱)", part.whole)
        speaker_named = speaker_named or (part.whose == "mine" and not implied)
        if implied or re.match(
            r"^我(?:希望|更希望|要求|想让|需要)你|^我[^，]{1,16}(?:的时候|之前|前)$", part.whole
        ):
            rules = list(found_rules(wholes, number))
            if rules:
                yield from rules
                continue
        if part.is_past:
            continue
        unnamed = implied and not speaker_named and not is_own
        results = list(_own(part.text, other, unnamed, implied, part.whose == "ours"))
        other = None
        for one in results:
            last_thing = one.object if one.type == "preference" else last_thing
            if one.key.startswith("has:") and not one.negated:
                pet = one.key.removeprefix("has:")
        yield from (replace(one, confidence=0.6) if unnamed else one for one in results)


def _own(text: str, other: str | None, implied: bool, follows: bool, ours: bool) -> Iterator[Found]:
    likes = list(found_preferences(text, other)) if not implied or is_implied(text) else []
    if ours:
        yield from list(found_plans(text, implied, ours)) or [
            one for one in found_profile(text) if one.key.startswith(("has:", "location"))
        ]
        return
    profile = list(found_profile(text, implied, follows))
    plans = list(found_plans(text, implied))
    strong = [one for one in profile if one.key.startswith(("allergy", "diet", "health", "name"))]
    yield from strong or likes or plans or profile
