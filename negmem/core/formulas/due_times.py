"""When a cron schedule was due, and when it will be: before a moment and after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone, tzinfo

from negmem.core.models.schedule import CronFields, EverySeconds

# A schedule such as 29 February comes once in eight years at the rarest.
_MOST_DAYS = 8 * 366 + 1


def due_before(
    schedule: CronFields | EverySeconds, moment: datetime, zone: tzinfo
) -> Iterator[datetime]:
    """The times at or before `moment` at which the schedule was due, the latest first.

    Args: moment, with a zone; zone, in which the fields are meant. Yields: times in that zone.
    `N seconds` has no fixed times: it is counted back from `moment`. A time that the clocks skip in spring is
    left out, one that comes twice in autumn is the first of the two.
    """
    if isinstance(schedule, EverySeconds):
        yield from _counted(moment, zone, -schedule.seconds)
        return
    local = moment.astimezone(zone)
    for back in range(_MOST_DAYS):
        day = local.date() - timedelta(days=back)
        if not _names_day(schedule, day):
            continue
        for hour in sorted(schedule.hours, reverse=True):
            for minute in sorted(schedule.minutes, reverse=True):
                due = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                if _exists(due) and due.astimezone(timezone.utc) <= moment:
                    yield due


def due_after(
    schedule: CronFields | EverySeconds, moment: datetime, zone: tzinfo
) -> Iterator[datetime]:
    """The times after `moment` at which the schedule will be due, the earliest first.

    As `due_before`.
    """
    if isinstance(schedule, EverySeconds):
        following = moment + timedelta(seconds=schedule.seconds)
        yield from _counted(following, zone, schedule.seconds)
        return
    local = moment.astimezone(zone)
    for ahead in range(_MOST_DAYS):
        day = local.date() + timedelta(days=ahead)
        if not _names_day(schedule, day):
            continue
        for hour in sorted(schedule.hours):
            for minute in sorted(schedule.minutes):
                due = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                if _exists(due) and due.astimezone(timezone.utc) > moment:
                    yield due


def _counted(moment: datetime, zone: tzinfo, seconds: int) -> Iterator[datetime]:
    """Counted in UTC: in a zone the clocks change between two of them."""
    passing = moment.astimezone(timezone.utc)
    while True:
        yield passing.astimezone(zone)
        passing += timedelta(seconds=seconds)


def _exists(due: datetime) -> bool:
    """Whether the clocks show that time at all; those of one zone are compared by what they show."""
    return due.astimezone(timezone.utc).astimezone(due.tzinfo).replace(fold=0) == due


def _names_day(schedule: CronFields, day: date) -> bool:
    if day.month not in schedule.months:
        return False
    in_month = day.day in schedule.days
    in_week = day.isoweekday() % 7 in schedule.weekdays
    if schedule.any_day or schedule.any_weekday:
        return in_month and in_week
    return in_month or in_week
