"""Who the speaker is, in a Chinese clause that begins after its subject 我."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.chinese_said import profile_fact
from negmem.core.formation.extraction.chinese_things import ended, listed
from negmem.core.formation.extraction.chinese_work import read_identity, read_schools, read_work
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import (
    ATTRIBUTES,
    RELATIONS,
    attribute_key,
    is_number,
    thing_key,
)

_NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九十百]{1,4})"
_NAME = re.compile(
    r"^(?:的?(?:名字|姓名|全名|真名|中文名|本名)(?:就)?(?:叫做?|是)|(?:名叫|叫做|叫|名字叫|名字是|本名叫?)(?!(?:了|你|他|她|外卖|车|的|上|出租|救护|人|个)))(?P<thing>[\u4e00-\u9fffA-Za-z·. ]{1,24})$"
)
_SURNAME = re.compile(r"^姓(?P<thing>[\u4e00-\u9fff]{1,2})$")
_LIVES = re.compile(
    r"^(?:住在|住(?!了|院|过|不|校|宿)|定居(?:在|于)?|居住在|生活在|常住|常驻|落户(?:在|于)?|在(?P<at>[^，]{1,16}?)(?:住|生活|定居|安家|居住|落户)(?:了|着)?(?:(?:快|大概|差不多|已经)?[^，]{0,6}(?:年|个月|天)(?:多)?(?:了)?)?$)(?P<thing>.*)$"
)
_MOVED = re.compile(
    r"^(?:(?:全家|一家人?|家里|已经|刚刚?|才|要|都|才刚|从(?P<old>[^搬迁调移到]{1,12}?)|由[^搬迁]{1,12}?|[上这去前][个]?[月周年]|年初|年底|春天|夏天|秋天|冬天|[一二三四五六七八九十\d]{1,2}月(?:份|初|底)?|\d{4}年)){0,6}(?:搬家到|搬家去|搬回|搬到|搬来|搬去|搬进|迁到|迁居到?|移居到?|移民到?|回到|落户到|调到|调来|来到)了?(?P<thing>.{1,20}?)(?:生活|居住|工作|定居|住|去|来|这边|发展){0,6}$"
)
_FROM = re.compile(
    r"^(?:来自|是从(?P<a>.{1,10})来的|(?:的)?(?:老家|家乡|故乡|籍贯|祖籍)(?:就)?(?:是在|在|是)|出生(?:在|于)|生在|在(?P<b>.{1,12}?)(?:出生|长大|出生长大|土生土长)的?$|生于|从小在(?P<c>.{1,12}?)长大)(?P<thing>.*)$"
)
_NATIVE = re.compile(
    r"^(?:不是|是|就是|其实是|原本是|地道的|土生土长的){1,6}(?P<thing>[\u4e00-\u9fff]{1,8})人(?:士)?$"
)
_IS = re.compile(r"^(?P<not>不是|并不是|不再是)?(?:是|就是|也是)?(?P<thing>.{1,20})$")
_AGE = re.compile(
    rf"^(?:今年|现在|都|已经|刚|快|马上|刚满|才|就要|快要|刚过|年满|的?年龄是|的?年纪是|虚岁|周岁|满){{0,6}}(?P<thing>{_NUMBER}(?:多)?(?:岁|周岁)(?:半)?)(?:了|啦|生日)?$"
)
_AGE_BARE = re.compile(
    r"^(?:今年|都|已经|刚满|刚过|满|刚|过了年就){1,6}(?P<thing>[二三四五六七八九]?十[一二三四五六七八九]?|\d{2})(?:岁)?了?$|^(?P<b>[二三四五六七八九]?十[一二三四五六七八九]?)$"
)
_BIRTHDAY = re.compile(
    r"^(?:的?生日(?:就)?(?:是|在)|(?:是)?(?P<a>\d{4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?)(?:出生|生)的?$|出生于)(?P<thing>.*)$"
)
_ALLERGY = re.compile(
    r"^对(?P<thing>.{1,16}?)(?:有)?(?:严重|重度|轻微|轻度|有点|有些|很|非常|特别|会|都|也|一直|极度|天生){0,6}(?P<not>不|没有?)?(?:有)?(?:严重|轻微)?过敏(?:反应|史|体质)?(?:的)?$|^(?:有)?(?P<b>[\u4e00-\u9fff]{1,8}?)(?:严重|重度|轻微|轻度)?过敏(?:症|史)?$|^(?:一)?(?:吃|碰|喝|闻)(?:到|了)?(?P<c>[\u4e00-\u9fff]{1,8}?)(?:就|会){1,6}过敏$"
)
_HEALTH = re.compile(
    r"^(?P<not>没有|没得过|不)?(?:患有|患了|患|得了|得过|有|确诊了?|被诊断(?:出|为|患)?有?|查出了?|是)?(?:先天性|遗传性|一点|有点|点儿?|个|老|多年的){0,6}(?P<thing>(?:轻度|轻微|严重|重度|中度|慢性|季节性|先天性|一级|二级|1型|2型|一型|二型)?的?(?:糖尿病|高血压|低血压|低血糖|高血脂|哮喘|胃病|胃炎|心脏病|鼻炎|过敏性鼻炎|偏头痛|颈椎病|腰椎间盘突出|关节炎|痛风|贫血|失眠症?|抑郁症|焦虑症|癫痫|湿疹|荨麻疹|甲亢|甲减|脂肪肝|近视|色盲|色弱|乳糖不耐受?|麸质不耐受?|恐高症?|幽闭恐惧症|密集恐惧症|洁癖|强迫症|多动症|自闭症|阅读障碍|社交恐惧症|社恐|晕车|晕船|口吃|听力障碍|听力不好|腰不好|膝盖不好|胃不好|肠胃不好|心脏不好|睡眠不好|[\u4e00-\u9fff]{1,4}(?:病|症|炎|癌)))(?P<more>.{0,12})$"
)
_DIET = re.compile(
    r"^(?P<not>不再|不|没)?(?:在|已经|一直|现在|开始|改|坚持|常年|长期|是|严格){0,6}(?P<thing>吃素|吃全素|吃纯素|素食|茹素|吃斋|生酮饮食|生酮|低碳饮食|无麸质饮食|清真|低盐饮食|轻断食)(?:了|的|饮食|主义者?|\d*.{0,4}年.*){0,6}$"
)
_SPEAKS = re.compile(
    r"^(?P<not>不太|不怎么|不|一点都不|根本不)?(?:能流利地?|能|会|可以|懂|在)?(?P<how>说|讲|会说|会讲|学习|自学|学|教|懂|听得懂|看得懂|会(?=[\u4e00-\u9fff]{1,5}[语话文]))(?:一点|一些|点|流利的|点儿|一口流利的){0,6}(?P<thing>(?:[\u4e00-\u9fff]{1,4}(?:语|话|文)(?:、|和|跟|与)?){1,6})(?:了)?$"
)
_NATIVE_LANGUAGE = re.compile(r"^的?母语(?:就)?是(?P<thing>[\u4e00-\u9fff]{1,4}[语话文])$")
_FLUENT = re.compile(
    r"^(?P<thing>[\u4e00-\u9fff]{1,4}[语话文])(?:说得|讲得)?(?:很|非常|还|挺|比较|特别){0,2}(?:流利|不错|溜|熟练)$"
)
_ABLE = re.compile(
    r"^(?P<not>不太|不怎么|不|没)?(?:会|能)(?P<thing>(?:弹|拉|吹|开|游|骑|滑|写|编|画|做|打|下|唱|跳|修|织|包|潜|冲)[\u4e00-\u9fffA-Za-z]{1,8})$"
)
_MARRIED = re.compile(
    r"^(?P<not>没有?|不|未|还没)?(?P<thing>已婚|未婚|单身|离婚|离异|结婚|订婚|分手|再婚|丧偶|怀孕|退休|失业|待业|离职|辞职|毕业)(?:了|中|着|很多年了?|[^，]{0,6}年了?)?$"
)
_HAVE = re.compile(
    r"^(?P<not>没有|没|并没有|还没有?|从没有?)?(?:家里)?(?P<verb>养了|养着|养过|养|有了?|买了|新买了|领养了|收养了|家里有|家有|开着|开的是|开了|开|骑|拥有|租了|生了|换了|入手了|只有|换成了|养的是)(?P<thing>(?:一|两|二|三|四|五|六|七|八|九|十|几|\d+|个|只|条|辆|台|对|双)?.{1,24})$"
)
_THING = re.compile(
    r"(?:猫|狗|犬|柯基|金毛|拉布拉多|哈士奇|柴犬|泰迪|边牧|比熊|布偶|英短|美短|橘猫|仓鼠|兔子|兔|鹦鹉|金鱼|鱼|乌龟|龟|宠物|刺猬|龙猫|蜥蜴|蛇|鸟|鸡|马|车|特斯拉|电动车|摩托车|自行车|房子|房|公寓|别墅|院子|花园|钢琴|吉他|小提琴|相机|电脑|笔记本|MacBook|iPhone|iPad|Mac|驾照|驾驶证|护照|签证|绿卡|学位|文凭|证书|公司|店|餐厅|咖啡馆|工作室|书店|民宿|农场|博客|公众号|频道|手机|电视|房贷|车贷|贷款|医保|社保|信用卡|微博|微信|账号|资格证|纹身|洗碗机|空调)"
)
_KIN_COUNT = re.compile(
    r"(?:孩子|小孩|女儿|儿子|闺女|宝宝|娃|哥哥|弟弟|姐姐|妹妹|兄弟|姐妹|兄弟姐妹|双胞胎|龙凤胎|女朋友|男朋友|对象|老婆|老公|外甥女?|侄女|侄子|孙子|孙女|室友|表[哥弟姐妹]|堂[哥弟姐妹]|哥|姐|弟|妹|闺蜜|好朋友|同居|伴侣|徒弟|导师|助理)"
)
_NAMED = re.compile(
    r"(?:叫做?|名叫|名字叫|名字是|起名叫?|取名叫?)(?P<name>[\u4e00-\u9fffA-Za-z·]{1,10})$"
)
_ATTRIBUTE = re.compile(
    rf"^的?(?:新的?|现在的|最新的)?(?P<what>{'|'.join(sorted((re.escape(w) for w in ATTRIBUTES if not w.isascii()), key=len, reverse=True))}|微信号?|QQ号?|GitHub|github)(?:号码?)?(?:一直|现在|就|已经|目前){{0,6}}(?P<is>不是|不再是|是|换成了|改成了|改为了?|变成了|叫|在|：|:|有)(?P<thing>.{{1,40}})$"
)
_MEASURE = re.compile(
    r"^(?:的)?(?P<what>身高|体重|血型|鞋码|视力|血压)(?:大概|大约|差不多|现在|是|有|只有|才){0,6}(?P<thing>[^，是]{1,12})$"
)
_USES = re.compile(
    r"^(?:一直|平时|主要|现在|都|改|工作中?|常|上班|写代码|办公|日常|每天){0,6}(?:用的是|用的都是|使用的是|用|使用)(?P<thing>[A-Za-z][A-Za-z0-9 .+#-]{1,24}|[\u4e00-\u9fff]{0,4}[A-Za-z][A-Za-z0-9 .+#-]{1,20}|(?<=用的是)[\u4e00-\u9fff]{2,8}(?:手机|电脑|系统|相机|浏览器|编辑器|笔记本|平板|耳机|输入法|键盘))(?P<tail>(?:写|做|办公|开发|编程|记|管理|系统|手机|电脑)?.{0,6})$"
)
_SWITCHED = re.compile(
    r"^(?:已经|刚|最近|现在|上个月|全面|都){0,6}(?:从(?P<old>.{1,14}?))?(?:改用|换成|换到|转用|转到|转向|迁移到|切换到|换用|换了)(?:了)?(?P<thing>[A-Za-z][\w .+#-]{1,24})(?:了)?$"
)
_HABIT = re.compile(
    r"^(?:每天|每周|每个月|每晚|每早|坚持|习惯|都|早上|晚上|一般|通常|固定|周末|[一二三四五六七八九十\d]+点半?){1,6}(?P<thing>(?:起床|睡觉|跑步|游泳|健身|冥想|练|上夜班|写日记|遛狗|骑车|坐地铁|喝).{0,10})$"
)


def found_profile(text: str, implied: bool = False, follows: bool = False) -> Iterator[Found]:
    """Facts of the profile in a clause.

    `implied`: nobody named the speaker yet; `follows`: this clause itself names no subject.
    """
    readers = (
        _names,
        _allergies,
        _numbers,
        _languages,
        _status,
        _places,
        read_schools,
        read_work,
        read_identity,
        _possessions,
        _attributes,
        _tools,
    )
    for read in readers:
        unnamed = implied or (follows and read in (_names, _attributes))
        results = list(read(ended(text), unnamed))
        if results:
            yield from results
            return


def _names(text: str, implied: bool) -> Iterator[Found]:
    match = None if implied else _NAME.match(text)
    if match:
        name = re.sub(r"(?:就好|就行|就可以|也行)$", "", match["thing"])
        if not re.search(r"我|你|他|的|不|外卖|救命", name):
            yield from profile_fact("name", name)
        return
    match = _SURNAME.match(text)
    if match:
        yield from profile_fact("surname", match["thing"])


def _allergies(text: str, implied: bool) -> Iterator[Found]:
    if re.match(r"^(?:没有?|不)(?:任何|什么)?(?:食物)?过敏", text):
        yield from profile_fact("allergy", "过敏", True)
        return
    match = _ALLERGY.match(text)
    if match:
        thing = match["thing"] or match["b"] or match["c"]
        if not thing or (
            re.search(r"皮肤|容易|不|这|什么|春天|季节|一", thing[:2])
            and not re.search(r"不锈", thing)
        ):
            return
        for one in listed(thing):
            yield from profile_fact(f"allergy:{thing_key(one)}", one, bool(match["not"]))
        return
    match = _HEALTH.match(text)
    if match and not re.search(r"毛病|看病|生病|治|研究|公司|通病", match["thing"]):
        yield from profile_fact(
            f"health:{thing_key(match['thing'])}", match["thing"], bool(match["not"])
        )
        return
    match = _DIET.match(text)
    if match:
        yield from profile_fact("diet", match["thing"], bool(match["not"]))


def _numbers(text: str, implied: bool) -> Iterator[Found]:
    match = _AGE.match(text)
    if match:
        yield from profile_fact("age", match["thing"])
        return
    match = _AGE_BARE.match(text)
    if match and not implied and (match["thing"] or match["b"]):
        yield from profile_fact("age", match["thing"] or match["b"])
        return
    match = _BIRTHDAY.match(text)
    if match:
        thing = match["a"] or match["thing"]
        if re.search(r"\d|[一二三四五六七八九十]月|年", thing):
            yield from profile_fact("birthday", thing)
        elif text.startswith("出生于"):
            yield from profile_fact("hometown", thing)
        return
    match = _MEASURE.match(text)
    if match and re.search(r"\d|[一二三四五六七八九十]|型", match["thing"]):
        yield from profile_fact(attribute_key(match["what"]) or match["what"], match["thing"])


def _languages(text: str, implied: bool) -> Iterator[Found]:
    match = _NATIVE_LANGUAGE.match(text)
    if match:
        yield from profile_fact("native language", match["thing"])
        return
    match = _SPEAKS.match(text)
    if (
        match
        and not implied
        and not re.search(
            r"实话|坏话|笑话|废话|电话|谎话|作文|语文|中文名|论文|课文|真话|大话", match["thing"]
        )
    ):
        kind = "learning" if "学" in match["how"] else "speaks"
        for one in re.split(r"、|和|跟|与", match["thing"]):
            if one:
                yield from profile_fact(f"{kind}:{one}", one, bool(match["not"]))
        return
    match = _FLUENT.match(text)
    if match and not implied:
        yield from profile_fact(f"speaks:{match['thing']}", match["thing"])
        return
    match = _ABLE.match(text)
    if (
        match
        and not implied
        and not re.match(
            r"(?:做到|做好|打扰|打电话|开心|写信|做什么|开始|打开|画饼)", match["thing"]
        )
    ):
        yield from profile_fact(
            f"able:{thing_key(match['thing'])}", match["thing"], bool(match["not"])
        )


def _status(text: str, implied: bool) -> Iterator[Found]:
    match = _MARRIED.match(text)
    if match and not implied:
        word = match["thing"]
        key = (
            "marital status"
            if word in ("已婚", "未婚", "单身", "离婚", "离异", "结婚", "订婚", "再婚", "丧偶")
            else "employment status"
            if word in ("退休", "失业", "待业", "离职", "辞职")
            else f"is:{word}"
        )
        if word not in ("分手",):
            yield from profile_fact(key, word, bool(match["not"]))


def _places(text: str, implied: bool) -> Iterator[Found]:
    match = _LIVES.match(text)
    if match:
        place = re.sub(
            r"(?:已经|快|有)?[\d一二三四五六七八九十几]+(?:多)?(?:年|个月).*$|(?:工作|上班|这边|那边)$",
            "",
            match["at"] or match["thing"],
        )
        place = re.sub(r"^(?:在|到)", "", place)
        is_home = not re.search(
            r"(?:酒店|宾馆|旅馆|旅店|饭店|客栈|民宿|青旅|招待所|医院|病房)$", place
        )
        if place and is_home and not re.match(r"(?:哪|这|那|一起|宿舍|隔壁|楼上|他|她|你)", place):
            yield from profile_fact("location", place)
        return
    match = _MOVED.match(text)
    if (
        match
        and not re.search(r"要搬|将搬", text)
        and not (
            re.match(r".*(?:回到|来到|调到)", text)
            and re.search(r"家|房间|床|正题|座位|公司|这|结论", match["thing"])
        )
    ):
        yield from profile_fact("location", match["thing"])
        return
    match = _FROM.match(text)
    if match:
        place = match["a"] or match["b"] or match["c"] or match["thing"]
        if place and not re.search(r"\d|月|年", place):
            yield from profile_fact("hometown", re.sub(r"(?:人|的|长大){1,6}$", "", place) or place)
        elif place:
            yield from profile_fact("birthday", place)
        return
    match = _NATIVE.match(text)
    if match and not re.search(
        r"[个位名种]|男|女|好|坏|客|商|主|工|诗|证|病|新|老|本|机器|一|这|那|大|成年|中年|代|负责|年轻|内向|外向|普通|的|热爱|恋",
        match["thing"][-2:],
    ):
        yield from profile_fact("hometown", f"{match['thing']}人", text.startswith("不是"))


def _possessions(text: str, implied: bool) -> Iterator[Found]:
    match = _HAVE.match(text)
    if match is None:
        return
    thing, verb, negated = match["thing"], match["verb"], bool(match["not"])
    if re.match(
        r"(?:点|些|时候?|空|事|问题|意思|办法|用|效|人|可能|必要|道理|什么|没有|一天|一次|一件事|个问题|一点|时间|兴趣|机会|信心|关|心|会|始|玩笑|除|发|源|放|学|机|门)",
        thing,
    ) or verb in ("养过",):
        return
    if verb in ("开", "骑", "开了") and not re.search(
        r"车|特斯拉|公司|店|餐厅|馆|工作室|民宿|比亚迪|奔驰|宝马|奥迪|大众|丰田|本田|摩托", thing
    ):
        return
    if re.search(r"朋友(?:说|在|是|想|喜欢|去)|(?:人|同学|同事)(?:说|在)", thing):
        return
    named = _NAMED.search(thing)
    head = thing[: named.start()].strip("，, ") if named else thing
    head = re.sub(r"^(?:了|的是|的)", "", head)
    if re.match(r"^(?:养|领养|收养)", verb) or (
        _THING.search(head) and not _KIN_COUNT.search(head)
    ):
        if verb.startswith(
            ("有", "买", "新买", "拥有", "家", "只有", "换", "入手", "租", "开", "骑")
        ) and not _THING.search(head[-6:]):
            return
        if len(head) > 16:
            return
        kind = _THING.findall(head)
        yield from profile_fact(
            f"has:{thing_key(kind[-1] if kind else head)}",
            f"开{head}"
            if verb == "开" and "车" in head and not re.match(r"[一二两三]|的是", head)
            else head,
            negated,
        )
        if named and kind:
            yield Found(
                "relation", thing_key(kind[-1]), named["name"], f"{kind[-1]}叫{named['name']}"
            )
        return
    if (
        _KIN_COUNT.search(head)
        and len(head) <= 16
        and verb in ("有", "有了", "生了", "家里有", "家有", "只有")
    ):
        word = _KIN_COUNT.findall(head)[-1]
        if not re.search(rf"{word}(?:在|是|做|说|要|去|住|特别|很|喜欢|也|今年|上)", head):
            yield Found(
                "relation",
                f"has:{thing_key(word)}",
                head,
                f"{'没有' if negated else '有'}{head}",
                negated,
            )
            if named:
                yield Found(
                    "relation", RELATIONS.get(word, word), named["name"], f"{word}叫{named['name']}"
                )


def _attributes(text: str, implied: bool) -> Iterator[Found]:
    if implied:
        return
    match = _ATTRIBUTE.match(text)
    if match is None:
        return
    what, thing = match["what"], match["thing"]
    key = attribute_key(what) or "username"
    if match["is"] in ("在", "有", "叫") and key not in (
        "hometown",
        "employer",
        "school",
        "address",
        "location",
        "birthday",
    ):
        return
    if key in (
        "phone",
        "car",
        "computer",
        "employer",
        "occupation",
        "school",
        "location",
        "dream",
    ) and re.match(r"(?:很|不|最|太|为|让|什么|要|在|怎|多|坏|丢|这|那|每)", thing):
        return
    if key == "phone" and not is_number(thing):
        key = "phone model"
    if key == "hobby":
        for one in listed(ended(thing)):
            yield Found("preference", f"likes:{thing_key(one)}", one, f"爱好是{one}")
        return
    yield from profile_fact(
        key, re.sub(r"^(?:一?[名位个])(?=.{2})", "", thing), match["is"].startswith("不")
    )


def _tools(text: str, implied: bool) -> Iterator[Found]:
    match = _SWITCHED.match(text)
    if match:
        name = ended(match["thing"])
        yield Found("preference", f"likes:{thing_key(name)}", name, f"改用{name}")
        return
    match = _USES.match(text)
    if match and not implied and not re.match(r"(?:来|过|了)", match["tail"]):
        yield from profile_fact(f"uses:{thing_key(match['thing'])}", match["thing"].strip())
        return
    match = re.match(
        r"^(?P<thing>戴(?:着)?(?:近视|隐形|老花)?(?:眼镜|助听器|牙套|假牙|心脏起搏器))$", text
    )
    if match and not implied:
        yield from profile_fact(f"wear:{match['thing']}", match["thing"])
        return
    match = _HABIT.match(text)
    if match and not implied:
        yield from profile_fact(f"habit:{thing_key(match['thing'])[:12]}", text)
