"""Cron texts and interval texts."""

from __future__ import annotations

import pytest

from negmem.core.models.schedule import (
    CronFields,
    EverySeconds,
    Interval,
    parse_cron,
    parse_interval,
)


def test_five_fields_become_sets() -> None:
    found = parse_cron("*/20 1-3,5 1 jan-MAR 7")
    assert isinstance(found, CronFields)
    assert sorted(found.minutes) == [0, 20, 40]
    assert sorted(found.hours) == [1, 2, 3, 5]
    assert sorted(found.months) == [1, 2, 3]
    assert found.weekdays == {0}
    assert not found.any_day
    assert not found.any_weekday


def test_seconds_as_pg_cron_has_them() -> None:
    assert parse_cron("30 seconds") == EverySeconds(30)
    assert parse_cron("1 second") == EverySeconds(1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("22:30", "five fields"),
        ("0 2 * *", "got 4"),
        ("0 2 * * * *", "got 6"),
        ("@daily", "five fields"),
        ("", "got 0"),
        ("60 * * * *", "minute 60 is outside 0 to 59"),
        ("0 24 * * *", "hour 24"),
        ("0 0 0 * *", "day of month 0"),
        ("0 0 * 13 *", "month 13"),
        ("0 0 * * 8", "weekday 8"),
        ("0 0 * * mo", "'mo' is not a number"),
        ("5/10 * * * *", "a step needs a range"),
        ("*/0 * * * *", "step"),
        ("9-3 * * * *", "backwards"),
        ("1,,2 * * * *", "not a number"),
        ("0 0 31 2 *", "never comes"),
        ("0 0 31 4,6 *", "never comes"),
        ("0 seconds", "from 1 to 59"),
        ("60 seconds", "from 1 to 59"),
        ("5 minutes", "five fields"),
        ("٣ * * * *", "not a number"),
        ("0 2 * * *; DROP TABLE x", "got 8"),
    ],
)
def test_what_is_no_schedule_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_cron(text)


def test_a_leap_day_comes() -> None:
    assert isinstance(parse_cron("0 0 29 2 *"), CronFields)
    assert isinstance(parse_cron("0 0 31 2 mon"), CronFields)


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("1 hour", Interval(0, 0, 3_600_000_000)),
        ("90 minutes", Interval(0, 0, 5_400_000_000)),
        ("1.5 days", Interval(0, 1, 43_200_000_000)),
        ("1 day 02:30:00", Interval(0, 1, 9_000_000_000)),
        ("1 year 2 mons", Interval(14, 0, 0)),
        ("2 weeks", Interval(0, 14, 0)),
        ("00:00:00.5", Interval(0, 0, 500_000)),
        ("1h", Interval(0, 0, 3_600_000_000)),
        ("-1 hour 90 min", Interval(0, 0, 1_800_000_000)),
    ],
)
def test_an_interval_is_read_into_its_three_parts(text: str, interval: Interval) -> None:
    assert parse_interval(text) == interval


@pytest.mark.parametrize(
    "text",
    ["", "   ", "soon", "1", "1 hour ago?", "1 parsec", "1 hour 2 hours", "1.5 months", "one hour",
     "1 hour'; DROP TABLE x", "99999999999 days", "12:99"],
)  # fmt: skip
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_interval(text)
