"""Chinese sentences cut into clauses, with whose they are: the speaker's own, a relation's, others'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from negmem.core.formation.extraction.chinese_times import TIME
from negmem.core.formation.extraction.keys import RELATIONS

_KIN_WORDS = "|".join(
    sorted((re.escape(word) for word in RELATIONS if not word.isascii()), key=len, reverse=True)
)
_HYPOTHETICAL = re.compile(
    r"如果|假如|假设|假使|假定|倘若|要是|若是|若我|万一|要不是|的话(?=[，,]?我(?:就|会|想|肯定|也会))|设想|想象一下|想象|就当|当作|假装|扮演|角色|比方说|比如说?(?:我|你)|譬如|"
    r"但愿|恨不得|要能|换作|换成我|换做|哪怕|即使|除非|就算|本可以|早知道|(?:多|该有多)(?:好|么好)|来世|下辈子|梦见|梦到|梦里"
)
_SAYS = r"(?:说过?|觉得|认为|以为|告诉|问|写道|写着|表示|宣称|声称|嫌|夸|骂|猜|怀疑|提到|希望|建议|劝|要求|让我|叫我|让大家|喊我)"
_REPORTED = re.compile(
    rf"(?:他们?|她们?|它|人家?|大家|谁|某|{_KIN_WORDS}|朋友|同学|客户|网友|医生|师傅|司机|专家|先生|女士|作者|店员|主持人|差评|评论|留言|[A-Z][a-z]+|小[\u4e00-\u9fff])"
    rf"(?:总是?|老是?|经?常|都|也|就|曾经?|昨天|刚才|刚|今天|一直|跟[我你他她]|对[我你他她]|和[我你他她]|还|又|在[\u4e00-\u9fff]{{1,6}}(?:里|上|中)?){{0,4}}{_SAYS}"
    rf"|^我们?(?:知道|觉得|发现|记得|看到|认为|相信|感觉|以为|猜|希望|担心|怕)(?:他|她|它|(?<!希望)你|这|那|大家|孩子|别人|我?(?:的)?(?:{_KIN_WORDS}))"
    rf"|^(?!我|请|先|永远|以后|不|别|从|可以|回|每|总|务|直|简|用|如|跟|和|对|给|遇|写|把|能|要|会|你|您)[\u4e00-\u9fff]{{2,3}}(?:说|觉得|认为|告诉|问|写道)"
)
_HEARSAY = re.compile(
    r"据说|听说|传说|传闻|据悉|根据|新闻里?说|报道|文章|小说里|电影里|歌词|书里|剧里|书上|网上说|广告|台词|文档里|翻译|润色|改病句|造句|仿写|续写|这句话|这段话|下面这"
)
_OTHERS = re.compile(
    r"^(?:他们?|她们?|它们?|你们?|您|人家|别人|大家(?!都(?:叫|喊|称呼)我)|有人|有些人|很多人|许多人|谁|这|那(?!我|就)|某|咱们公司|客户|用户|现在的年轻人|年轻人|孩子们|老人|顾客|邻居家|同事们|隔壁|楼下|楼上|对面|新来的|店|老师们)"
)
_LEAD = re.compile(
    r"^(?:嗯+|哦+|啊+|呃+|哎呀?|唉|嘿|嗨|喂|哈+|好的?|是的|对|没错|对了|对啊|你好|您好|大家好|早上好|晚上好|下午好|另外|还有|其实|说实话|说真的|老实说|坦白说|讲真|不瞒你说|顺便说一下|顺便说一句|顺便提一下|顺便|而且|并且|但是|但|不过|可是|可|然而|只是|"
    r"因为|由于|所以|因此|然后|那么?|就是|毕竟|反正|总之|总的来说|一般来说|通常|一般|提醒你|提醒一下|告诉你|跟你说|跟你讲|悄悄告诉你|你要知道|你知道的?|你记一下|请注意|注意|请?记住|请?记得|请?记下来?|请?记一下|别忘了|不要忘了|我跟你说过?|我说过|我告诉过你|我提过|更正一下|更新一下|补充一下|先说下背景|背景|自我介绍一下|"
    r"怎么说呢|众所周知|事实上|实际上|谢谢|抱歉|不好意思|对不起|不用了|不了|如今|目前|现在|最近|这几年|近来|从今年起|今年|去年|前年|上个?月|这个月|上周|刚刚|昨天|今天|小时候|从小|从小到大|一直以来|这些年|个人来说|就我个人而言|对我来说|平时|平常|周末|闲暇时|业余时间|空闲时|有空的?时候?|没事的?时候|下班后|我觉得|我感觉|我发现|我想说|我承认|我得说|我必须说|我认为|我个人觉得|出差的话|论[^，]{1,6}的话|[^，我]{1,8}方面|[^，我]{1,6}的话|虽然|尽管|只不过|既然)(?P<gap>[，,：:、！!\s]*)"
)
_PAST = re.compile(
    r"以前|曾经|过去|从前|原来|原先|之前|小时候|当年|早年|本来|年轻的?时候|上学的?时候|一度"
)

_TIMED_SUBJECT = re.compile(
    rf"^(?P<time>(?:在|等|到了?)?{TIME}(?:之?前|以前|之?后|以后)?(?:的)?(?:[上下]午|早上|晚上|中午|凌晨|傍晚)?"
    r"(?:[\d一二两三四五六七八九十]+点(?:半|钟|[\d一二三四五六七八九十]+分?)?)?)(?P<subject>我们|我)(?P<rest>.+)$"
)

Whose = Literal["mine", "implied", "kin", "others", "ours"]


@dataclass(frozen=True)
class Clause:
    """`text` begins after the subject where the clause is the speaker's, else it is the whole clause.

    `whole` is the clause as it stands, `kin` the relation that it is about, `is_past`: it was so once.
    """

    text: str
    whole: str
    whose: Whose
    kin: str | None = None
    is_past: bool = False


_MINE = re.compile(
    rf"^(?:我个人|我本人|我自己|俺|本人|我)(?!们|家|国|校|公司|司|方|(?:的|那个?|这个?)?(?:{_KIN_WORDS})(?!节|叫|喜欢狗))(?P<rest>.*)$"
)
_OURS = re.compile(
    r"^(?:我们(?:俩|家|一家人?|夫妻|两口子|全家)?|咱们?|我家(?!的|有个?(?:邻居))|我和(?:我?(?:老婆|老公|妻子|丈夫|家人|先生|太太|女朋友|男朋友|朋友)))(?!公司|组|部门|班|团队|学校|小区|那|单位|老板|领导)(?P<rest>.+)$"
)
_KIN = re.compile(
    rf"^(?:我|俺|我家|我们家|咱)(?:的|那个?|这个?|最好的|亲|小|大|最小的|最大的|现在的|以前的|新的?){{0,6}}(?P<kin>最好的朋友|{_KIN_WORDS})(?P<rest>.*)$"
)
# What begins a predicate, so that the words before it are its subject.
_PREDICATE = (
    r"(?:今年|明年|去年|昨天|今天|最近|现在|目前|平时|每|也|都|很|最|特别|非常|不|没|对|在|叫|是|有|喜欢|爱|讨厌|怕|从|下|明|刚|已经"
    r"|住|搬|去|要|会|想|打算|计划|准备|养|买|开|做|当|上|信|学|教|毕业|结婚|退休)"
)
_BARE_KIN = re.compile(
    r"^(?P<kin>老婆|老公|丈夫|妻子|太太|媳妇|老妈|老爸|爸妈|父母|爸爸|妈妈|父亲|母亲|儿子|女儿|闺女|哥哥|弟弟|姐姐|妹妹|大哥|二哥|大姐|二姐"
    rf"|女朋友|男朋友|女友|男友|奶奶|爷爷|外婆|外公|姥姥|姥爷|岳父|岳母|婆婆|公公|室友|舍友|闺蜜)(?P<rest>{_PREDICATE}.+)$"
)
# Somebody with a name or a title, or one of many: what follows is theirs, not the speaker's.
_NAMED_OTHER = re.compile(
    r"^(?:[小老阿](?!家|公|婆|妈|爸|板|师|是|时|说|区|孩|朋|姨|狗|猫|实|早|在)[\u4e00-\u9fff]|[A-Z][a-z]+(?: [A-Z][a-z]+)?"
    r"|[\u4e00-\u9fff]{1,3}(?:先生|女士|老师|医生|师傅|经理|总监|同学|教授|主任)|同事|朋友|邻居|同学|老板|领导|上司|经理|客户|房东"
    rf"|[\u4e00-\u9fff]{{0,4}}(?:表|堂)[哥姐弟妹]){_PREDICATE}(?!叫我|喊我|称呼我|管我叫)"
)


def clauses(sentence: str, is_question: bool) -> Iterator[Clause]:
    """The clauses of a sentence. In a question only what is told before the asking counts."""
    if _HYPOTHETICAL.search(sentence) or _HEARSAY.search(sentence):
        return
    pieces = [
        piece.strip()
        for piece in re.split(
            r"[，,：:；;]|——|—|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])", sentence
        )
        if piece.strip()
    ]
    if is_question:
        pieces = pieces[:-1]
    whose: Whose = "implied"
    kin: str | None = None
    is_past = False
    for number, piece in enumerate(pieces):
        text = piece
        lead = ""
        while True:
            match = _LEAD.match(text)
            if match is None or match.end() >= len(text):
                break
            if (
                match.group() in ("可", "对", "好", "那", "就是", "但", "通常", "一般", "背景")
                and not match["gap"]
                and match.group() != "但"
                and not text[match.end() :].startswith("我")
            ):
                break
            lead += match.group()
            text = text[match.end() :]
        head_past = bool(_PAST.search(lead))
        if _reported(text):
            whose, kin = "others", None
            continue
        timed = _TIMED_SUBJECT.match(text)
        if timed:
            plain = f"{timed['subject']}{timed['rest']}"
            is_kin = _KIN.match(plain) is not None or timed["rest"].startswith("的")
            text = plain if is_kin else f"{timed['subject']}{timed['time']}{timed['rest']}"
        mine, ours, of_kin, bare_kin = (
            _MINE.match(text),
            _OURS.match(text),
            _KIN.match(text),
            _BARE_KIN.match(text),
        )
        if of_kin:
            whose, kin, rest = "kin", of_kin["kin"], of_kin["rest"]
        elif mine:
            whose, kin, rest = "mine", None, mine["rest"]
        elif ours:
            whose, kin, rest = "ours", None, ours["rest"]
        elif bare_kin:
            whose, kin, rest = "kin", bare_kin["kin"], bare_kin["rest"]
        elif _NAMED_OTHER.match(text):
            whose, kin, rest = "others", None, text
        elif whose == "kin" and re.match(r"^[他她它](?!们)", text):
            rest = text[1:]
        elif _OTHERS.match(text):
            whose, kin, rest = "others", None, text
        else:
            rest = text
            if number == 0:
                whose = "implied"
        if _ASKED.search(text):
            continue
        rest, adverb_past = (
            _without_adverbs(rest)
            if whose != "kin"
            else (rest, bool(re.match(r"(?:以前|曾经|过去|从前)", rest)))
        )
        past = head_past or adverb_past
        if re.search(r"现在|如今|目前", lead + text[:6]):
            past = False
        is_past = past
        if whose == "others":
            continue
        yield Clause(rest, text, whose, kin, is_past)


_ASKED = re.compile(
    r"(?<!没)(?<!没有)什么|哪里|哪儿|哪个|哪种|谁|多少|几点|怎么(?!也|都)|是不是|能不能|有没有|要不要|会不会|喜不喜欢|该不该|吗$|呢$"
)
_ADVERB = re.compile(
    r"^(?:(?:19|20)\d\d年|现在|目前|如今|以前|曾经|过去|从前|原来|原先|之前|小时候|从小到大|从小就?|一直以来|一直都?|一向|向来|平时|平常|周末|经常|常常|通常|一般|总是|总|老是|今年|去年|上个月|上周|昨天|最近|近来|这几年|刚刚|刚才|刚|已经|早就|早|也|还|都|其实|真的|确实|的确|就|真|本来|至今|始终|依然|仍然|依旧|仍|好像|可能|大概|应该|算是|算|终于|又|越来越|开始|渐渐|慢慢|后来|当年|曾|当时|年轻时|明明|个人|反正|大多数时候|有时候?|偶尔|每天|天天|倒是|倒|只是|主要|身边|正在|正){1,6}"
)

_UNSURE = re.compile(r"好像|可能|大概|应该")


def _without_adverbs(text: str) -> tuple[str, bool]:
    match = _ADVERB.match(text)
    if match is None or match.end() >= len(text):
        return text, False
    return text[match.end() :], bool(
        _PAST.search(match.group()) or _UNSURE.search(match.group())
    ) and not re.search(r"现在|如今|目前", match.group())


def _reported(text: str) -> bool:
    """Whether somebody else says or thinks it; what the speaker says of themselves is not."""
    return bool(_REPORTED.search(text))
