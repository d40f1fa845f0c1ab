"""Standing instructions, plans and relations in Chinese clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_things import ended
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import rule_key

_FROM_NOW = r"(?:从现在(?:开始|起)|从今(?:天|往后|以后|后)(?:开始|起)?|从今天(?:开始|起)?|自此|今后|往后|以后|下次|下回|此后|每次|每回|每当|任何时候|无论何时|凡是|所有|一律|统一|默认|日后|后续|长期)"
_STANDING = re.compile(
    rf"{_FROM_NOW}|总是|始终|永远|务必|一定要|必须|都要|都用|都请|再也别|再也不要|千万|绝对?不要|绝不|禁止|不准|不许|不得|不允许|不要再|别再|请勿|切勿|严禁|切记|坚决"
)
_NOT = re.compile(
    r"(?:绝对?不要|绝不要?|千万不要|千万别|永远不要|永远别|再也不要|再也别|不要再|别再|不要|请勿|切勿|不准|不许|禁止|严禁|不得|不允许|不能|不可以?|不必|不用|无需|避免|少(?=用|说|发|写|给|讲|来)|(?<![特个区性类级辨差分告识])别|勿|甭|不(?=超过|用|说|加|带|写|发|提|给))"
)
_LEAD = re.compile(
    rf"^(?:请你?|麻烦你?|拜托|务必|一定要?|你|您|要|得|应该|需要|必须|我希望你|希望你|我要求你|我想让你|我需要你|我想你|还请|还是|也|都|就|尽量|最好|总是|始终|永远|切记|记住|记得|请记住|请记得|{_FROM_NOW}|能不能|可以|只要|只|统统|直接|麻烦|再|时候?|的时候){{1,6}}[，,：:]?"
)
_ACT = re.compile(
    r"(?:用|回答|回复|回应|说|讲|写|叫|称呼|给|发|推荐|泄露|透露|公开|分享|修改|覆盖|发送|上传|保存|记录|假设|猜|提醒|告诉|问|附上|附|加|带|保持|解释|翻译|总结|列|检查|确认|先|放|标|注明|标注|引用|使用|采用|控制|限制|输出|展示|显示|删|改|提交|提供|建议|生成|排|安排|打|约|订|称|念|喊|解答|说明|举例|对我|跟我|和我|把|按|以|帮|表示|聊|提|出现|简短|简洁|详细|直接|缩写|换|动|碰|运行|执行|调用|关注|省略|跳过|添加|插入|加上|写成|保留|备份|避开|叨扰|联系|打扰|催|哄|敷衍|拍马屁|道歉|安慰|重复|绕弯子|啰嗦|客套|废话|分点|分段|语气|字数|格式|单位)"
)
_TALK = re.compile(
    r"用|说|叫|给|推荐|发|提|加|写|回|称呼|问|打电话|打扰|催|联系|重复|啰嗦|道歉|泄露|透露|分享|记录|列|总结|解释|翻译|卖萌"
    r"|客套|假设|猜|编|骗|敷衍|夸|安慰|讲|聊|删|改|展示|输出|引用|省略"
)
_ONCE = re.compile(
    r"这(?:个|段|篇|次|句|份|张|封|条|里|道|些|周|件)|那(?:个|段|篇|份|里)|今天|今晚|明天|现在(?!开始|起)|刚才|上面|下面|以下|这里|此处|一首|一篇|一份|一封|一个|一下|一段|一遍"
)
_EXCLUDED = re.compile(
    r"^(?:别|不要|不用|不必|不许|别再)(?:担心|客气|急|着急|谢|紧张|害怕|怕|难过|伤心|生气|误会|在意|介意|闹|逗|提了|说了|管|想太多|想多|忘|忘了|忘记|走|哭|这样|见怪|灰心|放弃|理|的|人|开玩笑|太|误解|以为|看|针|墅|名|扭|笑话|去|装|骗|慌|跟我客气)|^(?:记得|记住)(?:吗|我|他|她|那|小时|上次|去年|以前|当时)|^(?:不能|不可以|不用|不得|不可|不)(?:说|不|再|吃|喝|去|睡|理解|接受|想|知道|是|会|太|够|好|对|行|错|过|管|仅|同|止|如|但|只|然|见|了|舍|忍|来|住|开|爱|喜|做|学|打算|准备|想|需要|急)|^请(?:问|假|客|帮|教|看|你?(?:帮|告诉我(?!.*时候)))|^(?:你|您)(?:喜欢|觉得|是|好|有|知道|看|想|真|说得|会|能|帮)"
)
_WHEN = re.compile(
    r"(?:我|你|给我|帮我|跟我|遇到|写|回答|回复|每次|每当|凡是)[^，,]{0,20}?(?:的时候|时|之前|以前|之后|以后|前|后|如有疑问)$|^(?:每次|每当|凡是|但凡|只要)"
)
_CALL_ME = re.compile(
    r"^(?:请|以后|你|您|可以|就|都|直接|往后|今后|从现在起|从现在开始|大家都|叫我时|还是){0,6}(?P<thing>(?:叫我|喊我|称呼我为?|管我叫)(?P<name>[\u4e00-\u9fffA-Za-z·]{1,10}?))(?:就好|就行|吧|即可|就可以了?|好了|都行|就成){0,6}$"
)

_FIRST_ASK = re.compile(
    r"^[^，我]{1,12}?(?:之前|以前|前)(?:一定|务必|必须|都|要|请|得|需要){0,3}先[^，]{0,6}(?:问|给|告诉|通知|提醒|跟|经过|让|征求|和)我.*$"
)
_WHEN_THEN = re.compile(
    r"^(?:[^，我他她]{1,10}(?:的时候|时))(?:就|请|要|都|一定|务必|先|得|直接){1,3}(?P<do>(?:直说|说不|问我|先问|告诉我|标注|注明|说明|提醒我|用|给我|附|加|写|列).*)$"
)


def found_rules(clauses: list[str], number: int) -> Iterator[Found]:
    """A standing instruction that begins in clause `number`. A request for this once is none."""
    text = ended(clauses[number])
    before = clauses[number - 1] if number else ""
    called = _CALL_ME.match(text)
    if called and not re.match(
        r"(?:去|来|做|帮|干|回|过|起|吃|一声|出|别|不|多|怎|如何|名字|上|下|早|了)", called["name"]
    ):
        yield Found("rule", "form of address", called["thing"], called["thing"])
        return
    if re.match(r"^(?:我|更|我更)?希望(?!你)", text):
        return
    if _EXCLUDED.match(text) or (
        re.match(r"^(?:我|他|她|它|我们|他们|咱)", text)
        and not re.match(
            r"^我(?:希望|要求|想让|需要|更?希望)你|^我[^，]{1,16}的时候|^我[^，]{1,12}(?:前|之前)$",
            text,
        )
    ):
        return
    standing = (
        bool(_STANDING.search(text))
        or bool(re.match(rf"^{_FROM_NOW}", before))
        or bool(re.search(r"^请?(?:记住|记得|切记|注意)$|^(?:规则|要求|新规则|提醒)", before))
    )
    conditional = (
        bool(_WHEN.search(before))
        and not _EXCLUDED.match(before)
        and not re.search(r"小时候|那时|当时|上次|昨天|去年|刚才|今天", before)
    )
    body = text
    stripped = _LEAD.sub("", body)
    to_me = bool(re.search(r"跟我|对我|和我|给我|回复我?|回答|回我|叫我|我的", text))
    negative = _NOT.search(stripped[:14]) or _NOT.match(body)
    if negative:
        holder = stripped if _NOT.search(stripped[:14]) else body
        act = holder[negative.end() :]
        head = holder[: negative.start()]
        if (
            not act
            or not (_ACT.search(act) or _ACT.search(head))
            or _EXCLUDED.match(holder[negative.start() :])
        ):
            return
        if _ONCE.search(text) and not standing:
            return
        word = negative.group()
        commanding = text.startswith("少") or word not in (
            "不能",
            "不可",
            "不可以",
            "不用",
            "不必",
            "无需",
            "不",
            "少",
            "不得",
        )
        if not commanding and not standing and not to_me:
            return
        if re.match(r"^(?:人|的)", act) or (
            not standing and not to_me and not _TALK.search(act[:8])
        ):
            return
        if word == "不" and act.startswith("超过"):
            yield Found("rule", rule_key(text), ended(stripped), text)
            return
        yield Found("rule", rule_key(act), ended(act), text, True)
        return
    if (
        conditional
        and _ACT.search(text[:8])
        and not re.match(r"^(?:就|会|都会|总会|总是|我)", text)
        and (
            re.match(
                r"^(?:先|请|要|记得|直接|用|给|附|加|带|都|务必|一定|提醒|问|告诉|再|把|直接|统一)",
                text,
            )
        )
    ):
        more = (
            clauses[number + 1]
            if number + 1 < len(clauses)
            and re.match(r"^(?:再|然后|最后|接着)", clauses[number + 1])
            else ""
        )
        whole = f"{text}，{more}" if more else text
        yield Found("rule", rule_key(f"{before} {text}"), ended(whole), f"{before}，{ended(whole)}")
        return
    if not standing:
        polite = (
            re.match(
                r"^(?:请|麻烦你?)(?:一直|只)?用(?:简体|繁体)?(?:中文|英文|英语|普通话|粤语|日语|法语|德语|简单|通俗|正式|轻松|口语|大白话|公制|摄氏)",
                text,
            )
            or re.match(
                r"^(?:回答|回复|说话|解释|输出|代码)(?:时|的时候|问题|里)?(?:请|要|得|尽量|能|用|都|务必)",
                text,
            )
            or re.match(
                r"^(?:跟|和|对)我(?:说话|聊天|沟通|讲话)(?:时|的时候)?(?:请|要|得|直接|可以|用)",
                text,
            )
            or re.match(
                r"^(?:我|更|我更)?希望你(?!身体|好|开心|能(?:帮|理解|来)|喜欢|们|幸福|快)", text
            )
        )
        is_style = (
            len(text) <= 14
            and re.match(
                r"^(?:[^，我你他她]{0,6})请(?:一直|只|都|统一|始终|尽量)?(?:用|使用|采用|按|以|写)",
                text,
            )
            and not re.search(
                r"写一|总结|翻译|解释|说明|帮|画|实现|证明|计算|介绍|描述|回答(?:问题|下)|一句话|代码|函数|Python|Java",
                text,
            )
        )
        if not (polite or is_style) or _ONCE.search(text):
            return
    elif _ONCE.search(text) and not re.search(_FROM_NOW, text):
        return
    if not _ACT.search(stripped) or _EXCLUDED.match(stripped):
        return
    if (
        re.match(
            r"^(?:我|他|她|要|会|想|打算|就会|都会|再说|的|几|两|三|有机会|有空|好好|多多|努力|一定会|还|联系|见|去|再去|想去)",
            stripped,
        )
        and not re.match(r"^(?:要|都)?(?:用|回答)", stripped)
        and not re.match(rf"^{_FROM_NOW}(?:给|帮)我", text)
        and not to_me
    ):
        return
    if re.match(r"^(?:一定|务必|必须|总是|始终|永远)", text) and not re.search(
        r"请|你|您|用|给我|提醒|回答|回复|告诉|先|附|标", text
    ):
        return
    thing = re.sub(r"^(?:请你?|都|要|你|您|就|务必|一定要?){1,6}", "", stripped)
    yield Found("rule", rule_key(text), ended(thing or stripped), text)
