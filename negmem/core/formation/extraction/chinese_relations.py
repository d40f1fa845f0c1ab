"""People and animals around the speaker, in a Chinese clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_preferences import found_preferences
from negmem.core.formation.extraction.chinese_profile import found_profile
from negmem.core.formation.extraction.chinese_things import ended
from negmem.core.formation.extraction.chinese_times import A_TIME
from negmem.core.formation.extraction.chinese_work import is_city
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import relation_key, thing_key

_NAME_OF = re.compile(
    r"^(?:的?名字)?(?:叫做?|名叫|是|的?名字(?:叫|是)|就是|换成了?|换成)(?P<name>[\u4e00-\u9fff·]{2,4}|[A-Z][A-Za-z ]{1,20})$"
)
_FLEETING = re.compile(
    r"^(?:今天|昨天|刚才|刚|正在|又|在吗|说|问|让|叫我|给我|来了|走了|到了|回来|生气|哭|笑|病了|睡|很(?:好|烦|忙|累|棒)|真|太|最近|们|跟我|和我|对我|一直在|带我|帮|送|教我|觉得|认为|想让|希望|不在|不让|不同意|都说|总说|老说|打电话)"
)

_OWNED = re.compile(
    r"^的?(?P<what>生日|老家|家乡|工作地点?|工作|职业|学历|身高|电话(?:号码)?|单位|爱好|邮箱|年龄)(?:是在|是|在|有|叫)(?P<thing>.+)$"
)


def found_relations(kin: str, rest: str) -> Iterator[Found]:
    """What a clause says of a person or animal around the speaker; `rest` comes after the relation."""
    key = relation_key(kin) or thing_key(kin)
    rest = ended(rest.strip())
    rest = re.sub(r"^(?:也|都|其实|现在|目前|还|就|平时|一直|从小就?|从小){1,6}(?=.)", "", rest)
    named = _NAME_OF.match(rest)
    if named and not re.search(
        r"人$|医$|师$|生$|员$|长$|家$|[的不]|工程|护士|会计|律师|司机|独生|农民|素食|双胞|单身|演员",
        named["name"],
    ):
        yield Found("relation", key, named["name"], f"{kin}{rest}")
        return
    apposed = re.match(
        r"^(?P<name>[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+)(?=(?:在|是|今年|喜欢|住|做|叫|也|很|对|不|去|明年|下)[^，]{2,})",
        rest,
    )
    if (
        apposed
        and not re.match(
            r"(?:退休|今年|明年|去年|最近|现在|下个|下周|上个|上周|平时|喜欢|特别|非常|从来|一直|不|在|住|对|都|也|已经|刚|以前|原来|每天|每|毕业|生日|周末|最|很|性格|身体|爱|有|是|做|家|工作|的)",
            apposed["name"],
        )
        and re.match(r"(?:小|阿|老|大)|[A-Z]", apposed["name"])
    ):
        yield Found("relation", key, apposed["name"], f"{kin}是{apposed['name']}")
        rest = rest[apposed.end() :]
    if (
        not rest
        or _FLEETING.match(rest)
        or len(rest) > 30
        or (rest.startswith("的") and not re.match(r"的(?:生日|名字|工作|职业|爱好|老家)", rest))
    ):
        return
    split = re.match(
        r"^在(?P<place>.{2,10}?)(?P<verb>当|做|开|教|卖|工作|上班|读|上|念|学|任|担任|跑|经营)(?P<job>.*)$",
        rest,
    )
    if split:
        place = re.sub(r"^(?:一家|一所|一个)", "", split["place"])
        job = split["job"]
        studies = split["verb"] in ("读", "上", "念", "学")
        # 在华为上班 says for whom somebody works, 在上海工作 where.
        if split["verb"] in ("工作", "上班") and not is_city(place):
            yield Found("relation", f"{key}:work", place, f"{kin}{rest}")
            return
        where = "location" if studies else "work location"
        yield Found("relation", f"{key}:{where}", place, f"{kin}在{place}")
        if split["verb"] in ("工作", "上班"):
            return
        if job:
            act = job if split["verb"] in ("当", "做", "任", "担任") else f"{split['verb']}{job}"
            what = "school" if studies else "occupation"
            yield Found("relation", f"{key}:{what}", act, f"{kin}{split['verb']}{job}")
        return
    owned = _OWNED.match(rest)
    if owned:
        thing = owned["thing"].rstrip("的")
        yield Found("relation", f"{key}:{owned['what']}"[:255], thing, f"{kin}{rest}")
        return
    negated = bool(re.match(r"^(?:[^，]{0,4})?(?:不|没|从不|讨厌|戒)", rest)) and not re.match(
        r"^(?:不过|不到|不久)", rest
    )
    thing = re.sub(
        r"^(?:退休前|今年|明年|是(?:一?[名位个])?|在|住在?|(?:特别|非常|很|最|也|更|超|挺|特|蛮|真){0,6}(?:喜欢|爱好|爱)(?:吃|喝|看|听|玩)?|(?:从来?)?不(?:太|怎么|会|能|再)?(?:喜欢|爱)?(?:吃|喝|抽|碰|说)?|没有?|讨厌|对(?=.+过敏)|叫|的生日是|有|会|退休前是|属|来自){1,6}",
        "",
        rest,
    )
    thing = re.sub(r"过敏$", "", thing) if rest.startswith("对") else thing
    thing = (thing.rstrip("的") if rest.startswith("是") else thing) or rest
    about = thing_key(A_TIME.sub("", thing) or thing)
    kind = (
        "location"
        if re.match(r"^(?:住|搬)", rest)
        else "age"
        if re.search(r"岁$", rest)
        else _key_of_own(rest) or about
    )
    yield Found("relation", f"{key}:{kind}"[:255], thing, f"{kin}{rest}", negated)


def _key_of_own(rest: str) -> str | None:
    """The key that a clause would have if somebody said it of themselves: a changed job meets the old one."""
    for own in (*found_profile(rest), *found_preferences(rest)):
        return None if own.key == "name" else own.key
    return None
