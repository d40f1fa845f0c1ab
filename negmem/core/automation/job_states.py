"""What stands of each job against what is wanted: its state, why, and what would put it right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from negmem.core.automation.job_catalog import WantedJob, command_starts, wanted_jobs
from negmem.core.models.change import JobState
from negmem.core.models.schedule import parse_cron
from negmem.core.session import Session
from negmem.core.text.sql_tokens import same_sql
from negmem.db.cron import Cron, schedule_statement, unschedule_statement
from negmem.db.cron_records import Basis, CronJob, RecordedJob, own_row
from negmem.errors import NegmemError

_Maker = Callable[..., "JudgedJob"]
Todo = Literal["create", "alter", "delete", "record"]


@dataclass(frozen=True)
class Leave:
    """Why something is left as it is, and what a person may do about it."""

    why: str
    hint: str


@dataclass(frozen=True)
class JudgedJob:
    """One job: its state, what differs, the row that is negmem's, what is to do, or why it is left.

    `differences` are semantic: schedule, command, database, owner, active, switched_off, duplicate,
    not_recorded, no_longer_wanted. `cosmetic` differ in spelling alone. `wanted` None: a job of negmem's
    record that no config asks for.
    """

    name: str
    app: str | None
    wanted: WantedJob | None
    status: JobState
    reason: str = ""
    differences: tuple[str, ...] = ()
    cosmetic: tuple[str, ...] = ()
    standing: CronJob | None = None
    recorded: RecordedJob | None = None
    todo: Todo | None = None
    leave: Leave | None = None


@dataclass(frozen=True)
class JobsView:
    """All jobs of the schema at one moment, and those that are not negmem's."""

    jobs: list[JudgedJob] = field(default_factory=list)
    others: list[CronJob] = field(default_factory=list)


def all_wanted(session: Session, basis: Basis, document: Mapping[str, Any]) -> list[WantedJob]:
    """The jobs of every app that has a config; `document` is that of the session's app.

    An app whose stored config is not usable is left out, with a warning.
    """
    found: list[WantedJob] = []
    for row in basis.configs:
        is_own = row["app"] == session.app
        try:
            found += wanted_jobs(
                document if is_own else row["config"],
                app=row["app"],
                is_main=row["is_main"],
                schema=session.database.schema,
            )
        except NegmemError:
            if is_own:
                raise
            session.warn(
                "stored_config_invalid",
                f'the stored config of app "{row["app"]}" is not usable; its jobs are left alone',
            )
    return found


def judge_all(
    basis: Basis,
    wanted: Sequence[WantedJob],
    cron: Cron | None,
    rows: Sequence[CronJob],
    here: str,
    *,
    adopts: bool = False,
) -> JobsView:
    """Every wanted job and every recorded one that nobody wants, against the rows of cron.job.

    Args: cron None, nobody looked, since nothing is on or recorded; here, negmem's database; adopts,
    what calls negmem's function under a job's name is taken over, and a job that another role
    scheduled, hidden from this one, is made anew.
    """
    judged = [_judge(basis, want, cron, rows, here, adopts) for want in wanted]
    names = {(job.name, job.app) for job in judged}
    skipped_apps = {row["app"] for row in basis.configs} - {want.app for want in wanted}
    for recorded in basis.recorded:
        if (recorded.name, recorded.app) in names or recorded.app in skipped_apps:
            continue
        if (left := _left_over(recorded, judged, rows, here)) is not None:
            judged.append(left)
    ours = {job.standing.job_id for job in judged if job.standing is not None}
    return JobsView(judged, [row for row in rows if row.job_id not in ours])


def _judge(
    basis: Basis,
    want: WantedJob,
    cron: Cron | None,
    rows: Sequence[CronJob],
    here: str,
    adopts: bool,
) -> JudgedJob:
    recorded = next((r for r in basis.recorded if (r.name, r.app) == (want.name, want.app)), None)

    def judged(status: JobState, reason: str = "", **more: Any) -> JudgedJob:
        return JudgedJob(want.name, want.app, want, status, reason, recorded=recorded, **more)

    if cron is None:
        return judged("disabled")
    by_hand = schedule_statement(want.name, want.schedule, want.command, here, cron.role)
    if not cron.is_reached:
        if not want.enabled:
            return judged("disabled")
        return judged(*_unreached(cron, basis), leave=Leave(_why_unreached(cron), by_hand))
    standing = own_row(recorded, rows, here) if recorded is not None else None
    same_name = [r for r in rows if r.name == want.name and r is not standing]
    if recorded is not None and standing is not None:
        return _judge_standing(judged, want, recorded, standing, same_name, rows, cron, here)
    unrecorded = [r for r in same_name if r.database == here]
    if unrecorded:
        return _judge_unrecorded(judged, want, unrecorded, cron, here, adopts)
    if not want.enabled:
        return judged("disabled")
    if (
        recorded is not None
        and recorded.database == here
        and recorded.owner != cron.role
        and recorded.owner_exists
        and not cron.facts.sees_all_jobs
        and not adopts
    ):
        seen = sum(r.name == want.name for r in rows)
        return judged(
            "unknown",
            f"visible as {cron.role}: {seen} of unknown; {recorded.owner} scheduled it",
            leave=Leave(
                f"{recorded.owner} scheduled it, and cron.job shows {cron.role} its own jobs alone",
                f"run negmem sync as {recorded.owner}; where it is gone from there: negmem sync --adopt",
            ),
        )
    taken = _taken(want, recorded, same_name, cron)
    return judged(
        "missing",
        "name_taken" if taken else "job_missing",
        todo="create",
        leave=taken or _not_permitted(cron, by_hand),
    )


def _unreached(cron: Cron, basis: Basis) -> tuple[JobState, str]:
    """The state of a job that is on where the jobs of pg_cron can't be read."""
    if cron.facts.state is None:
        return "unknown", cron.facts.reason
    if cron.facts.state == "created":
        return "degraded", "pg_cron_unavailable"
    if basis.has_scheduler:
        return "scheduled", "by the built-in scheduler"
    return "degraded", "pg_cron_not_installed"


def _why_unreached(cron: Cron) -> str:
    if cron.facts.state is None:
        return cron.facts.reason
    if cron.facts.state == "created":
        return f"{cron.role} may not read cron.job"
    return "pg_cron is not installed, and no built-in scheduler runs"


def _judge_standing(
    judged: _Maker,
    want: WantedJob,
    recorded: RecordedJob,
    row: CronJob,
    same_name: Sequence[CronJob],
    rows: Sequence[CronJob],
    cron: Cron,
    here: str,
) -> JudgedJob:
    if not want.enabled:
        leave = _foreign_owner(row, cron, unschedule_statement(row.job_id))
        return judged(
            "drifted",
            "switched_off",
            differences=("switched_off",),
            standing=row,
            todo="delete",
            leave=leave,
        )
    semantic, cosmetic = _compare(want, row, here)
    if row.owner != recorded.owner:
        semantic.append("owner")
    twins = [r for r in same_name if r.database == here] + [
        r
        for r in rows
        if r.name != want.name and r.database == here and _same_command(r.command, want.command)
    ]
    if twins:
        semantic.append("duplicate")
    if not semantic:
        return judged("scheduled", "by pg_cron", cosmetic=tuple(cosmetic), standing=row)
    by_hand = schedule_statement(want.name, want.schedule, want.command, here, recorded.owner)
    leave = _foreign_owner(row, cron, f"{unschedule_statement(row.job_id)} {by_hand}")
    if leave is None and semantic == ["duplicate"]:
        leave = _twin(twins)
    return judged(
        "drifted",
        ", ".join(semantic),
        differences=tuple(semantic),
        standing=row,
        todo="alter",
        leave=leave or _not_permitted(cron, by_hand),
    )


def _judge_unrecorded(
    judged: _Maker,
    want: WantedJob,
    rows: Sequence[CronJob],
    cron: Cron,
    here: str,
    adopts: bool,
) -> JudgedJob:
    """A job under our name, for our database, that negmem has no record of."""
    row = rows[0]
    is_ours_by_command = any(
        row.command.startswith(start) for start in command_starts(cron.database.schema)
    )
    if not want.enabled:
        if not is_ours_by_command:
            return judged("disabled")
        return judged(
            "drifted",
            "switched_off, not_recorded",
            differences=("switched_off", "not_recorded"),
            leave=_unowned(row),
        )
    if len(rows) > 1:
        return judged(
            "drifted",
            "duplicate, not_recorded",
            differences=("duplicate", "not_recorded"),
            leave=_twin(rows),
        )
    semantic, _ = _compare(want, row, here)
    if not semantic:
        is_taken = row.owner == cron.role or (adopts and cron.facts.sees_all_jobs)
        todo = "record" if is_taken else None
        return judged("scheduled", "by pg_cron", standing=row, todo=todo)
    if is_ours_by_command and (row.owner == cron.role or (adopts and cron.facts.sees_all_jobs)):
        differences = (*semantic, "not_recorded")
        return judged(
            "drifted",
            ", ".join(differences),
            differences=differences,
            standing=row,
            todo="alter",
            leave=None
            if adopts
            else Leave(
                f"job {row.job_id} has this name, and negmem did not schedule it",
                f"negmem automation reconcile {want.kind.key}    or: negmem sync --adopt",
            ),
        )
    differences = (*semantic, "not_recorded")
    return judged("drifted", ", ".join(differences), differences=differences, leave=_unowned(row))


def _compare(want: WantedJob, row: CronJob, here: str) -> tuple[list[str], list[str]]:
    """What differs in meaning, and what in spelling alone."""
    semantic: list[str] = []
    cosmetic: list[str] = []
    if row.schedule != want.schedule:
        (cosmetic if _same_schedule(row.schedule, want.schedule) else semantic).append("schedule")
    if row.command != want.command:
        (cosmetic if _same_command(row.command, want.command) else semantic).append("command")
    if row.database != here:
        semantic.append("database")
    if not row.active:
        semantic.append("active")
    return semantic, cosmetic


def _same_command(one: str, other: str) -> bool:
    return same_sql(one.rstrip().rstrip(";"), other)


def _same_schedule(one: str, other: str) -> bool:
    try:
        return parse_cron(one) == parse_cron(other)
    except ValueError:
        return False


def _left_over(
    recorded: RecordedJob, judged: Sequence[JudgedJob], rows: Sequence[CronJob], here: str
) -> JudgedJob | None:
    """A job of the record that no config asks for: its app is gone, or the prefix changed."""
    row = own_row(recorded, rows, here)
    if row is None:
        return None
    is_renamed = any(job.app == recorded.app and job.wanted is not None for job in judged)
    return JudgedJob(
        recorded.name,
        recorded.app,
        None,
        "drifted",
        "no_longer_wanted",
        differences=("no_longer_wanted",),
        standing=row,
        recorded=recorded,
        todo="delete",
        leave=None if is_renamed else Leave("deletes only when asked to", "negmem sync --prune"),
    )


def _foreign_owner(row: CronJob, cron: Cron, statement: str) -> Leave | None:
    """Why a job of another role is left: only a superuser may change it."""
    if row.owner == cron.role or cron.facts.sees_all_jobs:
        return None
    return Leave(f"{row.owner} owns job {row.job_id}", f"{statement}    as {row.owner}")


def _not_permitted(cron: Cron, by_hand: str) -> Leave | None:
    grants = cron.missing_grants()
    if not grants:
        return None
    return Leave(
        f'{cron.role} may not schedule jobs in database "{cron.facts.database}"',
        f"{' '.join(grants)}    as {cron.facts.owner}, or let an administrator run: {by_hand}",
    )


def _taken(
    want: WantedJob, recorded: RecordedJob | None, same_name: Sequence[CronJob], cron: Cron
) -> Leave | None:
    """pg_cron knows one job per name and owner: scheduling ours would replace that one."""
    for row in same_name:
        if row.owner == cron.role:
            why = (
                f'job {row.job_id} of database "{row.database}" has this name, and {cron.role}'
                " owns it: pg_cron would replace it"
            )
            if recorded is not None and recorded.database != cron.database.facts.database:
                why += f'; negmem\'s record is of database "{recorded.database}", this is a copy'
            return Leave(why, "negmem config set automation.jobs.prefix NAME_")
    return None


def _twin(rows: Sequence[CronJob]) -> Leave:
    named = ", ".join(f"{row.job_id} of {row.owner}" for row in rows)
    return Leave(
        f"job {named} does the same, and negmem did not schedule it",
        f"{unschedule_statement(rows[0].job_id)}    as {rows[0].owner}",
    )


def _unowned(row: CronJob) -> Leave:
    return Leave(
        f"job {row.job_id} of {row.owner} has this name, and negmem did not schedule it",
        f"{unschedule_statement(row.job_id)}    as {row.owner}, then negmem sync",
    )
