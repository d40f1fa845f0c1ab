"""Likes and dislikes in a Chinese clause that begins after its subject."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_things import ended, is_named, listed
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import liking_key, thing_key

_DEGREE = r"(?:最|更|比较|特别|非常|很|超级?|挺|蛮|相当|十分|极其|尤其|真的?|最为|格外|真心|一直|都|还是|还|也|确实|太|好|巨|贼|可|就|算|有点儿?|有些|越来越|从小就?|打心底|实在|稍微|其实|本来|一向|向来|平时|现在|以前|最最|更加|更为|是){0,6}"
_LIKES = re.compile(
    rf"^(?P<degree>{_DEGREE})(?P<verb>喜欢上|喜欢|热爱|喜爱|钟爱|偏爱|偏好|偏向于?|倾向于?|钟情于?|爱好|爱上|爱(?!人|情|好者|心|国|丽|尔|德)|享受|迷上|迷恋|痴迷于?|沉迷于?|中意|喜好|青睐|崇拜|欣赏|期望用|习惯(?:于|用|喝|吃)?|改(?:用|喝|吃|看|穿|骑|玩|听)|只(?:喝|吃|用|看|穿|听|买)|爱用|常用|馋|宁愿|宁可|情愿|好(?=这口))(?:了|过)?(?P<thing>.+)$"
)
_DISLIKES = re.compile(
    rf"^(?P<degree>{_DEGREE})(?P<verb>(?:不|没那么|没有那么|没怎么|并不|从不|从来不|从没|一点都不|一点也不|根本不|完全不|再也不|不再|已经不|早就不|早已不|不太|不怎么|不是很|不是特别|不大|不咋|不那么|不特别){{1,6}}(?:很|太|怎么|特别|那么|再|大|怎样|是很|真的|能)?(?:喜欢|热爱|喜爱|爱|习惯|享受|中意|欣赏|想吃|感冒|待见|好)|讨厌|厌恶|反感|厌烦|憎恨|痛恨|最恨|恨|嫌弃?|烦(?!恼|躁|人)|受不了|受不得|忍受不了|无法忍受|接受不了|不能接受|接受不能|见不得|听不得|看不惯|吃不惯|喝不惯|用不惯|吃不了|吃不来|喝不了|喝不来|不吃|不喝|不碰|不沾|不抽|不玩|不看|不听|不用|不爱|不抽烟|从不(?:吃|喝|抽|用|看)|从来不(?:吃|喝|抽|用|看|玩)|(?:再也|从此|以后)不(?:再)?(?:吃|喝|碰|沾|抽|玩)|不再(?:吃|喝|碰|沾|抽|玩)|不能吃|不能喝|戒了|戒掉了?|戒(?=[烟酒糖茶奶咖肉辣])|怕|害怕|恐惧|腻了|厌倦了?)(?:了)?(?P<thing>.*)$"
)
_TOWARDS = re.compile(
    r"^对(?P<thing>.{1,24}?)(?P<how>(?:一直|都|也|还|从来|向来|特别|非常|很|真的|最|比较|最为|完全|根本|有点|不太|不怎么|不是很|不大|可以说|越来越|一点都?|已经|早就|现在){0,6})(?P<verb>情有独钟|感兴趣|不感兴趣|没(?:有|什么|啥|太多|太大){0,6}兴趣|兴趣不大|没(?:有|什么|啥){0,6}(?:感觉|好感)|有(?:浓厚的?|很大的?|极大的?|强烈的?)?(?:兴趣|热情|好感)|爱不释手|欲罢不能|无感|反感|很?反感|无爱|着迷|上瘾|痴迷|充满热情|提不起兴趣|提不起劲|敬而远之|不感冒|有执念|深恶痛绝|没(?:有)?抵抗力)(?:了)?$"
)
_THAN = re.compile(
    r"^(?:比起|相比于?|与|和|跟|相较于?)(?P<other>.{1,20}?)(?:相比|比起来|比)?(?:来说)?[，,]?$"
)
_FAVOURITE = re.compile(
    r"^(?P<degree>最|最最|特别|比较|平时|一直|从小|现在|更){0,6}(?:喜欢|爱|喜爱|钟爱|常|偏爱)(?P<verb>吃|喝|看|听|玩|用|去|读|做|穿|打|养|追)?的(?P<kind>[\u4e00-\u9fffA-Za-z]{0,12}?)(?:一直|还|就|应该|其实|现在|永远|当然|仍然|依然|都|莫过于|肯定|绝对){0,6}(?P<is>不再是|不是|是|变成了|换成了|成了|非|要数)(?P<thing>.+?)(?:莫属)?$"
)
_IS_FAVOURITE = re.compile(
    r"^(?P<thing>[^我的]{1,16}?)(?P<is>不再是|不是|是|一直是|永远是|依然是)我(?:最|的最|特别|一直|目前最)?(?:喜欢|爱|喜爱|钟爱|心爱)(?P<verb>吃|喝|看|听|玩|用|去|读)?的(?P<kind>.{0,10})$"
)
_FAN = re.compile(
    r"^(?P<is>不算是?|不是|算是|是|就是|也是|可是|绝对是)(?:一?[个名位枚])?(?:资深|忠实|铁杆|骨灰级|超级|狂热|不折不扣|重度|十足|老|大|标准|彻头彻尾){0,6}的?(?P<thing>.{1,14}?)的?(?P<what>迷|粉丝?|爱好者|控|发烧友|重度用户|死忠粉|狂人|党|铁粉|爱好者来着)$"
)
_HOBBY = re.compile(
    r"^(?:的|平时的?|最大的?|唯一的?|业余){0,6}(?:爱好|兴趣爱好|兴趣|业余爱好|最爱|心头好|嗜好)(?:之一)?(?:一直|就)?(?:是|有|包括|主要是)(?P<thing>.+)$"
)
_IMPLIED = re.compile(
    r"^(?:最|更|比较|特别|非常|很|超级?|挺|平时|一直|从小|也|还|真的|不太|不|都|实在|尤其|现在|有点|就|从来|从|再也){0,6}(?:喜欢|热爱|爱吃|爱喝|爱看|爱听|爱玩|偏爱|讨厌|受不了|不吃|不喝|不抽|不爱|吃不了|吃不惯|接受不了|不碰|反感|偏好|宁愿|钟爱)"
)


def found_preferences(text: str, other: str | None = None) -> Iterator[Found]:
    """Preferences in a clause; `other` is what it was compared with in the clause before."""
    for read in (_favourite, _towards, _fan, _dislikes):
        results = list(read(text))
        if results:
            yield from results
            return
    yield from _likes(text, other)


def is_implied(text: str) -> bool:
    """Whether a clause without a subject speaks of what its speaker likes or not."""
    return bool(_IMPLIED.match(text))


def compared_with(text: str) -> str | None:
    """What a clause like 比起咖啡 compares with."""
    match = _THAN.match(text)
    return match["other"] if match else None


def _preference(thing: str, negated: bool, verb: str = "") -> Iterator[Found]:
    whole = ended(thing)
    for one in listed(whole):
        name = ended(one)
        if not is_named(name):
            continue
        words = f"{'不喜欢' if negated else '喜欢'}{verb}{name}"
        key = liking_key(name)
        yield Found("preference", f"likes:{key}", name, words, negated)


_FRONTED = re.compile(
    r"^(?P<thing>[^我你他她，]{1,8})我(?:真的|实在|一点都?|一点儿都|最|特别|都|从来|也|一直|就|很){0,4}(?P<verb>受不了|不吃|不喝|不碰|讨厌|不喜欢|最爱|喜欢|爱吃|爱喝|爱|不爱|吃不了|吃不惯|接受不了|喝不惯|没兴趣)$"
)


def fronted(text: str) -> Iterator[Found]:
    """A thing named before its speaker: 榴莲我真的受不了."""
    match = _FRONTED.match(ended(text))
    if (
        match
        and is_named(match["thing"])
        and not re.search(r"[如要]果|因为|所以|虽然|时候|的话|以后|现在|今天|明天", match["thing"])
    ):
        negated = bool(re.search(r"不|讨厌|没", match["verb"]))
        yield from _preference(match["thing"], negated)


def _favourite(text: str) -> Iterator[Found]:
    match = _FAVOURITE.match(text) or _IS_FAVOURITE.match(text)
    if match:
        thing, kind = ended(match["thing"]), match["kind"]
        negated = match["is"].startswith("不")
        if not is_named(thing) or (
            match.re is _IS_FAVOURITE and re.match(r"这|那|它|他|她", thing)
        ):
            return
        about = kind.strip("的") or match["verb"] or ""
        for one in listed(thing) if "、" in thing else [thing]:
            key = (
                f"favorite:{thing_key(about)}"
                if about and "、" not in thing
                else f"likes:{thing_key(one)}"
            )
            yield Found(
                "preference",
                key,
                one,
                f"最喜欢的{about}{'不是' if negated else '是'}{one}",
                negated,
            )
        return
    match = _HOBBY.match(text)
    if match:
        yield from _preference(match["thing"], False)


def _towards(text: str) -> Iterator[Found]:
    match = _TOWARDS.match(ended(text))
    if match:
        negated = (
            bool(
                re.search(
                    r"不|没|无感|反感|无爱|深恶|敬而",
                    match["verb"] + match["how"].replace("不大", "不"),
                )
            )
            and "抵抗力" not in match["verb"]
        )
        yield from _preference(match["thing"], negated)


def _fan(text: str) -> Iterator[Found]:
    match = _FAN.match(ended(text))
    if match and not re.search(
        r"共产|民主|党$|国$", match["thing"] + ("党" if match["what"] == "党" else "")[:0]
    ):
        if match["what"] == "党" and not re.search(r"[\u4e00-\u9fff]{2,}|夜|甜|咸", match["thing"]):
            return
        yield from _preference(match["thing"], match["is"].startswith("不"))


def _dislikes(text: str) -> Iterator[Found]:
    match = _DISLIKES.match(text)
    if match is None:
        return
    verb, thing = match["verb"], match["thing"]
    if verb in ("不用", "不看", "不听", "不玩", "怕", "害怕", "嫌", "恨") and (
        re.match(
            r"(?:谢|客气|担心|着急|急|管|说|再|了|到|想|懂|见|清|太|麻烦|什么|你|我|他|她|去|来|是|会|不|自己|给)",
            thing,
        )
        or not thing
    ):
        return
    if verb in ("不看", "不用", "不听", "不玩") and len(thing) > 8:
        return
    if re.match(r"(?:我|你|他|她)?(?:觉得|认为)", thing):
        return
    lexical = re.search(r"(吃|喝|抽|玩|看|听|用)", verb)
    yield from _preference(thing, True, lexical[1] if lexical else "")


def _likes(text: str, other: str | None) -> Iterator[Found]:
    match = _LIKES.match(text)
    if match is None:
        return
    verb, thing = match["verb"], match["thing"]
    if verb in ("爱", "享受", "习惯", "欣赏", "崇拜", "好", "爱好") and re.match(
        r"(?:你|您|他|她|我|了|的|一下|上|是|有)", thing
    ):
        return
    if verb in ("习惯", "欣赏", "享受") and len(thing) < 2:
        return
    if verb == "喜欢" and re.match(r"的(?!士)", thing):
        return
    if verb == "爱" and re.match(r"(?:说|理|咋|怎么|干嘛|信|来)", thing) and len(thing) < 4:
        return
    than = re.search(r"(?:胜过|多过|多于|甚于|超过|而不是|，?不喜欢|也不)(?P<other>.+)$", thing)
    if than:
        thing, other = thing[: than.start()], than["other"]
    if verb in ("宁愿", "宁可", "情愿") and not than and other is None:
        return
    if other:
        name = ended(thing)
        if not is_named(name):
            return
        pair = " / ".join(sorted((liking_key(name), liking_key(ended(other)))))
        yield Found("preference", f"prefers:{pair}"[:255], name, f"比起{ended(other)}更喜欢{name}")
        return
    yield from _preference(thing, False)
