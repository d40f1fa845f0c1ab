"""Jobs as lines for other schedulers: cron's day-or-weekday, quoting, and what can't be said."""

from __future__ import annotations

import pytest

from negmem.core.automation.job_catalog import (
    JOBS,
    command_starts,
    job_named,
    refuse_long_name,
    wanted_jobs,
)
from negmem.core.automation.job_export import calendars
from negmem.core.models.schedule import CronFields, parse_cron
from negmem.errors import NegmemError, UsageError


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 2 * * *", ["*-*-* 02:00:00 UTC"]),
        ("0 */6 * * *", ["*-*-* 00,06,12,18:00:00 UTC"]),
        ("* * * * *", ["*-*-* *:*:00 UTC"]),
        ("30 4 * * 1", ["Mon *-*-* 04:30:00 UTC"]),
        ("30 4 1 1,7 *", ["*-01,07-01 04:30:00 UTC"]),
        # Neither day field is *: cron means either, so it takes two lines.
        ("0 0 13 * 5", ["*-*-13 00:00:00 UTC", "Fri *-*-* 00:00:00 UTC"]),
        ("0 0 * * 0,7", ["Sun *-*-* 00:00:00 UTC"]),
    ],
)
def test_a_cron_text_as_calendar(schedule: str, expected: list[str]) -> None:
    fields = parse_cron(schedule)
    assert isinstance(fields, CronFields)
    assert calendars(fields) == expected


def test_commands_are_those_of_the_reference_at_the_default_config() -> None:
    jobs = wanted_jobs({}, app="negmem", is_main=True, schema="negentropy")
    assert [(job.name, job.command, job.enabled) for job in jobs] == [
        (
            "cleanup_memories",
            "SELECT negentropy.cleanup_low_value_memories(0.0001, 640, 0.1)",
            False,
        ),
        (
            "trigger_consolidation",
            "SELECT negentropy.trigger_maintenance_consolidation('1 hour'::interval)",
            False,
        ),
        ("reweight_relevance", "SELECT negentropy.reweight_all_users_relevance()", False),
    ]


def test_names_and_texts_of_other_apps_and_schemas_are_quoted() -> None:
    document = {
        "jobs": {"prefix": "crm."},
        "consolidation": {"lookback_interval": "1 day 02:00:00"},
    }
    jobs = wanted_jobs(document, app="l'été \\ 店", is_main=False, schema='My "Schema"')
    assert [job.name for job in jobs] == [f"crm.{job.key}@l'été \\ 店" for job in JOBS]
    assert jobs[1].command == (
        'SELECT "My ""Schema""".trigger_maintenance_consolidation(\'1 day 02:00:00\'::interval,'
        " p_app_name =>  E'l''été \\\\ 店')"
    )
    for job, start in zip(jobs, command_starts('My "Schema"'), strict=True):
        assert job.command.startswith(start)


def test_a_name_is_measured_in_bytes() -> None:
    short, long = (
        wanted_jobs({}, app=app, is_main=False, schema="s")[0] for app in ("x" * 46, "店" * 16)
    )
    refuse_long_name(short)
    with pytest.raises(NegmemError) as refusal:
        refuse_long_name(long)
    assert refusal.value.code == "job_name_too_long"
    assert "65 bytes" in refusal.value.message


@pytest.mark.parametrize("verb", ["run", "reconcile"])
def test_an_unknown_job_is_refused_with_the_nearest(verb: str) -> None:
    with pytest.raises(UsageError) as refusal:
        job_named("reweight", verb)
    assert refusal.value.hint == f"negmem automation {verb} reweight_relevance"
