"""Numbers, amounts, dates and times in one form, whatever they are written in: 十一点 at night, 23:00, 11 p.m.

Each becomes a mark `§kind:value§` in the text, so that two texts can be compared by them.
"""

from __future__ import annotations

import re
from fractions import Fraction

from negmem.core.text.likeness_numbers import (
    DAYS,
    DAYS_ZH,
    MONTHS,
    NUMBER_WORDS,
    NUMERAL_ZH,
    ONES,
    ORDINALS,
    UNIT,
    UNITS,
    WORDS,
    number_of_words,
    number_value,
)
from negmem.core.text.likeness_numbers import chinese_number as chinese_number
from negmem.core.text.likeness_rewriting import Rules, rewritten
from negmem.core.text.likeness_said_amounts import plain_amounts, with_spans

_MEASURES_ZH = (
    "个只条张位名次号楼层岁本家单元件杯瓶双套辆台部座间份倍口门人行页碗盒包支把根字步回排栋室组"
)

_PERCENT_ZH = re.compile(rf"(百|千|万)分之({NUMERAL_ZH}+|\d+(?:\.\d+)?)")
_CLOCK_ZH = re.compile(
    r"(凌晨|清晨|早上|早晨|上午|中午|下午|午后|傍晚|晚上|深夜|半夜|夜里|今晚|明晚|今早|明早)?"
    rf"({NUMERAL_ZH}{{1,3}}|\d{{1,2}})(?:点钟?|时)(?!间|候|钟头)"
    rf"(半|一刻|三刻|(?:{NUMERAL_ZH}{{1,3}}|\d{{1,2}})(?=分)分(?!钟)|{NUMERAL_ZH}{{2,3}}|[一二三四五六七八九]十)?"
)
_CLOCK = re.compile(
    r"(?<!\d:)(?<!time:)(?<![\d.])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])\s*(?:[(]?\s*(a\.?m\b\.?|p\.?m\b\.?|上午|下午|晚上|凌晨|早上)\s*[)]?)?"
)
_CLOCK_PART_ZH = re.compile(
    r"(凌晨|清晨|早上|早晨|上午|中午|下午|午后|傍晚|晚上|深夜|半夜|夜里|今晚|明晚|今早|明早) ?(\d{1,2}):(\d{2})(?![\d:])"
)
_CLOCK_12 = re.compile(r"(?<![\d:.])(\d{1,2})\s*(a\.?m\b\.?|p\.?m\b\.?)")
_DATE_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?![\d/])")
_DATE = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_DATE_ZH = re.compile(
    rf"(?:(\d{{4}})\s*年\s*)?(\d{{1,2}}|{NUMERAL_ZH}{{1,2}})\s*月份?\s*(?:(\d{{1,2}}|{NUMERAL_ZH}{{1,3}})\s*[日号])?"
)
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({_MONTH})\b\.?(?:,?\s+(\d{{4}})\b)?"
)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?")
_MONTH_ALONE = re.compile(
    rf"\b({'|'.join(m for m in sorted(MONTHS, key=len, reverse=True) if m not in ('may', 'mar', 'march', 'sep', 'jan', 'dec'))})\b"
    r"|(?<=\bin )(march|may)\b|(?<=\bsince )(march|may)\b"
)
_WEEKDAY = re.compile(
    r"\b(every |each )?(?:(monday|tuesday|wednesday|thursday|friday|saturday|sunday)(s?)|(mon|tue|wed|thu|fri))\b"
)
_WEEKDAY_ZH = re.compile(r"(每)?个?(?:周|星期|礼拜)([一二三四五六日天])")
_FRACTION = re.compile(
    rf"({NUMERAL_ZH}+|\d+)分之({NUMERAL_ZH}+|\d+)|(?<![\d/.-])(\d{{1,3}})/(\d{{1,3}})(?![\d/.-])"
    rf"|\b(?:a|one|(two|three)) (third|quarter|fifth|tenth)s? of\b|\b(?:one|1) (?:in|out of) ({'|'.join(ONES[2:13])}|\d+)\b"
)
_ORDINAL = re.compile(rf"\b(\d+)(?:st|nd|rd|th)\b|\b({'|'.join(ORDINALS)})\b(?!,)")
_NUMERAL = re.compile(
    rf"(?<![统唯万])({NUMERAL_ZH}+|半)(?=个?(?:{UNIT})|[{_MEASURES_ZH}]|$|[，。；、,.;！!？?])|({NUMERAL_ZH}{{2,}})"
)
_AMOUNT = re.compile(
    rf"(?<![a-z0-9_.§:-])([$€£¥])?\s*(-?\d+(?:\.\d+)?)(?!\d)(?:\s*(?:({UNIT})(?:es|s)?(?![a-z])))?(?![\d:])"
)
_HOURS = "|".join(ONES[1:13])
_PAST_HOUR = re.compile(
    rf"\b(half|quarter) (past|to) (\d{{1,2}}|{_HOURS})\b(?:\s*(a\.?m\b\.?|p\.?m\b\.?))?"
)
_AT_HOUR = re.compile(
    rf"\bat ({_HOURS}|\d{{1,2}})(?= ?[.!,;]?$| (?:sharp|every|each|daily|on (?:mon|tue|wed|thu|fri|sat|sun)))"
)
_BOTH_HALVES = re.compile(
    r"\b(\d{1,2}(?::\d{2})?) ?(?:to|until|till|-|–) ?(\d{1,2}(?::\d{2})?) ?(a\.?m\b\.?|p\.?m\b\.?)"
)
_A_DAY_ZH = re.compile(
    r"(?<![第每十百千零\d])一(天|周|星期|个月|年)(?=[^，。内后前里]{0,12}(?:次|回|趟|步|杯|片|遍|顿|升|小时|公里))"
)
_O_CLOCK = re.compile(rf"\b(\d{{1,2}}|{_HOURS}) ?o'clock\b(?:\s*(a\.?m\b\.?|p\.?m\b\.?))?")
# Days that have a name; those that move through the year have no date.
_NAMED_DAYS = {
    "01-01": "new year's day|new years day|元旦节?",
    "02-14": "valentine's day|情人节",
    "05-01": "may day|(?<![周期拜])五一(?:劳动节|节)?(?![般个起直])|劳动节",
    "06-01": "(?:六一)?儿童节",
    "10-01": "国庆节?(?!假)|十一国庆",
    "10-31": "halloween|万圣节",
    "12-24": "christmas eve|平安夜",
    "12-25": "christmas(?: day)?|圣诞节?",
    "12-31": "new year's eve|new years eve|跨年夜",
}
_NAMED_DAY = [
    (
        re.compile(
            rf"(?<![\w'一二三四五六七八九十])(?:{names})(?![a-z'])|(?<=[\u4e00-\u9fff])(?:{names})(?![a-z'])"
        ),
        day,
    )
    for day, names in _NAMED_DAYS.items()
]
_QUARTER = re.compile(
    r"(?<![a-z0-9])q([1-4])(?![a-z0-9])|\b(first|second|third|fourth|last|1st|2nd|3rd|4th) quarter\b|(?:第?([一二三四1-4])季度?)(?!节)"
)
_HALF = re.compile(
    r"\b(?:(?P<whole>\d+|[a-z]+) and )?(?:a )?half (?:an?|of an?)? ?(?P<unit>hour|day|litre|liter|kilo|kilogram|mile|year|dozen|minute|km|l|kg)\b"
    r"|\b(?P<more>\d+|[a-z]+) and a half (?P<units>hour|day|litre|liter|kilo|kilogram|mile|year|minute)s\b"
    r"|\b(?:an?|one) (?P<one>hour|day|litre|liter|kilo|kilogram|mile|year|minute) and a half\b"
)
_HALF_ZH = re.compile(
    r"半个?(小时|钟头|月|天|公斤|斤|升|年)"
    r"|([一二两三四五六七八九十\d]+)(?:个?(小时|钟头|天|公斤|斤|升|年|米)半|个半(小时|钟头|月))"
)
_STRIPPED = "个只条张位名辆台部间件款种棵匹套"
_ONE_OF = re.compile(
    rf"(?:(?<![第每十百千零唯统\d])一|(?<![第每\d.])1)(?:[{_STRIPPED}把本首门封]|家|项|所)(?!月|人|多|半|[天周年]|小时|星期|钟头)"
)
_COUNTED = re.compile(
    rf"(?<![第每\d.])({NUMERAL_ZH}+|\d+) ?(?!(?<=一)个人)[{_STRIPPED}](?![月小星钟])"
)
_A_BIT_ZH = re.compile(
    r"(?<=[\u4e00-\u9fff])(?<![上中下午夜晚里半晨天在到是于点后前])一点儿?(?=[。，,.！!]|$)"
)
_IN_THE = re.compile(r"\b(\d{1,2}(?::\d{2})?)(?: o'clock)? in the (morning|afternoon|evening)\b")
_THOUSANDS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)k\b")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "cny"}
_LATE = ("下午", "午后", "傍晚")
_NIGHT = ("晚上", "深夜", "半夜", "夜里", "今晚", "明晚")


def marked_amounts(text: str) -> str:
    """`text` (folded, lower case) with its amounts, dates and times as marks `§kind:value§`."""
    text = re.sub(r"(?<=[^\W\d]):(?=\d)", ": ", _GROUPED.sub("", text))
    text = rewritten(plain_amounts(text), _IN_TURN)
    return with_spans(_AMOUNT.sub(_amount, text))


def _mark(kind: str, value: str) -> str:
    return f" §{kind}:{value}§ "


def _fraction(match: re.Match[str]) -> str:
    if match[1]:
        share = Fraction(number_value(match[2]), number_value(match[1]) or 1)
    elif match[3]:
        share = Fraction(int(match[3]), int(match[4]) or 1)
    elif match[6]:
        parts = {"third": 3, "quarter": 4, "fifth": 5, "tenth": 10}[match[6]]
        share = Fraction(WORDS[match[5]] if match[5] else 1, parts)
    else:
        share = Fraction(1, int(match[7]) if match[7].isdecimal() else WORDS[match[7]])
    return _mark("%", _plain(share * 100))


def _slashed(match: re.Match[str]) -> str:
    """A date with the year last; left as it is where day and month can't be told apart."""
    first, second = int(match[1]), int(match[2])
    if first > 12 >= second or first == second:
        return _mark("date", f"{match[3]}-{second:02}-{first:02}")
    if second > 12 >= first:
        return _mark("date", f"{match[3]}-{first:02}-{second:02}")
    return match[0]


def _quarter(match: re.Match[str]) -> str:
    named = match[1] or match[2] or match[3]
    order = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
    return _mark("quarter", str(order.get(named) or number_value(named[0])))


def _half(match: re.Match[str]) -> str:
    unit = match["unit"] or match["units"] or match["one"]
    whole = "1" if match["one"] else (match["whole"] or match["more"] or "0")
    if not whole.isdecimal():
        if whole not in WORDS:
            return match[0]
        whole = str(WORDS[whole])
    return " 6 " if unit == "dozen" else f" {whole}.5 {unit} "


def _half_zh(match: re.Match[str]) -> str:
    if match[1]:
        return " 15 天" if match[1] == "月" else f" 0.5 {match[1]}"
    if match[4] == "月":
        return f" {number_value(match[2]) * 30 + 15} 天"
    return f" {number_value(match[2])}.5 {match[3] or match[4]}"


def _weekday(match: re.Match[str]) -> str:
    kind = "weekly" if match[1] or match[3] else "weekday"
    return _mark(kind, str(DAYS[match[2] or match[4]]))


def _percent_zh(match: re.Match[str]) -> str:
    share = Fraction(match[2]) if match[2][0].isdecimal() else Fraction(number_value(match[2]))
    per_hundred = share * 100 / {"百": 100, "千": 1000, "万": 10_000}[match[1]]
    return _mark("%", _plain(per_hundred))


def _time(hour: int, minute: int, part: str | None) -> str:
    part = (part or "").replace(".", "")
    is_late = part == "pm" or part in _LATE or (part in _NIGHT and hour >= 5)
    if (is_late and hour < 12) or (part == "中午" and hour < 4):
        hour += 12
    elif (part in ("am", "凌晨") or part in _NIGHT) and hour == 12:
        hour = 0
    return _mark("time", f"{hour % 24:02}:{minute:02}")


def _hour(text: str) -> int:
    return int(text) if text.isdecimal() else WORDS[text]


def _past_hour(match: re.Match[str]) -> str:
    hour = int(match[3]) if match[3].isdecimal() else WORDS[match[3]]
    minute = 30 if match[1] == "half" else 15
    if match[2] == "to":
        hour, minute = hour - 1, 60 - minute
    return _time(hour, minute, match[4])


def _clock_zh(match: re.Match[str]) -> str:
    minutes = match[3] or ""
    named = {"": 0, "半": 30, "一刻": 15, "三刻": 45}
    minute = named[minutes] if minutes in named else number_value(minutes.rstrip("分"))
    return _time(number_value(match[2]), minute, match[1])


def _clock(match: re.Match[str]) -> str:
    return _time(int(match[1]), int(match[2]), match[3])


def _day(year: str | None, month: int, day: str | int) -> str:
    if year:
        return _mark("date", f"{year}-{month:02}-{int(day):02}")
    return _mark("day", f"{month:02}-{int(day):02}")


def _date_zh(match: re.Match[str]) -> str:
    month = number_value(match[2])
    if not 1 <= month <= 12:
        return match[0]
    if match[3]:
        return _day(match[1], month, number_value(match[3]))
    return _mark("month", f"{match[1] + '-' if match[1] else ''}{month}")


def _nth_zh(match: re.Match[str]) -> str:
    return _mark("nth", str(number_value(match[1])))


def _numeral(match: re.Match[str]) -> str:
    if match[1] == "半":
        return "0.5"
    number = chinese_number(match[1] or match[2])
    return match[0] if number is None else f" {number}"


def _amount(match: re.Match[str]) -> str:
    value = Fraction(match[2])
    if match[1]:
        return _mark(_SIGNS[match[1]], _plain(value))
    if match[3]:
        kind, factor = UNITS[match[3]]
        return _mark(kind, _plain(value * factor))
    # 3.2 and 3.20 are two versions; 2.0 is 2
    literal = match[2] if re.search(r"\.\d*[1-9]\d*0$|\.0+[1-9]\d*0$", match[2]) else ""
    return _mark("n", literal or _plain(value))


def _plain(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.12g}"


# In this order: what one makes may be met by a later one.
_IN_TURN: Rules = (
    (_PAST_HOUR, _past_hour),
    (re.compile(r"\b(\d+)\+(?= [a-z])"), r"over \1"),
    (_BOTH_HALVES, r"\1 \3 to \2 \3"),
    (_AT_HOUR, lambda m: f"at {_time(_hour(m[1]), 0, None)}" if _hour(m[1]) <= 24 else m[0]),
    (_A_DAY_ZH, r"每\1"),
    (re.compile("(?<![第每])一(?:个)?晚上?(?=睡)"), "每天晚上"),
    (_A_BIT_ZH, ""),
    (_IN_THE, lambda m: f"{m[1]} {'am' if m[2] == 'morning' else 'pm'}"),
    (re.compile(r"\ba (?=(?:hundred|thousand|million)\b)"), "one "),
    (re.compile(r"\b(\d+)x(?= (?:a|per|each|every|dai|week|month))"), r"\1 times"),
    (re.compile(r"(\d|[一二两三四五六七八九十百千万]) ?个?人(?=[。，,.！!\s]|$)"), r"\1个"),
    *((pattern, _mark("day", day)) for pattern, day in _NAMED_DAY),
    # a named day of a year is a date
    (
        re.compile(r" §day:(\d\d-\d\d)§ *(?:of |in |,)? ?((?:19|20)\d\d)(?!\d)"),
        lambda m: f" {m[2]}-{m[1]} ",
    ),
    (
        re.compile(r"(?<!\d)((?:19|20)\d\d)年?的? *§day:(\d\d-\d\d)§"),
        lambda m: f" {m[1]}-{m[2]} ",
    ),
    (_QUARTER, _quarter),
    (_HALF, _half),
    (_HALF_ZH, _half_zh),
    (_ONE_OF, ""),
    (re.compile("每[只名位台辆条张件款项](?=[\u4e00-\u9fff])"), "每个"),
    (_COUNTED, lambda match: f"{number_value(match[1])} "),
    (_O_CLOCK, lambda m: _time(_hour(m[1]), 0, m[2])),
    (_THOUSANDS, lambda m: _plain(Fraction(m[1]) * 1000)),
    (re.compile(r"\bonce\b(?=\s+(?:a|an|per|every)\b)"), "one time"),
    (re.compile(r"\btwice\b"), "two time"),
    (re.compile(r"\ba couple of\b"), "two"),
    (re.compile(r"\b(?:a|one) dozen\b"), "twelve"),
    (re.compile(r"\bevery (?:other|second)\b"), "every two"),
    (re.compile(r"\b(?:fortnightly|biweekly)\b"), "every two weeks"),
    (_DATE, lambda m: _mark("date", f"{m[1]}-{int(m[2]):02}-{int(m[3]):02}")),
    (_DATE_SLASHED, _slashed),
    (_PERCENT_ZH, _percent_zh),
    (_FRACTION, _fraction),
    (_CLOCK_ZH, _clock_zh),
    (_CLOCK_PART_ZH, lambda m: _time(int(m[2]), int(m[3]), m[1])),
    (_CLOCK, _clock),
    (_CLOCK_12, lambda m: _time(int(m[1]), 0, m[2])),
    (re.compile(r"\bmidnight\b|午夜|零点"), _mark("time", "00:00")),
    (re.compile(r"\b(?:noon|midday)\b|正午"), _mark("time", "12:00")),
    (re.compile(r"每[逢个](?=周[一二三四五六日天]|星期[一二三四五六日天])"), "每"),
    (_WEEKDAY_ZH, lambda m: _mark("weekly" if m[1] else "weekday", str(DAYS_ZH[m[2]]))),
    (_DATE_ZH, _date_zh),
    (_DAY_MONTH, lambda m: _day(m[3], MONTHS[m[2]], m[1])),
    (re.compile(r"到\s*(§[^§]*§)\s*为止"), r"截止 \1"),
    (_MONTH_DAY, lambda m: _day(m[3], MONTHS[m[1]], m[2])),
    (_MONTH_ALONE, lambda m: _mark("month", str(MONTHS[m[1] or m[2] or m[3]]))),
    (_WEEKDAY, _weekday),
    (_ORDINAL, lambda m: _mark("nth", m[1] or str(ORDINALS[m[2]]))),
    (NUMBER_WORDS, number_of_words),
    (re.compile(r"第(\d+|[一二三四五六七八九十百]+)"), _nth_zh),
    (_NUMERAL, _numeral),
)
