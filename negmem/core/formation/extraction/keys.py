"""Stable keys: what a fact is about, not what it says, so that a changed mind meets the old one."""

from __future__ import annotations

import re

from negmem.core.text.profile_names import BASE
from negmem.core.text.sentences import folded

MAX_KEY_CHARS = 120

_ARTICLES = re.compile(
    r"^(?:(?:the|a|an|my|our|some|any|all|all kinds of|all sorts of|lots of|a lot of|a bit of|really|very"
    r"|too much|so much|most|most of|every|(?:to )?(?:eat|drink)|eating|drinking|having|to have|to be|to(?= \w))\s+"
    r"(?!(?:out|in|at|alone|together|less|more|well|late|early|healthy|again)\b)){1,6}"
)
_CHINESE_LEAD = re.compile(r"^(?:(?:吃|喝|那种|这种|各种|一些|有点|所有|一切){1,6})(?=.)")
_LIGHT = re.compile(r"^(?:去|在家|自己|到|用|吃|喝|看|听|玩|打|读|做)(?=.)")
_ACTS = {
    "playing": "play", "watching": "watch", "reading": "read", "listening": "listen", "going": "go", "cooking": "cook",
    "baking": "bake", "wearing": "wear", "making": "make", "visiting": "visit", "collecting": "collect",
    "writing": "write", "learning": "learn", "riding": "ride", "using": "use", "working": "work", "getting": "get",
    "taking": "take", "doing": "do", "talking": "talk", "buying": "buy", "swimming": "swim", "running": "run",
    "hiking": "hike", "dancing": "dance", "singing": "sing", "traveling": "travel", "travelling": "travel",
}  # fmt: skip
_CHINESE_TAIL = re.compile(r"(?:了|的|啊|呀|呢|哦|喔|啦|嘛|哈|吧|什么的|之类的?|等等?){1,6}$")
_TAIL = re.compile(
    r"(?:,?\s+(?:really|very much|so much|a lot|lots|too|as well|though|anymore|any more|at all|either|now|these days"
    r"|lately|right now|the most|best|most|more|in general|generally|personally|tbh|lol|haha|to be honest|"
    r"honestly|please|again|already|nowadays|anyway|in particular|most of all|above all)){1,6}$"
)
_NOT_KEY = re.compile(r"[^\w\s+#.&/'-]+")


def thing_key(text: str) -> str:
    """A thing as a part of a key: no article, no plural, no particles; never empty for real text."""
    name = folded(text)
    name = _TAIL.sub("", _ARTICLES.sub("", name))
    name = _CHINESE_TAIL.sub("", _CHINESE_LEAD.sub("", name)) or name
    name = _NOT_KEY.sub(" ", name)
    words = [_singular(word) for word in name.split()]
    words[:1] = [_ACTS.get(word, word) for word in words[:1]]
    return " ".join(words)[:MAX_KEY_CHARS].strip(" .'-") or folded(text)[:MAX_KEY_CHARS]


_ENDS_IN_IE = frozenset(
    (
        "movie",
        "cookie",
        "zombie",
        "brownie",
        "selfie",
        "smoothie",
        "hoodie",
        "pie",
        "tie",
        "calorie",
    )
)


def _singular(word: str) -> str:
    if not word.isascii() or len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is", "ys", "'s")) and not word.endswith("ays"):
        return word
    if word[:-1] in _ENDS_IN_IE:
        return word[:-1]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "oes")):
        return word[:-2]
    return word[:-1]


# Many words for one attribute: the first is the key. What is a field of the profile is written as that field, whose
# names stand in its table.
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "name": ("name", *BASE["name"].said, "first name", "名"),
    "nickname": ("nickname", *BASE["preferred_name"].said, "外号", "小名", "绰号", "网名", "英文名"),
    "surname": ("surname", "last name", "family name", "姓", "姓氏"),
    "location": ("location", "city", *BASE["city"].said, "home", "address city"),
    "address": ("address", "home address", "地址", "家庭住址", "住址", "家庭地址"),
    "hometown": ("hometown", "home town", "birthplace", "place of birth", "home country", "老家",
                 "家乡", "故乡", "出生地", "籍贯"),
    "employer": ("employer", "company", *BASE["company"].said),
    "occupation": ("occupation", "job", *BASE["job"].said, "title", "role", "position", "line of work",
                   "岗位", "职务", "头衔"),
    "birthday": ("birthday", *BASE["birthday"].said),
    "age": ("age", *BASE["age"].said),
    "email": ("email", "e-mail", "email address", "mail", "邮箱", "电子邮箱", "邮件地址", "邮箱地址"),
    "phone": ("phone", "phone number", "number", "cell", "mobile", "mobile number", "cell number", "电话",
              "手机号", "手机号码", "电话号码", "手机"),
    "height": ("height", "身高"),
    "weight": ("weight", "体重"),
    "blood type": ("blood type", "blood group", "血型"),
    "time zone": ("time zone", "timezone", *BASE["timezone"].said),
    "native language": ("native language", *BASE["language"].said),
    "nationality": ("nationality", "citizenship", "国籍"),
    "zodiac": ("zodiac sign", "star sign", "sign", "星座"),
    "chinese zodiac": ("chinese zodiac", "属相", "生肖"),
    "shoe size": ("shoe size", "鞋码", "鞋号"),
    "clothing size": ("size", "clothing size", "shirt size", "尺码", "衣服尺码"),
    "major": ("major", "degree", "field of study", "专业", "学的专业", "大学专业"),
    "school": ("school", "university", "college", "alma mater", "学校", "大学", "母校"),
    "hobby": ("hobby", "hobbies", "main hobby", "pastime", "favorite hobby", "爱好", "兴趣", "兴趣爱好", "业余爱好",
              "最大的爱好", "最大爱好"),
    "personality type": ("personality type", "mbti", "性格"),
    "diet": ("diet", "饮食习惯", "饮食"),
    "marital status": ("marital status", "relationship status", "婚姻状况", "婚姻状态"),
    "car": ("car", "vehicle", "车", "座驾"),
    "computer": ("computer", "laptop", "电脑", "笔记本", "笔记本电脑"),
    "operating system": ("operating system", "os", "操作系统"),
    "editor": ("editor", "ide", "text editor", "编辑器"),
    "phone model": ("smartphone",),
    "religion": ("religion", "宗教信仰", "信仰"),
    "salary": ("salary", "income", "工资", "薪水", "收入", "月薪", "年薪"),
    "username": ("username", "user name", "handle", "用户名", "账号", "github", "微信号", "qq号"),
    "pronouns": ("pronouns", *BASE["pronouns"].said),
    "industry": ("industry", "行业"),
    "department": ("department", "team", "部门"),
    "dream": ("dream", "goal", "life goal", "梦想", "目标", "理想"),
    "room": ("room", "apartment", "flat", "house"),
    "bedtime": ("bedtime",),
    "work hours": ("work hours", "working hours", "office hours"),
    "budget": ("budget", "预算"),
    "skill level": ("level", "水平"),
    "wedding anniversary": ("anniversary", "wedding anniversary", "结婚纪念日"),
    "eye color": ("eye color", "eye colour", "eyes"),
    "hair color": ("hair color", "hair colour"),
    "license plate": ("license plate", "plate number", "车牌", "车牌号"),
}  # fmt: skip
ATTRIBUTES = {word: key for key, words in _ATTRIBUTES.items() for word in words}
"""Attribute words in either language and the key of each."""

_RELATIONS: dict[str, tuple[str, ...]] = {
    "wife": ("wife", "老婆", "妻子", "太太", "媳妇", "爱人"),
    "husband": ("husband", "hubby", "老公", "丈夫", "先生"),
    "partner": ("partner", "spouse", "significant other", "对象", "伴侣", "另一半"),
    "girlfriend": ("girlfriend", "女朋友", "女友"),
    "boyfriend": ("boyfriend", "男朋友", "男友"),
    "fiance": ("fiancé", "fiance", "未婚夫"),
    "fiancee": ("fiancée", "fiancee", "未婚妻"),
    "mother": ("mother", "mom", "mum", "mommy", "妈妈", "母亲", "妈", "老妈"),
    "father": ("father", "dad", "daddy", "爸爸", "父亲", "爸", "老爸"),
    "parents": ("parents", "父母", "爸妈"),
    "older brother": ("older brother", "big brother", "elder brother", "哥哥", "哥", "大哥", "二哥"),
    "younger brother": ("younger brother", "little brother", "弟弟", "弟"),
    "brother": ("brother", "twin brother", "兄弟"),
    "older sister": ("older sister", "big sister", "elder sister", "姐姐", "姐", "大姐", "二姐"),
    "younger sister": ("younger sister", "little sister", "妹妹", "妹"),
    "sister": ("sister", "twin sister"),
    "son": ("son", "儿子", "oldest son", "youngest son", "大儿子", "小儿子"),
    "daughter": ("daughter", "女儿", "oldest daughter", "youngest daughter", "闺女", "大女儿", "小女儿"),
    "child": ("child", "kid", "baby", "孩子", "宝宝", "小孩", "娃"),
    "grandmother": ("grandmother", "grandma", "granny", "奶奶", "外婆", "姥姥"),
    "grandfather": ("grandfather", "grandpa", "爷爷", "外公", "姥爷"),
    "uncle": ("uncle", "叔叔", "舅舅", "伯伯", "姑父", "姨父"),
    "aunt": ("aunt", "阿姨", "姑姑", "姨妈", "舅妈", "婶婶", "姑妈"),
    "cousin": ("cousin", "表哥", "表弟", "表姐", "表妹", "堂哥", "堂弟", "堂姐", "堂妹"),
    "nephew": ("nephew", "侄子", "外甥"),
    "niece": ("niece", "侄女", "外甥女"),
    "mother-in-law": ("mother-in-law", "岳母", "婆婆", "丈母娘"),
    "father-in-law": ("father-in-law", "岳父", "公公"),
    "brother-in-law": ("brother-in-law", "姐夫", "妹夫"),
    "sister-in-law": ("sister-in-law", "嫂子", "弟媳"),
    "best friend": ("best friend", "bff", "best mate", "最好的朋友", "闺蜜", "死党", "好朋友"),
    "friend": ("friend", "buddy", "朋友", "老朋友", "发小", "哥们"),
    "roommate": ("roommate", "flatmate", "housemate", "室友", "舍友"),
    "neighbor": ("neighbor", "neighbour", "邻居"),
    "boss": ("boss", "manager", "supervisor", "line manager", "老板", "上司", "领导", "经理", "主管"),
    "colleague": ("colleague", "coworker", "co-worker", "teammate", "同事"),
    "subordinate": ("下属", "徒弟", "intern"),
    "mentor": ("mentor", "导师", "师父"),
    "teacher": ("teacher", "professor", "老师", "班主任"),
    "classmate": ("classmate", "同学", "同桌"),
    "doctor": ("doctor", "dentist", "therapist", "gp", "医生", "牙医"),
    "dog": ("dog", "puppy", "pup", "狗", "狗狗", "小狗"),
    "cat": ("cat", "kitten", "kitty", "猫", "猫咪", "小猫"),
    "pet": ("pet", "宠物"),
    "parrot": ("parrot", "鹦鹉"),
    "rabbit": ("rabbit", "bunny", "兔子"),
    "hamster": ("hamster", "仓鼠"),
    "horse": ("horse", "pony", "马"),
    "bird": ("bird", "鸟"),
    "fish": ("goldfish", "金鱼"),
    "turtle": ("turtle", "tortoise", "乌龟"),
    "assistant": ("assistant", "助理", "秘书"),
    "coach": ("coach", "trainer", "personal trainer", "教练"),
    "ex": ("ex-wife", "ex-husband", "ex", "前妻", "前夫", "前女友", "前男友", "前任"),
    "landlord": ("landlord", "landlady", "房东"),
    "lawyer": ("lawyer", "accountant", "律师"),
    "godparent": ("godmother", "godfather", "干妈", "干爸"),
}  # fmt: skip
RELATIONS = {word: key for key, words in _RELATIONS.items() for word in words}
"""Words for people and animals around somebody, in either language, and the key of each."""


def is_number(thing: str) -> bool:
    """Whether a thing is a telephone number, also with stars or a mark in the place of its digits."""
    return bool(re.search(r"\d{4}|\*{3}|<[A-Z_]+>", thing))


def liking_key(thing: str) -> str:
    """What is liked as a part of a key: 打篮球 and 篮球, "to drink coffee" and "coffee" are one."""
    return thing_key(_LIGHT.sub("", thing) if len(thing) > 2 else thing)


def attribute_key(words: str) -> str | None:
    """The key of an attribute by any of its names, None where it is not known."""
    name = folded(words).replace("favourite", "favorite")
    return ATTRIBUTES.get(name) or ATTRIBUTES.get(_singular(name))


def relation_key(words: str) -> str | None:
    """The key of a relation by any of its names, None where it is not known."""
    name = folded(words)
    return RELATIONS.get(name) or RELATIONS.get(_singular(name))


# What rules are about, so that "answer in English" meets "answer in Chinese" before.
_RULE_TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("reply language", re.compile(
        r"\b(?:in|to|use|speak|write)\s+(?:simplified |traditional )?(?:english|chinese|french|german|spanish|"
        r"japanese|korean|italian|mandarin|russian|portuguese|dutch|arabic|hindi|turkish|polish|swedish|danish|norwegian|finnish|greek|hebrew|cantonese|vietnamese|thai|ukrainian)\b|(?:用|说|讲|写|换成)(?:简体|繁体)?"
        r"(?:中文|英文|英语|汉语|普通话|日语|日文|法语|德语|粤语)", re.I)),
    ("reply length", re.compile(
        r"\b(?:short|brief|concise|succinct|terse|detailed|long|lengthy|verbose|in detail|to the point|"
        r"\d+ (?:words|sentences|lines|paragraphs))\b|简短|简洁|简单|精简|详细|啰嗦|长篇大论|字以内|句话以内|言简意赅", re.I)),
    ("reply emojis", re.compile(r"\bemojis?\b|\bemoticons?\b|表情", re.I)),
    ("reply lists", re.compile(r"\bbullet(?:ed)?(?: points?| lists?)?\b|列表|分点|要点形式", re.I)),
    ("reply tone", re.compile(
        r"\b(?:formal|informal|casual|polite|friendly|tone|sarcas\w+|jokes?)\b|语气|口吻|正式|随意|开玩笑|客气", re.I)),
    ("form of address", re.compile(r"\b(?:call|address|refer to) me\b|称呼我|叫我|喊我", re.I)),
    ("units", re.compile(r"\b(?:metric|imperial|celsius|fahrenheit|kilomet\w+|miles)\b|公制|英制|摄氏|华氏", re.I)),
    ("time format", re.compile(r"\b(?:24|12)[- ]hour\b|(?:24|12|二十四|十二)小时制", re.I)),
    ("date format", re.compile(r"\b(?:yyyy|date format|iso 8601|iso dates?)\b|日期格式", re.I)),
    ("markdown", re.compile(r"\bmarkdown\b", re.I)),
)  # fmt: skip
_RULE_FILLER = re.compile(
    r"\b(?:please|always|never|ever|don't|do not|avoid|stop|to|the|a|an|any|your|you|me|my|must|should|"
    r"from now on|with me|for me|again|anymore|in future)\b|请|总是|永远|不要|别|务必|一定|记得|以后|都|要|再|给我|我"
)


def rule_key(text: str) -> str:
    """What a rule is about: one of the known topics, else its own words without "always", "don't"."""
    for topic, pattern in _RULE_TOPICS:
        if pattern.search(text):
            return topic
    return thing_key(_RULE_FILLER.sub(" ", folded(text))) or thing_key(text)
