"""When a schedule was due before a moment."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from negmem.core.formulas.due_times import due_before
from negmem.core.models.schedule import parse_cron

SHANGHAI = ZoneInfo("Asia/Shanghai")
MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)  # a Wednesday


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 2 * * *", ["2026-03-04 02:00", "2026-03-03 02:00", "2026-03-02 02:00"]),
        ("*/30 * * * *", ["2026-03-04 05:00", "2026-03-04 04:30", "2026-03-04 04:00"]),
        ("6 5 * * *", ["2026-03-04 05:06", "2026-03-03 05:06", "2026-03-02 05:06"]),
        ("0 0 1 * *", ["2026-03-01 00:00", "2026-02-01 00:00", "2026-01-01 00:00"]),
        ("0 0 * * mon", ["2026-03-02 00:00", "2026-02-23 00:00", "2026-02-16 00:00"]),
        ("0 0 * * 7", ["2026-03-01 00:00", "2026-02-22 00:00", "2026-02-15 00:00"]),
        # Where both days are named either counts.
        ("0 0 1 * mon", ["2026-03-02 00:00", "2026-03-01 00:00", "2026-02-23 00:00"]),
        ("0 0 29 2 *", ["2024-02-29 00:00", "2020-02-29 00:00"]),
    ],
)
def test_the_latest_come_first(schedule: str, expected: list[str]) -> None:
    found = islice(due_before(parse_cron(schedule), MOMENT, timezone.utc), len(expected))
    assert [f"{due:%Y-%m-%d %H:%M}" for due in found] == expected


def test_the_fields_are_meant_in_their_zone() -> None:
    due = next(due_before(parse_cron("0 2 * * *"), MOMENT, SHANGHAI))
    assert due.astimezone(timezone.utc) == datetime(2026, 3, 3, 18, tzinfo=timezone.utc)


def test_seconds_are_counted_back() -> None:
    first, second = islice(due_before(parse_cron("10 seconds"), MOMENT, timezone.utc), 2)
    assert (first, first - second) == (MOMENT, timedelta(seconds=10))


def test_over_the_changes_of_the_clocks() -> None:
    new_york = ZoneInfo("America/New_York")
    spring = datetime(2026, 3, 8, 12, tzinfo=timezone.utc)  # 02:30 did not come at 07:30
    found = islice(due_before(parse_cron("30 2 * * *"), spring, new_york), 2)
    assert [f"{due:%m-%d %H:%M}" for due in found] == ["03-07 02:30", "03-06 02:30"]
    autumn = datetime(2026, 11, 1, 6, 10, tzinfo=timezone.utc)  # 01:10 for the second time
    last = next(due_before(parse_cron("30 1 * * *"), autumn, new_york))
    assert last.astimezone(timezone.utc) == autumn - timedelta(minutes=40)
    counted = islice(due_before(parse_cron("30 seconds"), spring, new_york), 1_000)
    assert [spring - due for due in counted][-1] == timedelta(seconds=30 * 999)
