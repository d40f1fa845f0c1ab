"""Work, schools, and what somebody says they are, in a Chinese clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_said import profile_fact
from negmem.core.formation.extraction.chinese_things import ended
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key

_WORKS = re.compile(
    r"^(?:(?:刚|已经|才|现在|一直|目前){0,6}(?:在|于|就职于|任职于|供职于|入职了?|加入了?|跳槽到了?|跳槽去了?|换到了?|转到了?|就读于|毕业于|实习于|服务于|考上了?|考进了?|进了|去了))(?P<place>.{1,24}?)(?:(?P<verb>工作|上班|任职|就职|实习|打工|供职|读书|上学|念书|上大学|读大学|读研|读博|读研究生|读硕士|读博士|念大学|求学|兼职|教书|创业|当|做|担任|任|搞|负责|从事|跑|开|教|学|读|修|写)(?P<job>.*))?$"
)
_JOB = re.compile(
    r"^(?:的?(?:职业|本职工作|工作|职位|岗位|职务|身份|本职)(?:就)?是|从事(?:的是)?|(?:是)?(?:做|干|搞|当|担任|任)(?!(?:了(?:一|个|些|什)|过|得|不|到|好|完|梦|饭|菜|什么|作业|这|那|你|他|运动|家务|的是什))|转行(?:做|当|去做|成了|到)了?|改行(?:做|当)了?|升(?:职)?(?:为|成|到)了?|当上了?|成为了?|转岗(?:做|到|去做)了?|晋升为了?)(?P<thing>.{1,24}?)(?:的|工作|方面的工作|这一?行|行业|相关的?工作){0,6}$"
)
_IS_A = re.compile(
    r"^(?P<not>不是|不算|算不上|不再是|不)?(?P<is>是|算是|也是|就是|身为|作为)(?:在|从)?(?P<art>一?[名位个枚只]|一|个)(?P<thing>.{1,24})$"
)
_JOB_WORD = re.compile(
    r"(?:工程师|程序员|老师|教师|医生|护士|律师|会计|会计师|设计师|经理|主管|学生|大学生|研究生|博士生|硕士生|高中生|初中生|教授|作家|记者|编辑|厨师|司机|警察|军人|公务员|销售|客服|导演|演员|歌手|画家|摄影师|翻译|翻译员|顾问|分析师|科学家|研究员|建筑师|创业者|自由职业者|个体户|老板|店主|农民|工人|技术员|运营|产品经理|项目经理|飞行员|空姐|空乘|消防员|药剂师|牙医|兽医|心理咨询师|教练|主播|博主|插画师|架构师|测试|程序媛|码农|秘书|助理|前端|后端|全职妈妈|全职爸爸|家庭主妇|退休教师|社工|导游|快递员|外卖员|保安|电工|木匠|裁缝|理发师|化妆师|模特|运动员|音乐家|钢琴老师|程序猿|律所合伙人|合伙人|总监|CEO|CTO|HR|实习生|志愿者|班主任|校长|主任|站长|馆员|图书管理员|管理员|审计|出纳|文员|法官|检察官|调酒师|咖啡师|烘焙师|面包师|园丁|农场主|飞行教练|健身教练|瑜伽老师|潜水教练|policymaker|[师员家生手匠长工]$)$"
)
_TRAIT = re.compile(
    r"(?:素食者|素食主义者|纯素|纯素食者|严格素食者|吃素的|左撇子|右撇子|夜猫子|早起的人|独生子女?|独生女|单身|已婚|离异|丁克|穆斯林|回族|汉族|满族|藏族|蒙古族|苗族|壮族|[\u4e00-\u9fff]{1,3}族|基督徒|佛教徒|天主教徒|无神论者|色盲|色弱|近视眼?|内向的?人|外向的?人|社恐|双胞胎|混血|过敏体质|[ABO]{1,2}型血|[A-Z]型血|(?:INTJ|INTP|ENTJ|ENTP|INFJ|INFP|ENFJ|ENFP|ISTJ|ISFJ|ESTJ|ESFJ|ISTP|ISFP|ESTP|ESFP)|不婚主义者|极简主义者|环保主义者|党员|退伍军人|(?:白羊|金牛|双子|巨蟹|狮子|处女|天秤|天蝎|射手|摩羯|水瓶|双鱼)座的?|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]的?|E人|I人|i人|e人|00后|90后|80后|70后|95后|孕妇|糖尿病人|糖尿病患者|高血压患者|[\u4e00-\u9fff]{2,6}患者|理科生|文科生|应届生|应届毕业生|新手爸妈|新手妈妈|新手爸爸|路痴|脸盲|夜班)$"
)
_STUDIES = re.compile(
    r"^(?:大学|本科|研究生|硕士|博士|以前|目前|读的|学的|主修|的?专业|辅修|攻读|读|念|学|现在){0,6}(?:主修|攻读|专业是|学的是|读的是|念的是|学的|读的)(?P<thing>[\u4e00-\u9fffA-Za-z]{2,14}?)(?:专业|的)?$"
)
_GRADUATED = re.compile(
    r"^(?:毕业于|从(?P<a>.{2,14}?)毕业的?|是(?P<b>.{2,14}?)毕业的|在(?P<c>.{2,14}?(?:大学|学院|中学|高中|小学|学校|北大|清华|复旦))(?:读|念|上|学).{0,8})(?P<thing>.*)$"
)


def read_schools(text: str, implied: bool) -> Iterator[Found]:
    """Schools and subjects."""
    match = _STUDIES.match(text) or re.match(
        r"^(?:是)?学(?P<thing>(?!的|了|过|会|到)[\u4e00-\u9fff]{2,8})的$", text
    )
    if match:
        yield from profile_fact("major", match["thing"])
        return
    match = _GRADUATED.match(text)
    if match:
        place = match["a"] or match["b"] or match["c"] or match["thing"]
        if place and re.search(
            r"大学|学院|中学|高中|学校|专业|系|北大|清华|复旦|交大|浙大|[A-Z]", place
        ):
            yield from profile_fact("school", place)
            major = re.search(
                r"(?:读|学|念)(?:的是|的)?([\u4e00-\u9fff]{2,8}?)(?:专业|系)?$",
                text[match.end("c") :] if match["c"] else "",
            )
            if (
                match["c"]
                and major
                and major[1] not in ("大学", "研究生", "博士", "硕士", "本科", "博士生")
            ):
                yield from profile_fact("major", major[1])


_AT_PLACES = frozenset(
    ("工作", "上班", "任职", "就职", "实习", "读书", "上学", "上大学", "读大学", "读研", "读博")
)
_NOT_A_PLACE = re.compile(
    r"^(?:看|听|读|写|想|学习|热衷|思考|练|研究|考虑|努力|准备|附近|公园|尝试|如何|怎么|找|忙|帮|玩|等|用|为|跟|和|给|整理|做)"
)


def read_work(text: str, implied: bool) -> Iterator[Found]:
    """Occupation, employer and field."""
    match = _WORKS.match(text)
    if match and (
        match["verb"]
        or re.match(
            r"(?:刚|已经|才){0,6}(?:就职|任职|供职|入职|加入|跳槽|就读|实习于|服务于)", text
        )
    ):
        place, verb, job = match["place"], match["verb"] or "", match["job"] or ""
        if _NOT_A_PLACE.match(place) or (
            re.match(r"^(?:刚|已经|才|现在|一直|目前)*(?:去|进)", text) and verb not in _AT_PLACES
        ):
            return
        place = re.sub(r"^(?:的|一家|一所|一个|一间|家|了){1,6}", "", place)
        place = re.sub(r"(?:里|里面|那边|这边|给[\u4e00-\u9fff]+)$", "", place)
        if re.match(
            r"(?:家(?!.)|家里|哪|这|那|一起|网上|路上|公司(?!.)|学校(?!.)|办公室|图书馆|想|准备|等|下|床|周|厨房|阳台|考虑|外面|努力|忙|学|练|看|听)",
            place,
        ) or (
            re.search(r"[天周月年点时候后前中上]$", place)
            and not re.search(r"(?:香港中|上市|事业|高中|初中|海上)", place)
        ):
            place = ""
        if implied and not place:
            return
        if verb in (
            "读书",
            "上学",
            "念书",
            "上大学",
            "读大学",
            "读研",
            "读博",
            "读研究生",
            "读硕士",
            "读博士",
            "念大学",
            "求学",
        ) or re.match(r"(?:就读|考上|考进)", text):
            if place:
                yield from profile_fact(
                    "school" if re.search(r"大|学|院|校|北大|清华|[A-Z]", place) else "location",
                    place,
                )
            return
        job = re.sub(r"^(?:的是|的|着|过|了)", "", job)
        job_thing = job
        if verb in ("跑", "开", "教", "写", "学", "读", "修", "负责", "搞"):
            job_thing = f"{verb}{job}"
        if (
            verb in ("当", "做", "担任", "任", "从事", "搞", "负责", "跑", "开", "教", "写")
            and job
            and not re.match(
                r"(?:得|了|过|完|什么|饭|菜|作业|运动|瑜伽|梦|事|车(?!队)|会(?!计)|心|玩|代码测试)",
                job,
            )
        ):
            yield from profile_fact("occupation", re.sub(r"(?:的)?(?:工作)$", "", ended(job_thing)))
            if place:
                yield from profile_fact("employer" if not is_city(place) else "location", place)
        elif verb in ("学", "读", "修") and place and job:
            yield from profile_fact(
                "school" if re.search(r"大|学|院|校|[A-Z]", place) else "location", place
            )
            yield from profile_fact("major", job)
        elif (
            verb in ("工作", "上班", "任职", "就职", "实习", "打工", "供职", "兼职", "教书", "创业")
            or not verb
        ):
            if place and not re.search(r"努力|认真|加班|周", place):
                yield from profile_fact("work location" if is_city(place) else "employer", place)
            if verb == "教书":
                yield from profile_fact("occupation", "教书")
        return
    match = _JOB.match(text)
    if match:
        thing = re.sub(
            r"^(?:一?[名位个]|的是|了?[\d一二两三四五六七八九十几]+多?年的?|了)", "", match["thing"]
        )
        explicit = re.match(
            r"^(?:的?(?:职业|本职|职位|岗位)|从事|转行|改行|升|当上|成为|转岗|晋升)", text
        )
        worded = bool(_JOB_WORD.search(thing)) or bool(
            re.search(
                r"(?:开发|设计|销售|运营|会计|教育|医疗|金融|互联网|行政|人事|财务|外贸|电商|餐饮|翻译|分析|管理|测试|咨询|研究|策划|编程|审计|法务|物流|编辑|新媒体|装修|摄影|IT|AI|前端|后端|算法)(?:工作|行业|的){0,6}$",
                thing,
            )
        )
        named = not re.match(r"(?:很|比较|太|最|在|为了|什么|你|他|她|让)", thing)
        if (explicit or worded) and named:
            yield from profile_fact("occupation", thing)


def is_city(place: str) -> bool:
    """Whether a place is a town or country rather than a firm: two to four marks, no word of a firm."""
    return len(place) <= 4 and not re.search(
        r"公司|银行|厂|局|所|店|院|校|社|部|组|馆|吧|集团|大学|中心|机构|律所|事务所|工作室|医院|企|腾讯|阿里|百度|字节|华为|小米|美团|京东|网易|滴滴|快手|[A-Za-z]|台|团|处|站",
        place,
    )


def read_identity(text: str, implied: bool) -> Iterator[Found]:
    """What the speaker says they are."""
    match = _IS_A.match(text)
    if match and not implied:
        thing = (
            re.sub(r"^(?:普通|全职|在职|资深|退休的?|刚入职的?)?", "", match["thing"])
            or match["thing"]
        )
        thing = match["thing"]
        negated = bool(match["not"])
        if _TRAIT.search(thing):
            yield from profile_fact(_trait_key(thing), thing, negated)
        elif re.search(r"(?:的人|人)$", thing):
            if re.search(
                r"(?:内向|外向|安静|慢性子|急性子|理性|感性|完美主义|乐观|悲观|爱干净|早起|夜猫子|念旧|细心|怕冷|怕热)",
                thing,
            ):
                yield from profile_fact(f"is:{thing_key(thing)}", thing, negated)
        elif _JOB_WORD.search(thing):
            yield from profile_fact("occupation", thing, negated)
        return
    match = re.match(r"^(?P<not>不再是|并不是|不是|不)?(?:也|就|已经)?是(?P<thing>.{1,20})$", text)
    if match and not implied:
        thing, negated = match["thing"], bool(match["not"])
        if _TRAIT.search(thing):
            yield from profile_fact(_trait_key(thing), thing, negated)
        elif (
            _JOB_WORD.search(thing)
            and len(thing) <= 14
            and not re.search(
                r"[你他她这那]|先生$|学生时|医生(?!$)|家(?<!作家)(?<!画家)(?<!科学家)(?<!音乐家)(?<!专家)(?<!艺术家)$|长$(?<!校长)(?<!班长)(?<!站长)(?<!店长)|手$(?<!歌手)(?<!鼓手)",
                thing,
            )
        ):
            split = re.match(
                r"^(?P<place>.*?(?:公司|银行|医院|大学|学院|中学|小学|集团|局|所|厂|社))的?(?P<job>.+)$"
                r"|^(?P<firm>(?!.*(?:优秀|普通|退休|全职|年轻|资深|合格))[^的]{2,10})的(?P<post>[^的]{2,8})$",
                thing,
            )
            if split:
                yield from profile_fact(
                    "employer"
                    if not re.search(r"学生|研究生|博士生", (split["job"] or split["post"]))
                    else "school",
                    (split["place"] or split["firm"]),
                )
                yield from profile_fact("occupation", (split["job"] or split["post"]), negated)
            else:
                yield from profile_fact("occupation", thing, negated)
        return
    match = re.match(r"^属(?P<thing>[鼠牛虎兔龙蛇马羊猴鸡狗猪])(?:的)?$", text)
    if match:
        yield from profile_fact("chinese zodiac", f"属{match['thing']}")
        return
    match = re.match(r"^身为(?:一?[名位个])?(?P<thing>.{2,12})$", text)
    if match and _JOB_WORD.search(match["thing"]):
        yield from profile_fact("occupation", match["thing"])


def _trait_key(thing: str) -> str:
    if re.search(r"素|斋", thing):
        return "diet"
    if re.search(r"单身|已婚|离异", thing):
        return "marital status"
    if re.search(r"座", thing):
        return "zodiac"
    if re.search(r"族$", thing) and len(thing) <= 4:
        return "ethnicity"
    if re.search(r"型血", thing):
        return "blood type"
    if re.search(r"徒$|穆斯林|无神论", thing):
        return "religion"
    return f"is:{thing_key(thing)}"
