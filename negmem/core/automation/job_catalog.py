"""The predefined jobs: their switches in the config, their names and their commands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from negmem.config.automation import effective_automation
from negmem.db.sqlfiles import blocks, fill, quote_identifier, quote_literal
from negmem.errors import NegmemError, UsageError

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
# What the column of a name holds in PostgreSQL; older versions of pg_cron cut longer ones in silence.
MAX_NAME_BYTES = 63


@dataclass(frozen=True)
class JobKind:
    """One predefined job; `switch` and `schedule` are paths in the automation document."""

    key: str
    label: str
    function: str
    section: str
    switch: str
    schedule: str

    @property
    def switch_key(self) -> str:
        """The dotted key that turns the job on."""
        return f"automation.{self.section}.{self.switch}"


JOBS = (
    JobKind(
        "cleanup_memories",
        "Ebbinghaus Cleanup",
        "cleanup_low_value_memories",
        "retention",
        "auto_cleanup_enabled",
        "cleanup_schedule",
    ),
    JobKind(
        "trigger_consolidation",
        "Maintenance Consolidation",
        "trigger_maintenance_consolidation",
        "consolidation",
        "enabled",
        "schedule",
    ),
    JobKind(
        "reweight_relevance",
        "Rocchio Reweight",
        "reweight_all_users_relevance",
        "reweight_relevance",
        "enabled",
        "schedule",
    ),
)


def job_named(key: str, verb: str = "enable") -> JobKind:
    """The predefined job of this name. Raises: UsageError `job_unknown`, its remedy with `verb`."""
    for job in JOBS:
        if job.key == key:
            return job
    names = [job.key for job in JOBS]
    near = difflib.get_close_matches(key, names, n=1)
    raise UsageError(
        "job_unknown",
        f'there is no job "{key}"',
        why=f"the jobs are {', '.join(names)}",
        hint=f"negmem automation {verb} {near[0] if near else names[0]}",
    )


def command_of(job: JobKind, automation: Mapping[str, Any], schema: str, app: str | None) -> str:
    """The statement that the job runs. `app` None: the main app, which needs no argument."""
    retention = automation["retention"]
    arguments = {
        "cleanup_memories": [
            str(retention["low_retention_threshold"]),
            str(retention["min_age_days"]),
            str(retention["decay_lambda"]),
        ],
        "trigger_consolidation": [
            f"{quote_literal(automation['consolidation']['lookback_interval'])}::interval"
        ],
        "reweight_relevance": [],
    }[job.key]
    if app is not None:
        arguments.append(f"p_app_name => {quote_literal(app)}")
        if job.key == "cleanup_memories":
            # The defaults of the function are the main app's.
            arguments.append(f"p_max_share => {retention['max_share']}")
            arguments.append(f"p_max_rows => {retention['max_rows']}")
    named = schema if _PLAIN.fullmatch(schema) else quote_identifier(schema)
    values = {"schema": named, "arguments": ", ".join(arguments)}
    return str(fill(blocks("automation")[job.key], values))


@dataclass(frozen=True)
class WantedJob:
    """One job as a stored config asks for it. `app_argument` None: the main app's."""

    kind: JobKind
    app: str
    app_argument: str | None
    name: str
    enabled: bool
    schedule: str
    command: str


def wanted_jobs(
    document: Mapping[str, Any], *, app: str, is_main: bool, schema: str
) -> list[WantedJob]:
    """The predefined jobs of an app by its automation document.

    Raises: NegmemError `stored_config_invalid`.
    """
    automation = effective_automation(document).model_dump(mode="json")
    argument = None if is_main else app
    suffix = "" if is_main else f"@{app}"
    return [
        WantedJob(
            kind=job,
            app=app,
            app_argument=argument,
            name=f"{automation['jobs']['prefix']}{job.key}{suffix}",
            enabled=bool(automation[job.section][job.switch]),
            schedule=str(automation[job.section][job.schedule]),
            command=command_of(job, automation, schema, argument),
        )
        for job in JOBS
    ]


def command_starts(schema: str) -> list[str]:
    """How the commands of all jobs begin, to know them by."""
    named = schema if _PLAIN.fullmatch(schema) else quote_identifier(schema)
    return [f"SELECT {named}.{job.function}(" for job in JOBS]


def refuse_long_name(job: WantedJob) -> None:
    """Raises: NegmemError `job_name_too_long`."""
    size = len(job.name.encode())
    if size > MAX_NAME_BYTES:
        raise NegmemError(
            "job_name_too_long",
            f"the name of the job would have {size} bytes, at most {MAX_NAME_BYTES}",
            why=job.name,
            hint="negmem config set automation.jobs.prefix ''    or a shorter name of the app",
        )
