"""Amounts as people say them, in the form that core/text/likeness_amounts.py reads: 一米八, 三万五, nine to five, 20 % off."""

from __future__ import annotations

import re
from fractions import Fraction

from negmem.core.text.likeness_numbers import (
    MONTHS,
    NUMBER_WORDS,
    NUMERAL_ZH,
    number_of_words,
    number_value,
)
from negmem.core.text.likeness_rewriting import Rules, by_script, rewritten

_N = rf"(?:{NUMERAL_ZH}+|\d+)"
_DIGIT_ZH = "[一二两三四五六七八九]"
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_TO = r" ?(?:to|until|till|through|-|–|—|~|到|至) ?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_ONCE_EN = "a|an|per|every|each|daily|weekly|monthly|yearly|annually"
_SCALES = {"百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_SCALES |= {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_UNITS_EN = "hour|day|week|month|year|minute|second|litre|liter|kilo|mile"


def _number(text: str) -> str:
    return str(number_value(text))


def _scaled(match: re.Match[str]) -> str:
    value = Fraction(match[1]) * _SCALES[match[2]]
    return f"{value.numerator / value.denominator:.12g}" if value.denominator > 1 else str(value)


def _metres(match: re.Match[str]) -> str:
    digits = "".join(_number(char) for char in match[2])
    return f"{_number(match[1])}.{digits} {'米' if match[0].count('米') else '元'}"


def _off(match: re.Match[str]) -> str:
    share = next(group for group in match.groups() if group)
    digits = "".join(char if char.isdecimal() or char == "." else _number(char) for char in share)
    if "折" in match[0]:
        tenths = Fraction(digits) if "." in digits or len(digits) == 1 else Fraction(digits) / 10
        left = 100 - tenths * 10
    else:
        left = Fraction(digits)
    return f" §off:{float(left):g}§ "


def _age(match: re.Match[str]) -> str:
    said = next(group for group in match.groups() if group)
    if said.isascii() and not said.isdecimal():
        said = NUMBER_WORDS.sub(number_of_words, said)
    return f" §age:{said if said.isdecimal() else _number(said)}§ "


def _and_a_half(match: re.Match[str]) -> str:
    said = NUMBER_WORDS.sub(number_of_words, match[1])
    if not said.isdecimal():
        return match[0]
    return str((2 * int(said) + 1) * _SCALES[match[2]] // 2)


def _year_zh(match: re.Match[str]) -> str:
    return "".join(_number(char) for char in match[1]) + "年"


def _day_shift_zh(match: re.Match[str]) -> str:
    return f" {number_value(match[1]):02}:00到{number_value(match[2]) + 12:02}:00 "


_DAY_SHORT = {"tues": "tuesday", "thur": "thursday", "thurs": "thursday", "weds": "wednesday"}
_MONEY = {
    "人民币": "元", "新台币": "twd", "台币": "twd", "港币": "港币", "港元": "港币", "美元": "美元", "美金": "美元", "欧元": "欧元",
    "日元": "日元", "日币": "日元", "英镑": "英镑", "韩元": "韩元",
}  # fmt: skip

_BEFORE: Rules = (
    # words in which a number word counts nothing
    (re.compile(r"\bone (?=(?:must|should|shall|has to|needs? to|can|cannot|may|ought to)\b)"), ""),
    (re.compile(r"\bsecond[- ]?hand\b"), "used"),
    (re.compile(r"\bnot a single(?: one)?(?: of (?:them|the))?\b"), "none"),
    (re.compile(r"\bnone of\b"), "none"),
    (re.compile(r"\b(tues|thurs?|weds)\b\.?"), lambda m: _DAY_SHORT[m[1]]),
    (re.compile(r"\b([a-z]+|\d+) and a half (hundred|thousand|million|billion)\b"), lambda m: _and_a_half(m)),
    (re.compile(r"\bhalf a (thousand|million|billion)\b"), lambda m: f"0.5 {m[1]}"),
    (re.compile(r"\b((?:half|quarter) (?:past|to) \w+) in the (morning|afternoon|evening)\b"), lambda m: f"{m[1]} {'am' if m[2] == 'morning' else 'pm'}"),
    (re.compile(r"\b(\w+ o'clock) in the (morning|afternoon|evening)\b"), lambda m: f"{m[1]} {'am' if m[2] == 'morning' else 'pm'}"),
    (re.compile(rf"({'|'.join(sorted(_MONEY, key=len, reverse=True))}) ?(\d[\d,.]*|{NUMERAL_ZH}+)(?:元|块钱?|圆)?"), lambda m: f"{m[2]}{_MONEY[m[1]]}"),
    (re.compile(r"新?台币(?! ?\d)"), "twd"),
    (re.compile("十一(?=长假|小长假|黄金周|假期|期间)"), "国庆"),
    (re.compile("(国庆|春节|五一|元旦|中秋|端午|清明)(?:节)?(?:小?长假|黄金周|假期|假日|期间|假(?!日|期))"), r"\1假期"),
    (re.compile(rf"(?<=[在住到于]) ?({_N}) ?[楼层](?![楼道])"), lambda m: f"第{_number(m[1])}楼"),
    # ages
    (re.compile(rf"\b(\d{{1,3}}|{NUMBER_WORDS.pattern[2:-2]})[- ]years?[- ]old\b"), _age),
    (re.compile(r"\bage(?:d)?(?: is| of|:)? (\d{1,3})\b(?! to|-)"), _age),
    (re.compile(rf"\b(?:at the age of|aged|when (?:(?:the )?user|i|he|she|they) (?:was|were|am|is)) (\d{{1,2}}|{NUMBER_WORDS.pattern[2:-2]})(?= ?(?:[.,;!]|$))"), _age),
    (re.compile(rf"\b(?:he|she|it|the user|user|i)(?: is| am|'s) (\d{{1,2}}|{NUMBER_WORDS.pattern[2:-2]})(?= ?(?:[.,;!]|$))"), _age),
    (re.compile(rf"(?:今年|年满)?({_N})大寿"), _age),
    (re.compile(r"((?:内存|硬盘|存储|显存|运存|流量|\bram|\bmemory|\bdisk)[^，,。\d]{0,8}\d+) ?([gmt])(?![a-z])"), r"\1\2b"),
    (re.compile(r"(?<![\d.])(\d+) ?([gmt])(?![a-z])(?= ?(?:的?(?:内存|硬盘|存储|显存|运存|流量)| of (?:ram|memory|disk|storage)| (?:ram|memory|ssd)\b))"), r"\1\2b"),
    (re.compile(rf"年龄(?:是|为|: ?| )?({_N})(?:周?岁)?(?![\d.])"), _age),
    (re.compile(rf"(?:今年|现年|刚?满)?({_N})周?岁(?!以|数|的?时|那)"), _age),
    (re.compile(r"(?<=[a-z0-9])-(?=(?:second|minute|hour|day|week|month|year|page|bedroom|room|metre|meter|mile|km|kg|inch|euro|dollar|person)\b)"), " "),
    (re.compile("早(?=[一二三四五六七八九十\\d]{1,2}点)"), "早上"),
    (re.compile("(?<![今明昨每])晚(?=[一二三四五六七八九十\\d]{1,2}点)"), "晚上"),
    # discounts
    (re.compile(rf"{NUMBER_WORDS.pattern}(?= (?:percent|%))"), number_of_words),
    (re.compile(rf"打?({_DIGIT_ZH}{{1,2}}|\d(?:\.\d)?|\d\d)折(?:优惠)?"), _off),
    (re.compile(r"(?:优惠|减免|降价|便宜)(?:了)? ?(\d+(?:\.\d+)?)%|(\d+(?:\.\d+)?)%的?(?:折扣|优惠)"), _off),
    (re.compile(r"\b(\d+(?:\.\d+)?) ?(?:%|percent) (?:off|discount)|\bdiscount (?:of|is) (\d+(?:\.\d+)?) ?(?:%|percent)"), _off),
    # shares
    (re.compile(rf"({_DIGIT_ZH})成(?!员|本|功|为|立|绩|长|了|人|年|都|分|份|[交婚家果型就])"), lambda m: f" {_number(m[1])}0% "),
    (re.compile(r"一半|\bhalf (?:of )?(?=(?:the|its|their|my|his|her|our|all)\b)"), " 50% "),
    # length and money with the smaller unit left unsaid
    (re.compile(rf"({_DIGIT_ZH})米({_DIGIT_ZH}{{1,2}})(?![百千万米点\u4e00-\u9fff]?[以左])(?=[^\u4e00-\u9fff十]|[的高宽长深左]|$)"), _metres),
    (re.compile(rf"({_N})块({_DIGIT_ZH})(?=[。，,.！!]|$)"), _metres),
    (re.compile("(一两|两三|三四|三五|四五|五六|六七|七八|八九)(?=[个位名条只天年次周杯岁块元百千万])"), lambda m: f" §few:{m[1]}§ "),
    # scales behind digits
    (re.compile(r"(?<![a-z0-9_.])(\d+(?:\.\d+)?) ?([百千万亿])(?![分一二三四五六七八九\d])"), _scaled),
    (re.compile(r"\b(\d+(?:\.\d+)?) (hundred|thousand|million|billion)\b"), _scaled),
    (re.compile(r"\b(usd|eur|gbp|cny|rmb|jpy|chf) ?(\d+(?:\.\d+)?)\b"), r"\2 \1"),
    (re.compile("([零〇一二三四五六七八九]{4})年"), _year_zh),
    # clock
    (re.compile(r"\b(?:nine|9)(?: ?- ?| to | till )(?:five|5)\b(?! ?(?:a\.?m|p\.?m|:|minute|hour|%))"), " 09:00 to 17:00 "),
    (re.compile(rf"[朝早]({_DIGIT_ZH})晚({_DIGIT_ZH})"), _day_shift_zh),
    (re.compile(r"\b(\d{1,2})\.(\d{2})(?= ?(?:a\.?m|p\.?m)\b)"), r"\1:\2"),
    (re.compile(r"\b([a-z]+)(?= (?:in the (?:morning|afternoon|evening)|at night)\b)"), lambda m: NUMBER_WORDS.sub(number_of_words, m[1])),
    (re.compile(r"\b(\d{1,2}(?::\d{2})?) at night\b"), r"\1 pm"),
    # days
    (re.compile(rf"\b{_DAY}{_TO}{_DAY} (?:of )?({_MONTH})\b"), r"\1 \3 to \2 \3"),
    (re.compile(rf"\b({_MONTH}) {_DAY}{_TO}{_DAY}\b(?!:| ?(?:a\.?m|p\.?m))"), r"\1 \2 to \1 \3"),
    (re.compile(rf"({_N})月({_N})[日号]?{_TO}({_N})[日号]"), r"\1月\2日到\1月\3日"),
    (re.compile(r"(?<![\d/.-])(0?[1-9]|1[0-2])/((?:19|20)\d{2})(?![/\d])"), lambda m: f" §month:{m[2]}-{int(m[1])}§ "),
    (re.compile(r"(?<![\d/-])((?:19|20)\d{2})[-/](0[1-9]|1[0-2])(?![-/\d])"), lambda m: f" §month:{m[1]}-{int(m[2])}§ "),
    (re.compile(rf"(?<!\d )(?<!st )(?<!nd )(?<!rd )(?<!th )(?<!of )\b({_MONTH})\.?,? (?:of )?((?:19|20)\d{{2}})\b"), lambda m: f" §month:{m[2]}-{MONTHS[m[1]]}§ "),
    (re.compile(rf"(每(?:个)?月)({_N})[日号]"), lambda m: f"{m[1]} §nth:{_number(m[2])}§ "),
    (re.compile(r"\bday one\b"), "first day"),
    (re.compile(rf"\b(?:(?:every|each|on|all) )?(?:weekdays?\b(?! off)|(?:monday|mon){_TO}(?:friday|fri)\b)|(?:每个?)?工作日|(?:每周|每个?|每星期)?(?:周|星期|礼拜)一{_TO}(?:周|星期|礼拜)?五"), " §weekly:1-5§ "),
    # one unit
    (re.compile(r"\b(?:a )?quarter of an hour\b|一刻钟"), " 15 minutes "),
    (re.compile(rf"\b(for|by|within|in|after|lasts?|takes?|of|every|than|least|most|over|about|around) (?:a|an) ({_UNITS_EN})\b(?! (?:and|ago))"), r"\1 1 \2"),
    (re.compile(rf"\bonce (?=(?:{_ONCE_EN})\b)"), ""),
    (re.compile(r"(?:每|(?<![第\d十]) ?一)(个?季度|个?月|个?星期|[天日周年晚早])([^，。,;；]{0,10}?)(?:一次|1次)(?!性)"), r"每\1\2"),
)  # fmt: skip
_LATIN, _CHINESE = by_script(_BEFORE)
_LATIN_WORD = re.compile("[a-z]{3}")
_MOVED = re.compile(
    r"\b(?:mov|chang|reschedul|shift|postpon|push|switch|delay|rais|increas|reduc|cut|drop)\w*"
    r"|改|调|推迟|换|挪|延|提前|涨|降|移"
)
_SPAN = re.compile(
    r"(?:\b(?:from|between)\s+|从\s*)?§((?:time|day|date|month|weekday|weekly):[^§]*)§"
    r"\s*(?:to|until|till|through|and|-|–|—|~|到|至|和)\s*§((?:time|day|date|month|weekday|weekly):[^§]*)§"
)


def plain_amounts(text: str) -> str:
    """`text` (folded, lower case) with what is said in short written out."""
    if text.isascii():
        return rewritten(text, _LATIN)
    return rewritten(text, _BEFORE if _LATIN_WORD.search(text) else _CHINESE)


def with_spans(text: str) -> str:
    """`text` with marks and "from § to §" as one mark, except where something moved from one to the other."""
    if _MOVED.search(text):
        return text
    return _SPAN.sub(_span, text)


def _span(match: re.Match[str]) -> str:
    joined = " and " if " and " in match[0] or "和" in match[0] else " "
    first, last = match[1], match[2]
    if joined == " and " and not match[0].startswith("between"):
        return match[0]
    if first.partition(":")[0] != last.partition(":")[0]:
        return match[0]
    return f" §span:{first}~{last}§ "
