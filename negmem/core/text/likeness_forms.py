"""One way to say it where grammar offers several: contractions, spelling, voice, relations, before and after.

Every rewriting keeps who does what to whom. The texts are folded (lower case, narrow) already, and the
English one may hold the marks of core/text/likeness_amounts.py.
"""

from __future__ import annotations

import re

_CONTRACTED = (
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"\bno one\b"), "nobody"),
    (re.compile(r"\b(?:really|actually|basically|simply|truly) (?=\w)"), ""),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"\b(i|you|he|she|we|they|user)'d\b"), r"\1 would"),
    (re.compile(r"\b(it|he|she|that|there|here|what|who|where)'s\b"), r"\1 is"),
    (re.compile(r"\b(user|\w+)'s(?= (?:a|an|the|not|been|no|\w{2,}ing) )"), r"\1 is"),
    (re.compile(r"\b(?:mr|mrs|ms|dr)\.? (?=\w)"), ""),
    (re.compile(r"\b(\w+?)s'(?=\s)"), r"\1s"),
)

# form → base: the irregular ones that talk of daily life and work uses
_VERBS = (
    "be was were been|become became|begin began begun|bring brought|build built|buy bought|catch caught"
    "|choose chose chosen|come came|cost|cut|do did done|draw drew drawn|drink drank drunk|drive drove driven"
    "|eat ate eaten|fall fell fallen|feel felt|find found|fly flew flown|forget forgot forgotten|get got gotten"
    "|give gave given|go went gone|grow grew grown|hear heard|hide hid hidden|hold held|keep kept|know knew known"
    "|lead led|learn learnt|leave left|lend lent|lose lost|make made|mean meant|meet met|pay paid|put"
    "|read|ride rode ridden|rise rose risen|run ran|say said|see saw seen|sell sold|send sent|set"
    "|show showed shown|sing sang sung|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood"
    "|swim swam swum|take took taken|teach taught|tell told|think thought|throw threw thrown"
    "|understand understood|wake woke woken|wear wore worn|win won|write wrote written|break broke broken"
    "|bite bit bitten|freeze froze frozen|steal stole stolen|bear born|person people|child children|man men|woman women"
    "|foot feet|tooth teeth|mouse mice|half halves|shelf shelves|knife knives|life lives|wife wives"
)
_IRREGULAR = {form: line.split()[0] for line in _VERBS.split("|") for form in line.split()[1:]}
_NO_BASE = frozenset(
    ("was", "were", "been", "did", "done", "got", "gotten", "lives", "born", "left")
)
IRREGULAR = {form: base for form, base in _IRREGULAR.items() if form not in _NO_BASE}
IRREGULAR_PAST = frozenset(
    form
    for form in IRREGULAR
    if IRREGULAR[form] not in ("person", "child", "man", "woman", "foot", "tooth", "mouse")
)

PARTICIPLE = (
    rf"(?:\w{{2,}}ed|{'|'.join(form for form in IRREGULAR_PAST)}|done|set|put|read|run|cut)"
)
_PASSIVE = re.compile(
    r"^(?P<object>[^,;.]+?) (?P<modal>(?:must|should|can|will|may|has to|have to)(?: not)? )?"
    rf"(?P<be>is|are|was|were|be|has been|have been|gets|get)(?P<not> not)? (?P<adverb>\w+ly |always )?"
    rf"(?P<verb>{PARTICIPLE}) by (?P<agent>(?!(?:default|hand|then|now|mistake|accident|e?mail|phone|post|bike|bicycle|car|bus|train|plane|tomorrow)\b"
    r"|§(?:time|date|day|weekday|month|year)).+?)"
    r"(?P<rest>(?: (?:in|on|at|from|to|every|before|after|for|with|until|during|when|if|per_\w+|§(?:time|date|day|weekday|month)).*)?[.!]?)$"
)

# who does it, by the noun of who does it
_DOER = {
    "mentor": "mentor",
    "manager": "manage",
    "lead": "lead",
    "leader": "lead",
    "head": "lead",
    "owner": "own",
    "maintainer": "maintain",
    "author": "write",
    "writer": "write",
    "founder": "found",
    "teacher": "teach",
    "tutor": "teach",
    "coach": "coach",
    "organiser": "organise",
    "organizer": "organise",
    "supervisor": "manage",
    "editor": "edit",
    "designer": "design",
    "landlord": "landlord",
    "boss": "manage",
}
_DOERS = "|".join(_DOER)
_IS_DOER = re.compile(
    rf"^(?:the )?(?P<who>[^,;'§]{{1,40}}?) is (?:the )?(?P<what>[^,;]{{1,40}}?)(?:'s)? (?P<doer>{_DOERS})[.!]?$"
)
_IS_DOER_OF = re.compile(
    rf"^(?:the )?(?P<who>[^,;'§]{{1,40}}?) is the (?P<doer>{_DOERS}) (?:of|for) (?P<what>[^,;]{{1,40}}?)[.!]?$"
)
_DOER_IS = re.compile(
    rf"^(?:the )?(?P<what>[^,;]{{1,40}}?)(?:'s)? (?P<doer>{_DOERS}) is (?P<who>[^,;'§]{{1,40}}?)[.!]?$"
)
_DOER_OF_IS = re.compile(
    rf"^the (?P<doer>{_DOERS}) (?:of|for) (?P<what>[^,;]{{1,40}}?) is (?P<who>[^,;'§]{{1,40}}?)[.!]?$"
)
_IS_RELATION = re.compile(
    r"^(?P<who>[\w. -]{1,30}?) is (?:(?P<whose>(?:the |my )?(?!the\b)[\w.-]+)'s (?P<what>[\w-]+(?: [\w-]+)?)"
    r"|the (?P<what2>[\w-]+(?: [\w-]+)?) of (?P<whose2>[\w. -]{1,30}?))[.!]?$"
)
_AFTER = re.compile(
    r"^(?P<later>[^,;]+?) (?:comes |come |happens |happen |starts |start |is |are )?(?:only )?after (?P<first>(?!§)[^,;]+?)[.!]?$"
)
_ONE = re.compile(
    r"(?<!\bis)(?<!\bare)(?<!\bwith)(?<!\bonly) (?:ones?|§n:1§)(?= (?:is|are|was|were|than)\b| ?[.!]?$)"
)
_ANYMORE = re.compile(
    r"\b(?:does |do |did |is |are |am )?not ([^,;.]{1,60}?) (?:any ?more|any longer)\b"
)
_BY_VEHICLE = re.compile(
    r"\b(?:takes?|rides?|catche?s?) (?:the|a|an|his|her|their|my) (train|bus|metro|subway|tram|ferry|tube)\b"
)
_SUPPORT_VERB = re.compile(
    r"\b(?:takes?|has|have|goes for|go for) an? (nap|walk|shower|bath|run|swim|rest|ride|stroll|jog|look|chat)\b"
    r"|\b(?:goes|go) (?=(?:swimm|runn|climb|cycl|hik|danc|fish|shopp|jogg|sail|ski|bowl|camp)\w*ing\b)"
)
_FRONTED = re.compile(
    r"^(before|after) (?!§)(\w+(?: \w+)?),? ((?:the )?(?:user|team|i|we|they|he|she) .+?)[.!]?$"
)
# "you find the X on", "keeps forgetting", "the number of X is 3", "the band the user likes most is"
_FOUND = re.compile(
    r"^(?:you|one)(?: can| will)? finds? ([^,;.]{1,40}?) (on|in|at|under|behind|beside|next)\b ?"
)
_KEEPS = re.compile(r"\bkeeps? (?:on )?(?=\w{3,}ing\b)(\w+)")
_NUMBER_OF = re.compile(
    r"\bthe ((?:maximum|minimum|most|least) )?number of (\w+(?: \w+)?) is (§n:[^§]*§)"
)
_LIKED_MOST = re.compile(
    r"^the (\w+) (?:that |which )?(?:the )?(user|i) (?:likes?|loves?|enjoys?) (?:the )?(?:most|best) is\b"
)
_CONVERSES = {
    "bought": "sold",
    "buys": "sells",
    "borrowed": "lent",
    "borrows": "lends",
    "received": "gave",
    "receives": "gives",
    "inherited": "bequeathed",
}
_CONVERSE = re.compile(
    rf"^([^,;]{{1,40}}?) ({'|'.join(_CONVERSES)}) ([^,;]{{1,40}}?) from ([^,;.]{{1,40}}?)(?=[.!]?$| (?:in|on|for|last|yesterday|§))"
)
_LESSER = {
    "lighter": "heavier",
    "smaller": "bigger",
    "slower": "faster",
    "younger": "older",
    "cheaper": "dearer",
    "worse": "better",
    "lower": "higher",
    "weaker": "stronger",
    "colder": "warmer",
    "narrower": "wider",
    "shorter": "longer",
    "darker": "brighter",
    "quieter": "louder",
    "earlier": "later",
}
_LEVELLED = (
    (re.compile(r"\bmore expensive\b|\bpricier\b|\bcostlier\b"), "dearer"),
    (re.compile(r"\blarger\b"), "bigger"),
    (re.compile(r"\btaller\b"), "longer"),
    (re.compile(r"\bquicker\b"), "faster"),
    (re.compile(r"\bcooler\b"), "colder"),
)
_COMPARED = re.compile(
    rf"^(?P<less>[^,;]+?) (?P<is>is|are|was|were) (?P<much>\w+ )?(?P<how>{'|'.join(_LESSER)}) than (?P<more>[^,;]+?)[.!]?$"
)


def spelled_out(text: str) -> str:
    """English without contractions and titles: i'm → i am, can't → can not."""
    for pattern, plain in _CONTRACTED:
        text = pattern.sub(plain, text)
    return text


# Endings of two stems that are one word in two parts of speech: severe, severely; intolerant, intolerance.
_ENDINGS = frozenset(
    frozenset(pair.split("/"))
    for pair in "/ly /ion /ation /ment /ness /ity /ur ant/anc ent/ens t/s t/c at/ation y/ication y/ily".split()
)
_NO_FORMS = frozenset(
    "hard late near short present high large scarce bare depart apart author univers commun person nation"
    " inform port miss pass sect station account cap origin gener form critic music magic department".split()
)


def derived(one: str, other: str) -> bool:
    """Whether two stems differ in an ending that makes another part of speech of the same word."""
    if not (one.isascii() and other.isascii() and one.isalpha() and other.isalpha()):
        return False
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    shared = one[:length]
    if length < 4 or shared in _NO_FORMS or one in _NO_FORMS or other in _NO_FORMS:
        return False
    return any(
        frozenset((one[start:], other[start:])) in _ENDINGS for start in (length, length - 1)
    )


def joined_as(one: str, other: str) -> str:
    """`one` with two words as one where `other` has them so: stand-up, stand up → standup."""
    words = set(re.findall(r"[^\W\d_]+", other.casefold()))

    def join(match: re.Match[str]) -> str:
        both = match[1] + match[2]
        return both if len(both) > 4 and both.casefold() in words else match[0]

    return re.sub(r"(?<![\w-])([A-Za-z]+)[- ](?=([A-Za-z]+)(?![\w-]))\2", join, one)


def english_form(text: str) -> str:
    """English in the active voice, "Y's lead is X" and "X is the lead of Y" as "X lead Y", "B after A" as "A before B"."""
    text = _ONE.sub("", text.strip())
    text = re.sub(r"\b(?:is|are|am) from (?=[a-z])", "come_from ", text)
    text = _BY_VEHICLE.sub(r"goes by \1", text)
    text = re.sub(r"\b(?:go(?:es)?|gets?|travels?) by (\w+) to work\b", r"commute by \1", text)
    text = re.sub(r"\b(?:has|have) become\b|\bbecame\b", "is now", text)
    text = re.sub(r"\b(?:a|an) (?:big|huge|great|massive|avid|real) (?=fan\b|lover\b)", "a ", text)
    text = _SUPPORT_VERB.sub(lambda m: m[1] or "", text)
    text = re.sub(r"\b(?:is|am|are) an? (\w+) lover\b", r"loves \1", text)
    text = re.sub(r"^([^,;]{1,30}?) reports? to ([^,;.]{1,30}?)[.!]?$", r"\2 manage \1", text)
    text = re.sub(r"^(?:please )?call (?:me|user|the user) (?=[a-z]+[.!]?$)", "addressed_as ", text)
    text = re.sub(
        r"\b(?:every|all) members? of (?:the |our |user )?([a-z]+(?: team)?)\b"
        r"|\bevery(?:one|body) (?:on|in) (?:the |our )?([a-z]+(?: team)?)\b"
        r"|\b(?:the )?(?:whole|entire) ((?:[a-z]+ )?(?:team|staff|family|group|class|company|office|crew|department))\b"
        r"|\ball ([a-z]+) members\b",
        lambda m: f"all {m[1] or m[2] or m[3] or m[4]}",
        text,
    )
    text = re.sub(
        r"\blikes? ((?:[\w-]+ ){1,3}?)(?:the )?(?:best|most|more than anything)\b",
        r"favourite is \1",
        text,
    )
    text = re.sub(
        r"\b(translate|convert|switch|change|turn)(s|d|ed)? (?:from )?(\w+) (?:in)?to (?=\w)",
        r"\1\2 from \3 to ",
        text,
    )
    text = re.sub(r"\b(\w+) size is (?=§n:)", r"\1 has ", text)
    text = re.sub(r"\bboth (?=\w+s\b|children|kids|people)(?!.* and )", "§n:2§ ", text)
    text = _FOUND.sub(r"\1 \2 ", text)
    text = _KEEPS.sub(r"often \1", text)
    text = _NUMBER_OF.sub(r"\1 \3 \2", text)
    text = _LIKED_MOST.sub(r"\2 favourite \1 is", text)
    text = _FRONTED.sub(_put_in_order, text)
    text = _CONVERSE.sub(lambda m: f"{m[4]} {_CONVERSES[m[2]]} {m[3]} to {m[1]}", text)
    text = re.sub(
        r"\b(?:(?:more|larger|bigger|greater|longer|higher) than|over|above|exceeding)(?= ?§(?!time|date|day))",
        "over",
        text,
    )
    text = re.sub(
        r"\b(?:(?:less|smaller|fewer|shorter|lower) than|under|below)(?= ?§(?!time|date|day))",
        "under",
        text,
    )
    text = _ANYMORE.sub(r"not_anymore \1", text)
    for pattern, plain in _LEVELLED:
        text = pattern.sub(plain, text)
    compared = _COMPARED.match(text)
    if compared:
        return f"{compared['more']} {compared['is']} {compared['much'] or ''}{_LESSER[compared['how']]} than {compared['less']}"
    for pattern in (_DOER_OF_IS, _IS_DOER_OF, _DOER_IS, _IS_DOER):
        found = pattern.match(text)
        if found and found["what"] not in ("a", "an", "the", "user a"):
            what = re.sub(r"^(?:a|an) .*", "", found["what"])
            if what and not re.search(r"\bof(?: an?| the)?$", what):
                return f"{found['who']} {_DOER[found['doer']]} {what}"
    relation = _IS_RELATION.match(text)
    if relation and (relation["what"] or relation["what2"]) != "name":
        whose = relation["whose"] or relation["whose2"]
        return f"{whose}'s {relation['what'] or relation['what2']} is {relation['who']}"
    text = _PASSIVE.sub(_active, text)
    after = _AFTER.match(text)
    if after and not re.search(
        r"\b(?:look|looks|looking|named|goes|go|ask|asks) *$", after["later"]
    ):
        return f"{after['first']} before {after['later']}"
    return text


def _put_in_order(match: re.Match[str]) -> str:
    first, later = (match[2], match[3]) if match[1] == "after" else (match[3], match[2])
    return f"{first} before {later}"


_UPON = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_ACTS = {upon: acts for acts, upon in _UPON.items()}


def _active(match: re.Match[str]) -> str:
    verb = match["verb"]
    if match["be"] not in ("was", "were"):
        base = IRREGULAR.get(verb)
        # the present of the verb, as the stems of both voices are the same
        doubled = len(verb) > 5 and verb[-3] == verb[-4] and verb[-3] not in "lsz"
        stem = verb[:-3] if doubled else verb[:-2] + "e"
        verb = base or (stem + "s" if verb.endswith("ed") else verb)
    denied = " not" if match["not"] else ""
    acts, upon = (
        _ACTS.get(match["agent"], match["agent"]),
        _UPON.get(match["object"], match["object"]),
    )
    return (
        f"{acts}{denied} {match['modal'] or ''}{match['adverb'] or ''}{verb} {upon}{match['rest']}"
    )


_TAIL_ZH = r"[。.!！]?$"
_INVERSE_ZH = {"徒弟": "师傅", "学徒": "师傅", "下属": "领导", "部下": "领导", "租客": "房东"}
_KIN_ZH = (
    "师傅 师父 导师 徒弟 学徒 下属 部下 领导 上司 老板 房东 租客 同事 同学 朋友 老师 学生 邻居 室友 经理 主管 教练 医生 律师"
    " 妈妈 爸爸 母亲 父亲 哥哥 姐姐 弟弟 妹妹 儿子 女儿 丈夫 妻子 老公 老婆 男友 女友 舅舅 姑姑 叔叔 阿姨 爷爷 奶奶 外公 外婆"
    " 表哥 表姐 表弟 表妹 堂哥 堂弟 侄女 侄子 外甥 外甥女 孙子 孙女 搭档 同桌 助理 秘书 联系人 对接人"
)
_KINS = "|".join(sorted(_KIN_ZH.split(), key=len, reverse=True))
_IS_KIN_ZH = re.compile(rf"^([^，,的是]{{1,8}})是([^，,是]{{1,8}}?)的?({_KINS}){_TAIL_ZH}")
_KIN_IS_ZH = re.compile(
    rf"^([^，,是]{{1,8}}?)的?({_KINS})(?:是|叫|叫做|名叫)([^，,的是]{{1,8}}?){_TAIL_ZH}"
)
_IN_CHARGE = re.compile(
    rf"^(.{{1,16}}?)的?(?:负责人|主管|牵头人|owner)(?:是|为|[:：])(.{{1,10}}?){_TAIL_ZH}"
)
_CHARGE_IS = re.compile(rf"^(.{{1,10}}?)是(.{{1,16}}?)的?(?:负责人|牵头人){_TAIL_ZH}")
_BY_ZH = re.compile(
    r"^([^，,。]{1,16}?)(?:统一|一律)?(?:交)?由([^，,。]{1,10}?)((?:统一|自动|每[天周月年])?[\u4e00-\u9fff]{2})"
    + _TAIL_ZH
)
_MOVE_ZH = re.compile(
    r"(?:从|由|自)([^，,。]{1,6}?)(换|改|切换|搬|迁|转到|转去|转移|调到|调去|飞|移到)"
)
_CLEFT_ZH = re.compile(
    r"^([^，,。]{2,12}?)(?<![用叫要])的(?:人)?是([\u4e00-\u9fff]{2,4})" + _TAIL_ZH
)
_FIRST_ZH = re.compile(
    r"^([^，,。]{1,14}?)(?:之前|以前|前)[，,]?(?:都|要|应|应该|得|必须|需要|需|须|请)*先([^，,。]{1,14}?)"
    + _TAIL_ZH
)
_THEN_ZH = re.compile(
    r"^([^，,。]{1,14}?)(?:之后|以后|后)[，,]?(?:再|才)([^，,。]{1,14}?)" + _TAIL_ZH
)
_LESSER_ZH = {
    "轻": "重",
    "小": "大",
    "矮": "高",
    "低": "高",
    "慢": "快",
    "便宜": "贵",
    "短": "长",
    "晚": "早",
    "差": "好",
    "少": "多",
    "弱": "强",
    "冷": "热",
}
_COMPARED_ZH = re.compile(
    rf"^([^，,。]{{1,10}}?)比([^，,。]{{1,10}}?)(更|还)?({'|'.join(_LESSER_ZH)})(一些|一点|得多|很多)?{_TAIL_ZH}"
)

_NOT_SO_ZH = re.compile(
    rf"^((?:用户|我)?(?:觉得|认为|感觉)?)([^，,。没觉]{{1,10}}?)没有?([^，,。]{{1,10}}?)(?:那么|这么)?"
    rf"({'|'.join(_LESSER_ZH.values())}|舒服|方便|好[看吃喝听用]|重要|安全|稳定|安静|漂亮|聪明){_TAIL_ZH}"
)


_CONVERSE_ZH = re.compile(
    rf"^([^，,。]{{1,8}}?)(?:从|向|找|跟)([^，,。]{{1,8}}?)(?:那里|那儿|手里|手上)?(买|借)(?:了|走了|过)?([^，,。]{{1,10}}?){_TAIL_ZH}"
)


# One wording for what is said in several; each keeps what is said of whom.
_SAID_ZH = (
    (re.compile("第一语言"), "母语"),
    (re.compile("一儿一女"), "一个儿子和一个女儿"),
    (re.compile("含([^，,。含]{1,6}?)的(?:东西|食物|食品)"), r"\1"),
    (re.compile("坐([车船])(?:就|都|容易)?会?晕"), r"晕\1"),
    (re.compile("一[碰闻吃喝]([^，,。]{1,6}?)就(?=过敏)"), r"\1"),
    (re.compile("(?:住得?|家)离([^，,。]{1,8}?)[很挺比较]{0,2}近"), r"住在\1附近"),
    (re.compile("(?:的?家)就?在(?=[^，,。]{1,8}?附近)"), "住在"),
    (re.compile("过(?=[大长多小高慢快短少重](?:[会将就时，,。]|导致|的话|$))"), "太"),
    (re.compile("最(?:喜欢|喜爱|爱)的(?:食物|食品|菜|饮料|零食|水果)是"), "最喜欢"),
    (re.compile("是教([^，,。]{1,6}?)的(?=[。.!！]?$)"), r"是\1老师"),
    (re.compile("给([^，,。]{1,6}?)(?:取名|起名)(?:叫做?|为)?"), r"\1叫"),
    (re.compile("(游|跑|洗|散|睡)([^，,。]{1,4}?[次回])(泳|步|澡|觉)"), r"\1\3\2"),
)


def chinese_form(text: str) -> str:
    """Chinese with the doer first: X 由 Y 负责, X 的负责人是 Y → Y 负责 X; B 之前先 A → 先 A 再 B; 对 X 过敏 → X 过敏."""
    text = text.strip()
    for pattern, plain in _SAID_ZH:
        text = pattern.sub(plain, text)
    text = re.sub("没(?=人)", "没有", text)
    text = re.sub(
        "(?:已经?)?不(?![再会能想得是错])([^，。不]{1,10}?)了(?=[。.!！]?$)", r"不再\1", text
    )
    text = re.sub(
        "^([^，。]{1,8})向([^，。]{1,8})(?:汇报|报告)(?=[。.!！]?$)", r"\1的领导叫\2", text
    )
    text = re.sub("([吃喝看做去来走听学拿动])不了(?!解)", r"不能\1", text)
    text = re.sub("一个人(?=[住旅去吃生过来在睡做看])", "独自", text)
    text = re.sub("一(?!到)([^一，。]{1,6})就", r"\1", text)
    text = _CONVERSE_ZH.sub(
        lambda m: f"{m[2]}把{m[4]}{'卖' if m[3] == '买' else '借'}给了{m[1]}", text
    )
    text = re.sub("养成了?([^，,。]{1,12}?)的习惯", r"习惯\1", text)
    text = _NOT_SO_ZH.sub(r"\1\3比\2\4", text)
    text = _IN_CHARGE.sub(r"\2负责\1", text)
    text = _CHARGE_IS.sub(r"\1负责\2", text)
    text = _IS_KIN_ZH.sub(lambda m: _kin_zh(m[2], m[3], m[1]), text)
    text = _KIN_IS_ZH.sub(lambda m: _kin_zh(m[1], m[2], m[3]), text)
    text = _MOVE_ZH.sub(r"从\1\2", text)
    if not re.search("由[^，,。]{1,6}(?:组成|于|来)", text):
        text = _BY_ZH.sub(r"\2\3\1", text)
        text = re.sub(r"^由(?=[^，,。]{1,10}?(?:负责|管理|生成|保管|维护|审批|处理))", "", text)
    text = _CLEFT_ZH.sub(r"\2\1", text)
    text = _FIRST_ZH.sub(r"先\2再\1", text)
    text = _THEN_ZH.sub(r"先\1再\2", text)
    text = _COMPARED_ZH.sub(
        lambda m: f"{m[2]}比{m[1]}{m[3] or ''}{_LESSER_ZH[m[4]]}{m[5] or ''}", text
    )
    text = re.sub("(?<=[^不])是([^，,。是]{2,4}?)人(?=[。.!！]?$)", r"来自\1", text)
    return re.sub(r"对([^，,。对]{1,8}?)(?=过敏|不耐)", r"\1", text)


def _kin_zh(whose: str, what: str, who: str) -> str:
    whose = re.sub("的?(?:一[个位名])?$", "", whose)
    if what in _INVERSE_ZH:
        return f"{who}的{_INVERSE_ZH[what]}叫{whose}"
    return f"{whose}的{what}叫{who}"
