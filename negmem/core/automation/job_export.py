"""The jobs as files for schedulers outside the database: crontab, systemd, Kubernetes.

Each calls `negmem automation run`, so that the run is recorded and an overlapping one leaves. One more
trims the log of runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from negmem import __version__
from negmem.core.automation.job_catalog import WantedJob, job_named, wanted_jobs
from negmem.core.automation.stored import read_stored
from negmem.core.models.job import JobExport
from negmem.core.models.schedule import CronFields, EverySeconds, parse_cron
from negmem.core.session import Session
from negmem.errors import NegmemError

Format = Literal["crontab", "systemd", "kubernetes"]
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_ALL_WEEKDAYS, _ALL_DAYS = frozenset(range(7)), frozenset(range(1, 32))
_PLAIN_WORD = re.compile(r"[A-Za-z0-9@%_+=:,./-]+")
_ALL_MONTHS = frozenset(range(1, 13))


@dataclass(frozen=True)
class _Entry:
    """A command line and when it is due; `unit` is a name that systemd and Kubernetes take."""

    unit: str
    label: str
    schedule: str
    words: tuple[str, ...]


def export(session: Session, format_name: Format, keys: Sequence[str] = ()) -> JobExport:
    """The named jobs of the session's app, else those that are on, else all, in one format.

    Where none is named, `automation purge` follows them, once a day for all apps, and with
    `retention.purge_daily` `retention purge` for the app.
    The target is named by NEGMEM_DSN in the environment of what runs them: no secret is written.
    Raises: UsageError `job_unknown`, NegmemError `app_unknown`, `schedule_not_exportable`.
    """
    for key in keys:
        job_named(key, f"export --format {format_name}")
    stored = read_stored(session)
    jobs = wanted_jobs(
        stored.automation, app=stored.app, is_main=stored.is_main, schema=session.database.schema
    )
    chosen = [job for job in jobs if job.kind.key in keys]
    if not keys:
        chosen = [job for job in jobs if job.enabled]
        if not chosen:
            session.warn(
                "no_job_is_on", "no job is switched on in the stored config: all are shown"
            )
            chosen = jobs
    entries = [_entry(session, job) for job in chosen]
    if not keys:
        entries.append(_purge(session))
        if session.config.retention.purge_daily:
            entries.append(_purge_expired(session))
    writers: dict[str, Callable[[Sequence[_Entry]], str]] = {
        "crontab": _crontab,
        "systemd": _systemd,
        "kubernetes": _kubernetes,
    }
    text = writers[format_name](entries)
    return JobExport(format=format_name, jobs=[job.kind.key for job in chosen], text=text)


def _unit_name(job: WantedJob) -> str:
    """A name that systemd and Kubernetes take; one an app, whatever characters the app's has."""
    name = f"negmem-{job.kind.key.replace('_', '-')}"
    if job.app_argument is None:
        return name
    plain = re.sub(r"[^a-z0-9]+", "-", job.app.lower()).strip("-")[:12]
    digest = hashlib.sha256(job.app.encode()).hexdigest()[:6]
    return "-".join(part for part in (name, plain, digest) if part)


def _entry(session: Session, job: WantedJob) -> _Entry:
    words = ["negmem", "automation", "run", job.kind.key, "-q"]
    if job.app_argument is not None:
        words += ["--app", job.app]
    return _Entry(_unit_name(job), job.kind.label, job.schedule, (*words, *_schema(session)))


def _purge(session: Session) -> _Entry:
    """What the built-in scheduler does by itself; cron's tables have no other way to it."""
    words = ("negmem", "automation", "purge", "-q", *_schema(session))
    return _Entry("negmem-purge-run-log", "log of runs", "45 2 * * *", words)


def _purge_expired(session: Session) -> _Entry:
    words = ("negmem", "retention", "purge", "-q", "--yes", "--app", session.app, *_schema(session))
    return _Entry("negmem-retention-purge", "what is over its lifetime", "15 3 * * *", words)


def _schema(session: Session) -> tuple[str, ...]:
    schema = session.database.schema
    return () if schema == "negentropy" else ("--schema", schema)


def _crontab(entries: Sequence[_Entry]) -> str:
    lines = [
        "# negmem jobs; the fields are meant in UTC. Give NEGMEM_DSN here or in the environment.",
        "# Debian's cron takes the machine's zone whatever CRON_TZ says.",
        "CRON_TZ=UTC",
        "",
    ]
    for entry in entries:
        if isinstance(parse_cron(entry.schedule), EverySeconds):
            raise _not_exportable(entry, "crontab", "a crontab knows no seconds")
        command = shlex.join(entry.words).replace("%", r"\%")
        lines.append(f"{' '.join(entry.schedule.split())} {command}")
    return "\n".join(lines) + "\n"


def _systemd(entries: Sequence[_Entry]) -> str:
    parts = []
    for entry in entries:
        name = entry.unit
        words = [word.replace("%", "%%").replace("$", "$$") for word in entry.words]
        command = " ".join(
            w if _PLAIN_WORD.fullmatch(w) else json.dumps(w, ensure_ascii=False) for w in words
        )
        parts.append(
            f"# /etc/systemd/system/{name}.service\n"
            f"[Unit]\nDescription=negmem {entry.label}\nAfter=network-online.target\n\n"
            "[Service]\nType=oneshot\n# NEGMEM_DSN=...\nEnvironmentFile=/etc/negmem/environment\n"
            f"ExecStart=/usr/bin/env {command}\n"
        )
        parts.append(
            f"# /etc/systemd/system/{name}.timer\n"
            f"[Unit]\nDescription=negmem {entry.label}\n\n"
            f"[Timer]\n{_timer_lines(entry)}\n\n[Install]\nWantedBy=timers.target\n"
        )
    names = " ".join(f"{entry.unit}.timer" for entry in entries)
    return "\n".join(parts) + f"\n# systemctl daemon-reload && systemctl enable --now {names}\n"


def _timer_lines(entry: _Entry) -> str:
    schedule = parse_cron(entry.schedule)
    if isinstance(schedule, EverySeconds):
        return f"OnActiveSec={schedule.seconds}\nOnUnitActiveSec={schedule.seconds}\nAccuracySec=1"
    lines = [f"OnCalendar={calendar}" for calendar in calendars(schedule)]
    return "\n".join(
        [*lines, "# a run that was missed while the machine was off is caught up once"]
    ) + ("\nPersistent=true")


def calendars(schedule: CronFields) -> list[str]:
    """A cron schedule as OnCalendar expressions in UTC: two where cron means day OR weekday."""
    clock = f"{_listed(schedule.hours, range(24))}:{_listed(schedule.minutes, range(60))}:00"
    months = _listed(schedule.months, _ALL_MONTHS)
    days = _listed(schedule.days, _ALL_DAYS)
    weekdays = ""
    if schedule.weekdays != _ALL_WEEKDAYS:
        weekdays = ",".join(_WEEKDAYS[day] for day in sorted(schedule.weekdays)) + " "
    if schedule.any_day or schedule.any_weekday:
        return [f"{weekdays}*-{months}-{days} {clock} UTC"]
    return [f"*-{months}-{days} {clock} UTC", f"{weekdays}*-{months}-* {clock} UTC"]


def _listed(values: frozenset[int], whole: Iterable[int]) -> str:
    if values == frozenset(whole):
        return "*"
    return ",".join(f"{value:02d}" for value in sorted(values))


def _kubernetes(entries: Sequence[_Entry]) -> str:
    documents = []
    for entry in entries:
        if isinstance(parse_cron(entry.schedule), EverySeconds):
            raise _not_exportable(entry, "kubernetes", "a CronJob knows no seconds")
        arguments = json.dumps(entry.words, ensure_ascii=False)
        schedule = json.dumps(" ".join(entry.schedule.split()))
        documents.append(
            f"""apiVersion: batch/v1
kind: CronJob
metadata:
  name: {entry.unit}
spec:
  schedule: {schedule}
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 3600
  jobTemplate:
    spec:
      backoffLimit: 1
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: negmem
              image: negmem:{__version__}  # your image with negmem in it
              command: {arguments}
              env:
                - name: NEGMEM_DSN
                  valueFrom:
                    secretKeyRef:
                      name: negmem
                      key: dsn
"""
        )
    return "---\n".join(documents)


def _not_exportable(entry: _Entry, format_name: str, why: str) -> NegmemError:
    return NegmemError(
        "schedule_not_exportable",
        f"{entry.unit} can't be scheduled by {format_name}",
        why=f"{entry.schedule!r}: {why}",
        hint="negmem automation export --format systemd    or: negmem scheduler run",
    )
