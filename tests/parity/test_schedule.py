"""Intervals and schedules: what negmem reads, PostgreSQL and pg_cron read alike."""

from __future__ import annotations

import random

import psycopg
import pytest

from negmem.core.models.schedule import parse_cron, parse_interval
from tests.servers import Server
from tests.support.databases import TestDatabase

UNITS = [
    "us",
    "usec",
    "usecs",
    "microsecond",
    "microseconds",
    "ms",
    "msec",
    "msecs",
    "millisecond",
    "milliseconds",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "m",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hr",
    "hrs",
    "hour",
    "hours",
    "d",
    "day",
    "days",
    "w",
    "week",
    "weeks",
    "mon",
    "mons",
    "month",
    "months",
    "y",
    "yr",
    "yrs",
    "year",
    "years",
]


def interval_texts(random_: random.Random) -> list[str]:
    """Texts that may or may not be intervals."""
    texts = [f"1 {unit}" for unit in UNITS] + [f"2{unit.upper()}" for unit in UNITS]
    for _ in range(1500):
        parts = []
        for _ in range(random_.choice([1, 1, 2, 3])):
            number = random_.choice(["1", "7", "90", "1.5", "0.25", "-1", "+3", "2.000001", ".5"])
            blank = random_.choice([" ", "", "  "])
            parts.append(number + blank + random_.choice(UNITS))
        if random_.random() < 0.3:
            parts.append(
                random_.choice(["02:30", "02:30:15", "00:00:01.5", "100:00", "1:5", "-1:00"])
            )
        texts.append(random_.choice([" ", " ", ""]).join(parts))
    return sorted({*texts, "1 hour ago", "soon", "1", "", "1 day 1 day", "1-2", "P1D", "02:30"})


@pytest.mark.servers("embedded", "full", "sixteen")
def test_an_interval_that_is_read_means_the_same_to_postgresql(
    empty_database: TestDatabase,
) -> None:
    connection = empty_database.connect()
    read = 0
    for text in interval_texts(random.Random(8)):
        try:
            ours = parse_interval(text)
        except ValueError:
            continue
        read += 1
        assert connection.execute(
            "SELECT pg_input_is_valid(%s, 'interval')", [text]
        ).fetchall() == [(True,)], f"PostgreSQL refuses {text!r}"
        [found] = connection.execute(
            "SELECT extract(year FROM i)::integer * 12 + extract(month FROM i)::integer,"
            " extract(day FROM i)::integer,"
            " (extract(hour FROM i) * 3600 + extract(minute FROM i) * 60 + extract(second FROM i))"
            " * 1000000 FROM (SELECT CAST(%s AS interval)) AS t (i)",
            [text],
        )
        assert (ours.months, ours.days, ours.microseconds) == found, text
    assert read > 300


def cron_texts(random_: random.Random) -> list[str]:
    """Texts that may or may not be schedules."""
    fields = (
        ["0", "*", "*/15", "5-10", "0,30", "59", "60", "1-59/7", "7/2", "*,3"],
        ["0", "*", "*/6", "23", "24", "9-17", "3-1", "1,2,3"],
        ["*", "1", "31", "1-7", "*/2", "0", "29", "1,15"],
        ["*", "1", "12", "jan", "FEB", "2", "jan-mar", "13", "*/3"],
        ["*", "0", "7", "mon", "sun-sat", "1-5", "8", "mon,wed", "5-7"],
    )
    texts = [" ".join(random_.choice(field) for field in fields) for _ in range(400)]
    return sorted({*texts, "1 second", "30 seconds", "59 seconds", "5  seconds", "0\t2 * * *"})


@pytest.mark.needs_cron
def test_a_schedule_that_is_read_is_taken_by_pg_cron(server: Server) -> None:
    assert server.cron_database is not None
    taken = 0
    with psycopg.connect(server.dsn(server.cron_database), prepare_threshold=None) as connection:
        for text in cron_texts(random.Random(8)):
            try:
                parse_cron(text)
            except ValueError:
                continue
            taken += 1
            try:
                connection.execute("SELECT cron.schedule('negmem-parity', %s, 'SELECT 1')", [text])
            except psycopg.DataError as error:
                raise AssertionError(f"pg_cron refuses {text!r}: {error}") from None
            finally:
                connection.rollback()
    assert taken > 50
