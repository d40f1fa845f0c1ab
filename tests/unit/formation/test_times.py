"""Times as people and data sets write them."""

from datetime import datetime, timedelta, timezone

import pytest

from negmem.core.formation.readers.times import BadTimeError, parse_time

AUCKLAND = timezone(timedelta(hours=13))


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-02T09:00:00Z", utc(2026, 3, 2, 9)),
        ("2026-03-02t09:00:00z", utc(2026, 3, 2, 9)),
        ("2026-03-02T09:00:00+08:00", utc(2026, 3, 2, 1)),
        ("2026-03-02T09:00:00-0530", utc(2026, 3, 2, 14, 30)),
        ("2026-03-02 09:00:00+08", utc(2026, 3, 2, 1)),
        ("2026-03-02T09:00:00.123456789Z", utc(2026, 3, 2, 9, 0, 0, 123456)),
        ("2026-03-02T09:00:00,5", utc(2026, 3, 2, 9, 0, 0, 500000)),
        ("2026-03-02 09:00", utc(2026, 3, 2, 9)),
        ("2026-03-02", utc(2026, 3, 2)),
        ("20260302T090000Z", utc(2026, 3, 2, 9)),
        ("2023/05/20 (Sat) 02:21", utc(2023, 5, 20, 2, 21)),
        ("2023/05/20", utc(2023, 5, 20)),
        ("1:56 pm on 8 May, 2023", utc(2023, 5, 8, 13, 56)),
        ("12:05 am on 1 Jan, 2023", utc(2023, 1, 1, 0, 5)),
        ("12:05 PM on 31 December 2023", utc(2023, 12, 31, 12, 5)),
        ("2023年5月8日 13:56", utc(2023, 5, 8, 13, 56)),
        ("2023年5月8日", utc(2023, 5, 8)),
        (1772442000, utc(2026, 3, 2, 9)),
        (1772442000.5, utc(2026, 3, 2, 9, 0, 0, 500000)),
        (1772442000000, utc(2026, 3, 2, 9)),
        ("1772442000", utc(2026, 3, 2, 9)),
        (-1000000000, utc(1938, 4, 24, 22, 13, 20)),
        (None, None),
        ("", None),
        ("  ", None),
    ],
)
def test_reads(value: object, expected: datetime | None) -> None:
    assert parse_time(value) == expected


def test_a_time_without_a_zone_is_utc_unless_told() -> None:
    assert parse_time("2026-03-02T09:00:00", AUCKLAND) == utc(2026, 3, 1, 20)
    assert parse_time("2026-03-02T09:00:00Z", AUCKLAND) == utc(2026, 3, 2, 9)
    assert parse_time(datetime(2026, 3, 2, 9), AUCKLAND) == utc(2026, 3, 1, 20)
    assert parse_time("2023/05/20 (Sat) 02:21", AUCKLAND) == utc(2023, 5, 19, 13, 21)


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "2026-13-02",
        "2026-02-30T00:00:00Z",
        "2026-03-02T25:00:00Z",
        "2026-03-02T09:00:00+99:00",
        "0001-01-01T00:00:00Z",
        "1066-10-14",
        "2926-03-02",
        "9999-12-31T23:59:59Z",
        "13:56 pm on 8 May, 2023",
        "1:56 pm on 8 Mai, 2023",
        "2023年13月8日",
        "12",
        1e300,
        -99999999999,
        float("nan"),
        float("inf"),
        True,
        [],
        {"date": "2026-03-02"},
        "x" * 10_000,
    ],
)
def test_refuses_nonsense_and_other_centuries_with_a_short_reason(value: object) -> None:
    with pytest.raises(BadTimeError) as refused:
        parse_time(value)
    assert len(str(refused.value)) < 160
