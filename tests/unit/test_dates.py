"""Relative dates made absolute, English and Chinese."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from negmem.core.text.dates import dated, find_dates

FRIDAY = date(2026, 3, 13)


@pytest.mark.parametrize(
    ("text", "iso", "precision"),
    [
        ("yesterday", "2026-03-12", "day"),
        ("the day after tomorrow", "2026-03-15", "day"),
        ("last Friday", "2026-03-06", "day"),
        ("next Friday", "2026-03-20", "day"),
        ("this Thursday", "2026-03-19", "day"),
        ("3 weeks ago", "2026-02-16/2026-02-22", "week"),
        ("in two days", "2026-03-15", "day"),
        ("a couple of months ago", "2026-01", "month"),
        ("next month", "2026-04", "month"),
        ("last weekend", "2026-03-07/2026-03-08", "week"),
        ("last summer", "2025-06/2025-08", "season"),
        ("two years ago", "2024", "year"),
        ("I met her on Monday", "2026-03-09", "day"),
        ("I'm meeting her on Monday", "2026-03-16", "day"),
        ("I fly on the 14th of January, will you?", "2027-01-14", "day"),
        ("I bought it on March 5", "2026-03-05", "day"),
        ("We're getting married in August", "2026-08", "month"),
        ("in May 2024", "2024-05", "month"),
        ("大前天", "2026-03-10", "day"),
        ("前天", "2026-03-11", "day"),
        ("后天", "2026-03-15", "day"),
        ("上周五", "2026-03-06", "day"),
        ("下下周三", "2026-03-25", "day"),
        ("上个星期", "2026-03-02/2026-03-08", "week"),
        ("下周末", "2026-03-21/2026-03-22", "week"),
        ("三个月前", "2025-12", "month"),
        ("五十天后", "2026-05-02", "day"),
        ("上个月3号", "2026-02-03", "day"),
        ("去年十月", "2025-10", "month"),
        ("明年春天", "2027-03/2027-05", "season"),
        ("前年", "2024", "year"),
        ("周一我要跟房东谈", "2026-03-16", "day"),
        ("12月18号要看牙", "2026-12-18", "day"),
        ("半年后", "2026-09", "month"),
    ],
)
def test_words_of_time(text: str, iso: str, precision: str) -> None:
    (one,) = find_dates(text, FRIDAY)
    assert (one.span.iso, one.span.precision) == (iso, precision)
    assert one.span.first <= one.span.last


@pytest.mark.parametrize(
    "text",
    ["on Monday", "in May", "2月30日要去", "9999 years ago", "in 9999 weeks", "may I", "", "周一"],
)
def test_what_can_not_be_told_is_left_alone(text: str) -> None:
    assert find_dates(text, FRIDAY) == []


def test_a_text_gets_its_dates_in_its_own_language() -> None:
    said = datetime(2026, 12, 31, 23, 0, tzinfo=timezone.utc)
    assert dated("I fly tomorrow, in 2024 I did not.", said) == (
        "I fly tomorrow (2027-01-01), in 2024 I did not."
    )
    assert dated("我明天走，后天回。", said) == "我明天（2027-01-01）走，后天（2027-01-02）回。"
    assert dated("2026年12月31日", said) == "2026年12月31日"
