"""When a schedule will be due: in its zone, over the clock changes, and where days rarely come."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.automation.jobs import next_runs
from negmem.core.formulas.due_times import due_after, due_before
from negmem.core.models.schedule import parse_cron

MOMENT = datetime(2026, 3, 2, 2, 0, tzinfo=timezone.utc)
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 2 * * *", ["03-03 02:00", "03-04 02:00"]),
        ("*/30 * * * *", ["03-02 02:30", "03-02 03:00"]),
        ("0 0 1 * *", ["04-01 00:00", "05-01 00:00"]),
        ("0 0 * * 0", ["03-08 00:00", "03-15 00:00"]),
        ("0 0 10 * 5", ["03-06 00:00", "03-10 00:00", "03-13 00:00"]),
        ("30 seconds", ["03-02 02:00", "03-02 02:01"]),
    ],
)
def test_the_next_times(schedule: str, expected: list[str]) -> None:
    found = islice(due_after(parse_cron(schedule), MOMENT, timezone.utc), len(expected))
    assert [f"{due:%m-%d %H:%M}" for due in found] == expected


def test_a_leap_day_comes() -> None:
    due = next(due_after(parse_cron("0 0 29 2 *"), MOMENT, timezone.utc))
    assert (due.year, due.month, due.day) == (2028, 2, 29)


def test_a_time_that_the_clocks_skip_is_left_out() -> None:
    before = datetime(2026, 3, 7, 12, 0, tzinfo=NEW_YORK)
    found = list(islice(due_after(parse_cron("30 2 * * *"), before, NEW_YORK), 2))
    assert [f"{due:%m-%d %H:%M}" for due in found] == ["03-09 02:30", "03-10 02:30"]


def test_a_time_that_comes_twice_is_told_once() -> None:
    before = datetime(2026, 10, 31, 12, 0, tzinfo=NEW_YORK)
    found = list(islice(due_after(parse_cron("30 1 * * *"), before, NEW_YORK), 2))
    assert [f"{due:%m-%d %H:%M}" for due in found] == ["11-01 01:30", "11-02 01:30"]


def test_each_run_is_told_in_three_zones() -> None:
    first, _, _ = next_runs("0 3 * * *", NEW_YORK, now=MOMENT)
    assert first.at == datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)
    assert first.cron_zone == "2026-03-02 03:00 America/New_York"
    assert first.local == "2026-03-02 08:00 UTC"


_FIELDS = st.tuples(
    st.sampled_from(["*", "0", "15,45", "*/7", "10-20/5"]),
    st.sampled_from(["*", "3", "0-5", "*/6", "23"]),
    st.sampled_from(["*", "1", "28-31", "*/10", "15"]),
    st.sampled_from(["*", "2", "jan-mar", "*/3", "12"]),
    st.sampled_from(["*", "0", "mon-fri", "6,7", "*/2"]),
)


@given(
    fields=_FIELDS,
    minutes=st.integers(0, 60 * 24 * 400),
    zone=st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York"]),
)
def test_after_and_before_agree(fields: tuple[str, ...], minutes: int, zone: str) -> None:
    schedule, where = parse_cron(" ".join(fields)), ZoneInfo(zone)
    moment = MOMENT + timedelta(minutes=minutes)
    coming = next(due_after(schedule, moment, where))
    assert coming > moment
    assert next(due_before(schedule, coming, where)) == coming
    # Nothing lies between: what was due last before the coming one was due by the moment.
    earlier = islice(due_before(schedule, coming, where), 2)
    last = [due.astimezone(timezone.utc) for due in earlier][1]
    assert last <= moment + timedelta(hours=1)


def test_seconds_are_counted_over_the_changes_of_the_clocks() -> None:
    for moment in (
        datetime(2026, 3, 8, 6, 59, 50, tzinfo=timezone.utc),
        datetime(2026, 11, 1, 5, 59, 50, tzinfo=timezone.utc),
    ):
        found = islice(due_after(parse_cron("20 seconds"), moment, NEW_YORK), 3)
        assert [(due - moment).total_seconds() for due in found] == [20, 40, 60]
