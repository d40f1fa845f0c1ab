"""Number words, months, days and units of English and Chinese, and what their words are worth."""

from __future__ import annotations

import re
from fractions import Fraction

from negmem.core.text.likeness_words import words_of

ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = words_of("twenty thirty forty fifty sixty seventy eighty ninety")
WORDS = {word: number for number, word in enumerate(ONES)}
WORDS |= {word: 10 * (number + 2) for number, word in enumerate(TENS)}
ORDINALS = {
    word: number + 1
    for number, word in enumerate(
        words_of(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
        )
    )
}
MONTHS = {
    word: number // 2 + 1
    for number, word in enumerate(
        words_of(
            "january jan february feb march mar april apr may may june jun july jul august aug"
            " september sep october oct november nov december dec"
        )
    )
}
MONTHS["sept"] = 9
DAYS = {
    word: number // 2 + 1
    for number, word in enumerate(
        words_of(
            "monday mon tuesday tue wednesday wed thursday thu friday fri saturday sat sunday sun"
        )
    )
}
_DIGITS_ZH = {char: number for number, char in enumerate("零一二三四五六七八九")}
_DIGITS_ZH |= {"〇": 0, "两": 2, "俩": 2}
_SCALES_ZH = {"十": 10, "百": 100, "千": 1000}
_GROUPS_ZH = {"万": 10_000, "亿": 100_000_000}
DAYS_ZH = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7}
NUMERAL_ZH = "[零〇一二两三四五六七八九十百千万亿]"

# unit → (kind, factor)
UNITS: dict[str, tuple[str, Fraction]] = {}
_SPELLINGS: dict[str, dict[str, int | Fraction]] = {
    "m": {
        "km kilometre kilometer 公里 千米": 1000,
        "m metre meter 米": 1,
        "cm centimetre centimeter 厘米": Fraction(1, 100),
        "mm millimetre millimeter 毫米": Fraction(1, 1000),
    },
    "mile": {"mile mi 英里": 1},
    "g": {
        "kg kilogram kilo 公斤 千克": 1000,
        "g gram 克": 1,
        "mg milligram 毫克": Fraction(1, 1000),
        "斤": 500,
        "tonne ton 吨": 1_000_000,
    },
    "l": {"l litre liter 升": 1, "ml millilitre milliliter 毫升": Fraction(1, 1000)},
    "byte": {
        "tb terabyte": 10**12,
        "gb gigabyte": 10**9,
        "mb megabyte": 10**6,
        "kb kilobyte": 10**3,
    },
    "s": {
        "second sec s 秒 秒钟": 1,
        "minute min 分钟": 60,
        "hour hr h 小时 个小时 钟头 个钟头": 3600,
        "day 天": 86_400,
        "week 周 星期 个星期": 604_800,
    },
    "month": {"month 个月": 1, "year yr 年": 12},
    "cny": {"yuan rmb cny 元 块 块钱 元钱 人民币": 1},
    "eur": {"euro eur 欧元 欧": 1},
    "usd": {"dollar usd 美元 美金": 1},
    "gbp": {"gbp 英镑": 1},
    "twd": {"twd": 1},
    "hkd": {"hkd 港币 港元": 1},
    "jpy": {"jpy yen 日元 日币": 1},
    "krw": {"krw 韩元": 1},
    "chf": {"chf 瑞士法郎": 1},
    "%": {"% percent 个百分点": 1},
}
for _kind, _names in _SPELLINGS.items():
    for _spellings, _factor in _names.items():
        for _spelling in _spellings.split():
            UNITS[_spelling] = (_kind, Fraction(_factor))
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_NUMBER_WORD = (
    rf"(?:{'|'.join([*TENS, *sorted(ONES, key=len, reverse=True)])}|hundred|thousand|million)"
)
NUMBER_WORDS = re.compile(rf"\b{_NUMBER_WORD}(?:(?:[- ]| and ){_NUMBER_WORD})*\b")


def chinese_number(text: str) -> int | None:
    """The value of a Chinese numeral (十八万 → 180000), None where it is none."""
    if not text:
        return None
    if len(text) > 1 and all(char in _DIGITS_ZH for char in text):
        return int("".join(str(_DIGITS_ZH[char]) for char in text))
    total = group = 0
    digit: int | None = None
    # 一百二 is 120, 三万五 is 35,000; 一百零二 is 102
    if text[-1] in _DIGITS_ZH and len(text) > 2 and text[-2] in "百千万亿":
        scale = (_SCALES_ZH | _GROUPS_ZH)[text[-2]]
        return (chinese_number(text[:-1]) or 0) + _DIGITS_ZH[text[-1]] * scale // 10
    for char in text:
        if char in _DIGITS_ZH:
            digit = _DIGITS_ZH[char]
        elif char in _SCALES_ZH:
            group += (1 if digit is None else digit) * _SCALES_ZH[char]
            digit = None
        elif char in _GROUPS_ZH:
            total += max(1, group + (digit or 0)) * _GROUPS_ZH[char]
            group, digit = 0, None
        else:
            return None
    return total + group + (digit or 0)


def number_value(text: str) -> int:
    """The value of digits or of a Chinese number; 0 for what is none."""
    return int(text) if text.isdecimal() else (chinese_number(text) or 0)


def number_of_words(match: re.Match[str]) -> str:
    """Two hundred and fifty → 250. Words that make no one number (one, two) stay apart."""
    numbers: list[int] = []
    joined = False
    for word in re.findall(r"[a-z]+", match[0]):
        if word == "and":
            joined = bool(numbers) and numbers[-1] >= 100
            if not joined:
                numbers.append(-1)
            continue
        scale = {"hundred": 100, "thousand": 1000, "million": 1_000_000}.get(word)
        if scale:
            if numbers and numbers[-1] > 0:
                numbers[-1] = (
                    numbers[-1] * scale
                    if scale > 100
                    else numbers[-1] // 1000 * 1000 + numbers[-1] % 1000 * scale
                )
            else:
                numbers.append(scale)
            continue
        value = WORDS[word]
        last = numbers[-1] if numbers else 0
        if last > 0 and (last % 100 == 0 or (last % 10 == 0 and last % 100 >= 20 and value < 10)):
            numbers[-1] = last + value
        else:
            numbers.append(value)
    return " ".join("and" if number < 0 else str(number) for number in numbers)
