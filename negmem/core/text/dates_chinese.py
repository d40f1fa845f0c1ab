"""Words of time in Chinese and the days that they mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from negmem.core.text import days
from negmem.core.text.days import Span

_DIGITS = {mark: value for value, mark in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百]{1,5})"
_FIXED = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今日": 0, "今晚": 0,
    "今早": 0, "今晨": 0, "明天": 1, "明日": 1, "明晚": 1, "明早": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_YEARS = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "今年": 0,
    "明年": 1,
    "后年": 2,
    "大后年": 3,
    "本年": 0,
}
_WHICH = {"上上": -2, "上": -1, "这": 0, "本": 0, "这一": 0, "下": 1, "下下": 2}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_WEEKDAYS = "一二三四五六日"
_WHICH_WORD = r"(?P<which>上上|下下|这一|上|下|这|本)"
_MONTH_DAY = rf"(?:(?P<day>{_NUMBER})[日号])"

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("full", rf"(?P<year>(?:19|20)\d\d)年(?P<month>{_NUMBER})月{_MONTH_DAY}?"),
        ("year part", rf"(?P<word>大前年|前年|去年|今年|明年|大后年|后年)的?(?:(?P<month>{_NUMBER})月(?:份)?{_MONTH_DAY}?|(?P<season>[春夏秋冬])(?:天|季)?|(?P<edge>年?初|年?底|年?末))"),
        ("moved", rf"(?P<n>{_NUMBER}|半)(?P<unit>天|日|周|个星期|星期|个礼拜|个月|年)(?P<half>半)?(?:之|以)?(?P<dir>前|后)"),
        ("week", rf"{_WHICH_WORD}个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])?"),
        ("month", rf"{_WHICH_WORD}个?月(?:{_MONTH_DAY}|(?P<edge>初|底|末|中旬)|份)?"),
        ("fixed", "(?P<fixed>" + "|".join(sorted(_FIXED, key=len, reverse=True)) + ")"),
        ("year", r"(?P<word>大前年|前年|去年|今年|明年|大后年|后年)"),
        ("month day", rf"(?<![\d年一二三四五六七八九十])(?P<month>{_NUMBER})月{_MONTH_DAY}"),
        ("weekday", r"(?<![每上下这本个])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"),
        ("iso", r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"),
    )
)  # fmt: skip
_FUTURE = re.compile(r"要|会|将|打算|计划|准备|明|下周|下个月|预约|约了|订了|出发|开始|截止|之前")
_PASTNESS = re.compile(r"了|过|昨|上周|上个月|去年|刚")


def spans(text: str, today: date) -> Iterator[tuple[int, int, Span]]:
    """(start, end, days) of each word of time that can be told, in the order of the patterns."""
    for name, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            try:
                span = _meant(name, match, today, _is_ahead(text))
            except days.OutOfCalendarError:
                continue
            if span is not None:
                yield match.start(), match.end(), span


def _is_ahead(text: str) -> bool | None:
    future, past = bool(_FUTURE.search(text)), bool(_PASTNESS.search(text))
    return None if future == past else future


def _meant(name: str, match: re.Match[str], today: date, ahead: bool | None) -> Span | None:
    found = match.groupdict()
    if name == "fixed":
        return days.days_from(today, _FIXED[found["fixed"]])
    if name == "iso":
        return days.day_of(*(int(part) for part in found["iso"].split("-")))
    if name == "full":
        return _in_year(int(found["year"]), found)
    if name == "year part":
        return _in_year(today.year + _YEARS[found["word"]], found)
    if name == "year":
        return days.year(today.year + _YEARS[found["word"]])
    if name == "week":
        return _of_week(today, _WHICH[found["which"]], found["weekday"])
    if name == "month":
        whole = days.months_from(today, _WHICH[found["which"]])
        if found["day"]:
            return days.day_of(whole.first.year, whole.first.month, number(found["day"]))
        return whole
    if name == "month day":
        return days.nearest_day(today, number(found["month"]), number(found["day"]), ahead=ahead)
    if name == "weekday":
        if ahead is None:
            return None
        place = _WEEKDAYS.index(found["weekday"].replace("天", "日"))
        gap = (place - today.weekday()) % 7
        return days.days_from(today, gap if ahead else -((today.weekday() - place) % 7))
    return _moved(today, found)


def _in_year(year: int, found: dict[str, str]) -> Span:
    if found.get("month"):
        month = number(found["month"])
        if not 1 <= month <= 12:
            raise days.OutOfCalendarError(found["month"])
        if found.get("day"):
            return days.day_of(year, month, number(found["day"]))
        return days.month(year, month)
    if found.get("season"):
        return days.season(year, _SEASONS[found["season"]])
    return days.month(year, 1 if "初" in found["edge"] else 12)


def _of_week(today: date, offset: int, weekday: str | None) -> Span:
    if weekday is None:
        return days.week(today, offset)
    if weekday == "末":
        return days.weekend(today, offset)
    return days.weekday(today, _WEEKDAYS.index(weekday.replace("天", "日")), offset)


def _moved(today: date, found: dict[str, str]) -> Span | None:
    sign = -1 if found["dir"] == "前" else 1
    unit = found["unit"]
    if found["n"] == "半":
        if unit == "年":
            return days.months_from(today, 6 * sign)
        return days.week(today, 2 * sign) if unit == "个月" else None
    count = sign * number(found["n"])
    if unit in ("天", "日"):
        return days.days_from(today, count)
    if unit in ("周", "个星期", "星期", "个礼拜"):
        return days.week(today, count)
    if unit == "个月":
        return days.months_from(today, count)
    if found["half"]:
        return days.months_from(today, 12 * count + 6 * sign)
    return days.year(today.year + count)


def number(text: str) -> int:
    """A number under ten thousand, in digits or in Chinese: 12, 十二, 一百零五."""
    if text.isdigit():
        return int(text)
    total = current = 0
    for mark in text:
        if mark == "十":
            total, current = total + (current or 1) * 10, 0
        elif mark == "百":
            total, current = total + (current or 1) * 100, 0
        else:
            current = _DIGITS.get(mark, 0)
    return total + current
