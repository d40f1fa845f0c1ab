"""Intentions and appointments of the speaker, in a Chinese clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_things import ended
from negmem.core.formation.extraction.chinese_times import A_TIME, TIME
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key

_HAS_TIME = re.compile(TIME)
_PLAN = re.compile(
    rf"^(?P<time>(?:(?:在|于|从|等|到了?|大概|可能)?{TIME}(?:的)?(?:[上下]午|早上|晚上|中午|凌晨|傍晚)?(?:[\d一二两三四五六七八九十]+点(?:半|钟|\d+分)?)?){{0,6}})(?P<verb>不打算|不准备|不计划|没打算|没计划|不想再|打算|计划|准备|决定不|决定|预计|预备|想要|想|要(?!是|不然|么|求|紧|好的|命)|将要?|会|得|约了|约好了?|订了|定了|预订了|预约了|预定了|报了|报名了|买了|有个?|有一[个场次趟]|取消了?|放弃了?|不去|不再|争取|希望|希望能|立志|考虑|安排了|正在准备|正准备|在准备|在备考|备考|梦想是?|的?(?:目标|梦想|计划|愿望|打算)是|就?要|跟|和|去|回|飞|参加|开始|不|搬去|搬到|结婚|出差|面试)(?P<thing>.*)$"
)
_FIRM = frozenset(
    (
        "打算", "计划", "准备", "决定", "预计", "预备", "立志", "不打算", "不准备", "不计划", "没打算", "没计划", "决定不", "正在准备",
        "正准备", "在准备", "在备考", "备考", "的目标是", "的梦想是", "梦想是", "目标是", "的计划是", "计划是", "的愿望是", "的打算是",
        "争取", "报名", "报名了",
    )
)  # fmt: skip
_NEGATED = frozenset(
    (
        "不打算", "不准备", "不计划", "没打算", "没计划", "不想再", "决定不", "取消", "取消了", "放弃", "放弃了", "不去", "不再", "不",
    )
)  # fmt: skip
_WISHES = re.compile(
    r"^(?:学|去(?!死)|买|换|考|成为|开一?家|开个|写一?本|跑|减|搬|当|做一?[名个]|拿到|完成|读|养|存|攒|戒|回(?:老家|国|家乡)|环|移民|创业|参加|结婚|要?个?孩子|报|找(?:一份|个)?(?:新)?工作|跳槽|转行|辞职|练|尝试|挑战|旅行|旅游|带)"
)
_NOT_PLAN = re.compile(
    r"^(?:问|请教|知道|请问|了解|说|看看(?!.*展)|听听|确认|咨询|你|请你|让你|麻烦|一个|一份|一下|要一|吐槽|聊|哭|死|睡|吐|不通|不到|起|念|法|必|多|象|到|太|好|很|被|做什么|干嘛|怎么|吃什么|是|有|没|不|起来|想|再想|先看|把这|用这|试试|在这|解决|找一下|找个|点|给你|跟你|和你|先|再|还)"
)

_APPOINTMENT = re.compile(
    r"会|面试|考试|约|航班|飞机|课|比赛|演出|婚礼|手术|体检|答辩|聚会|饭局|火车|高铁|讲座|培训|演唱会|马拉松|活动|复诊|检查|出差|预约"
)

_MOVED = re.compile(
    rf"^(?P<thing>[^，我你他她]{{0,10}}?(?:改到|推迟到|延期到|提前到|延到|挪到|改在|定在|定到|安排在|推到)了?{TIME}.*)$"
)
_DROPPED = re.compile(
    r"^(?P<thing>(?!.*(?:吃|喝|客气)).{0,12}?不(?:再)?(?:去|续|报|办|参加|考|搬).{0,10})了$"
)
_DEFINITE = re.compile(
    r"^(?:今晚|明[天早晚]|后天|大后天|下下?个?(?:周|星期|月)[一二三四五六日天末]?|(?:周|星期)[一二三四五六日天]|(?:[一二三四五六七八九十]{1,3}|\d{1,2})月(?:[一二三四五六七八九十]{1,3}[日号]|\d{1,2}[日号]|底|初)?|\d{1,2}[日号]|年底|春节|国庆|暑假|寒假)"
    r"(?:的)?(?:[上下]午|早上|晚上|中午)?(?:[\d一二两三四五六七八九十]+点(?:半|钟)?)?(?P<rest>[\u4e00-\u9fff]{2}.*)$"
)


def found_plans(text: str, implied: bool = False, ours: bool = False) -> Iterator[Found]:
    """What the speaker is going to do, or is not; `text` begins after the subject."""
    moved = _MOVED.match(ended(text))
    if moved:
        yield _plan(moved["thing"], text, False)
        return
    dropped = _DROPPED.match(text.rstrip("。！ "))
    if dropped:
        yield _plan(dropped["thing"], text, True)
        return
    match = _PLAN.match(text)
    thing_text = ended(text)
    timed = bool(_HAS_TIME.search(text))
    if match:
        verb, thing, time = match["verb"], ended(match["thing"]), match["time"] or ""
        if verb.startswith("就"):
            verb = verb[1:]
        if re.search(r"(?:上个?(?:周|月|星期)|昨|前天|去年|刚才|以前|那时)", text):
            return
        negated = verb in _NEGATED
        if re.search(r"的重点|的是|就是|的话$", thing):
            return
        if verb in _FIRM:
            if (
                thing
                and not re.match(
                    r"(?:好了|吃饭|睡觉|工作|材料|好|充分|怎么|了(?!$)|什么|先|看看|试试|再)", thing
                )
                and not (_NOT_PLAN.match(thing) and not re.match(r"(?:先|再|还)", thing))
            ):
                if implied and not timed and len(thing) < 3:
                    return
                yield _plan(
                    thing if not time else f"{time}{verb if verb not in _FIRM else ''}{thing}",
                    text,
                    negated,
                )
            return
        if verb in ("取消", "取消了", "放弃", "放弃了"):
            if thing and not re.match(r"治疗|吧|订阅$", thing):
                yield _plan(thing, text, True)
            return
        if verb in ("想", "想要", "希望", "希望能", "考虑", "不想再"):
            if implied and not timed:
                return
            if verb == "希望" and re.match(r"你|您|他|她", thing):
                return
            is_meal = bool(re.search(r"[吃喝]", thing[:2]))
            if (timed and not _NOT_PLAN.match(thing)) or (_WISHES.match(thing) and not is_meal):
                yield _plan(thing, text, verb == "不想再")
            return
        if not timed:
            return
        if implied and not time:
            return
        if verb in ("会",) and re.match(r"(?:说|很|比较|有点|觉得|被|下雨|议|计)", thing):
            return
        if verb == "不":
            if not re.match(r"(?:去|参加|回|搬|续|办|打算|上|来|买)", thing):
                return
            yield _plan(thing, text, True)
            return
        if verb == "不去":
            yield _plan(f"去{thing}", text, True)
            return
        if verb.startswith("有") and (not _APPOINTMENT.search(thing) or "机会" in thing):
            return
        if re.match(r"(?:\S{0,2}天气|下雨)", thing):
            return
        yield _plan(thing_text, text, negated)
        return
    definite = _DEFINITE.match(thing_text)
    if (
        definite
        and not implied
        and not re.search(r"[了过]$|天气|下雨|通常|一般|每|到(?:周|星期)", text)
    ):
        yield _plan(thing_text, text, definite["rest"].startswith("不"))
        return
    appointment = re.match(
        rf"^(?P<thing>.{{0,12}}?{TIME}.{{0,12}}?(?:有个?|有一[个场次]|要去?|约了|是我的?)(?:我的)?.{{0,10}}?(?:预约|面试|考试|会议|航班|手术|体检|答辩|婚礼|聚会|比赛|课)).{{0,4}}$",
        text,
    )
    if appointment and not re.search(r"上个?(?:周|月)|昨|前天|去年", text):
        yield _plan(ended(text), text, False)


def _plan(thing: str, clause: str, negated: bool) -> Found:
    about = A_TIME.sub("", thing)
    about = (
        re.sub(r"^(?:要|去|会|打算|计划|准备|想|将|不|飞|回|再|我|就|得){1,6}", "", about) or thing
    )
    return Found("plan", f"plan:{thing_key(about)}"[:255], ended(thing), clause, negated)
