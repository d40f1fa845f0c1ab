"""The jobs' part of `diff` and `sync`: what differs, and putting it right through pg_cron's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from negmem.core.automation.job_catalog import JOBS, refuse_long_name
from negmem.core.automation.job_states import JobsView, JudgedJob, all_wanted, judge_all
from negmem.core.models.change import Action, Change, SkippedChange, UnmanagedObject
from negmem.core.session import Session
from negmem.db import cron_records, ledger
from negmem.db.cron import Cron
from negmem.db.cron_records import Basis, CronJob, definition_text, read_basis
from negmem.errors import NegmemError

_ACTIONS: dict[str, Action] = {"create": "create", "alter": "update", "delete": "delete"}


@dataclass(frozen=True)
class JobOutcome:
    """What was done about the jobs (or would be), what was left with the reason, removed ids by name."""

    applied: list[Change] = field(default_factory=list)
    skipped: list[SkippedChange] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JobConsent:
    """What may be done: only these jobs; jobs that nobody wants; those without a record.

    `refusal`: why nothing at all may be done, and what to do about that.
    """

    names: frozenset[str] | None = None
    prune: bool = False
    adopt: bool = False
    refusal: tuple[str, str] | None = None


class JobScope:
    """The jobs of a schema for one command. Opened outside a transaction, closes what it opened.

    Asks about pg_cron only where a job is on or recorded, or when told to. Args: adopts, jobs that negmem
    did not schedule, or another role for it, are to be taken over.
    """

    def __init__(
        self, session: Session, *, always_look: bool = False, adopts: bool = False
    ) -> None:
        self.session = session
        self.adopts = adopts
        self.database = session.database
        self.basis = read_basis(self.database)
        timeout_ms = session.config.doctor.check_timeout_ms
        must_look = always_look or self._concerns()
        self.cron = Cron(self.database, timeout_ms=timeout_ms) if must_look else None

    def _concerns(self) -> bool:
        documents: list[Mapping[str, Any]] = [row["config"] for row in self.basis.configs]
        documents.append(self.session.loaded.declared_automation or {})
        return bool(self.basis.recorded) or any(
            isinstance(section := document.get(job.section), Mapping) and section.get(job.switch)
            for document in documents
            for job in JOBS
        )

    @property
    def is_elsewhere(self) -> bool:
        """Whether the jobs stand in another database than negmem's tables."""
        return self.cron is not None and self.cron.is_reached and not self.cron.is_here

    def view(self, document: Mapping[str, Any]) -> JobsView:
        """All jobs as they stand; outside a transaction. `document`: of the session's app."""
        return self._judged(self.basis, document, Cron.look_jobs)

    def _judged(
        self,
        basis: Basis,
        document: Mapping[str, Any],
        read: Callable[[Cron, Sequence[str], Sequence[int]], list[CronJob]],
    ) -> JobsView:
        wanted = all_wanted(self.session, basis, document)
        rows: list[CronJob] = []
        if self.cron is not None and self.cron.is_reached:
            names = {w.name for w in wanted} | {r.name for r in basis.recorded}
            ids = [r.job_id for r in basis.recorded if r.job_id is not None]
            rows = read(self.cron, sorted(names), ids)
        here = self.database.facts.database
        return judge_all(basis, wanted, self.cron, rows, here, adopts=self.adopts)

    def put_right(self, document: Mapping[str, Any], consent: JobConsent) -> JobOutcome:
        """Make the jobs agree, within the caller's transaction on negmem's database.

        For pg_cron in that database; `put_right_elsewhere` is for another. Raises: NegmemError
        `job_name_too_long`, or the server's refusal.
        """
        if self.cron is None:
            return JobOutcome()
        view = self._judged(
            read_basis(self.database), document, Cron.read_jobs if self.cron.is_here else _none
        )
        due, skipped = self._sorted_out(view, consent)
        records = [self._act(job) for job in due]
        for write in records:
            write()
        return self._outcome(due, skipped)

    def put_right_elsewhere(self, document: Mapping[str, Any], consent: JobConsent) -> JobOutcome:
        """Make the jobs agree in pg_cron's own database: idempotent, after all else stands.

        Raises: NegmemError `jobs_not_applied`, which says what stands.
        """
        assert self.cron is not None
        home = self.cron.home
        try:
            with home.transaction():
                self.cron.lock()
                view = self._judged(read_basis(self.database), document, Cron.read_jobs)
                due, skipped = self._sorted_out(view, consent)
                records = [self._act(job) for job in due]
            if records:
                with self.database.transaction():
                    for write in records:
                        write()
        except NegmemError as error:
            if error.code == "job_name_too_long":
                raise
            raise NegmemError(
                "jobs_not_applied",
                "config and functions stand as declared, the jobs do not",
                why=f'database "{home.facts.database}", where pg_cron lives: {error.message}'
                f" ({error.why})",
                hint="negmem sync    goes on where this stopped",
            ) from error
        return self._outcome(due, skipped)

    def carry_out(self, document: Mapping[str, Any], consent: JobConsent) -> JobOutcome:
        """`put_right` in a transaction of its own, wherever pg_cron lives."""
        if self.is_elsewhere:
            outcome = self.put_right_elsewhere(document, consent)
        else:
            with self.database.transaction() as connection:
                ledger.lock_schema(self.database, connection)
                outcome = self.put_right(document, consent)
        return replace(outcome, applied=self.told(outcome.applied, outcome.removed))

    def refresh(self) -> None:
        """Read anew what negmem's own database says of jobs."""
        self.basis = read_basis(self.database)

    def planned(self, document: Mapping[str, Any], consent: JobConsent) -> JobOutcome:
        """What `put_right` would do; outside a transaction."""
        due, skipped = self._sorted_out(self.view(document), consent)
        return self._outcome(due, skipped)

    def changes(self, view: JobsView) -> list[Change]:
        """What differs, by job. What can't be known or had is no difference: see the jobs' states."""
        due = [job for job in view.jobs if job.status in ("missing", "drifted") or job.cosmetic]
        going = {j.name: j.standing.job_id for j in due if j.todo == "delete" and j.standing}
        pids = self._pids(list(going.values()))
        return [
            _with_detail(self.change(job), f"runs now, pid {pids[going[job.name]]}")
            if going.get(job.name) in pids
            else self.change(job)
            for job in due
        ]

    def unmanaged(self, view: JobsView) -> list[UnmanagedObject]:
        """Jobs for this database, or under a job's name, that are not negmem's."""
        return [
            UnmanagedObject(kind="job", name=row.name or f"job {row.job_id}") for row in view.others
        ]

    def _sorted_out(
        self, view: JobsView, consent: JobConsent
    ) -> tuple[list[JudgedJob], list[SkippedChange]]:
        due: list[JudgedJob] = []
        skipped: list[SkippedChange] = []
        for job in view.jobs:
            if consent.names is not None and job.name not in consent.names:
                continue
            if job.todo == "record":
                due.append(job)
                continue
            if job.status not in ("missing", "drifted"):
                continue
            leave = self._leave(job, consent)
            if leave is None and job.todo is not None:
                if job.wanted is not None and job.todo != "delete":
                    refuse_long_name(job.wanted)
                due.append(job)
                continue
            why, hint = leave or ("negmem did not schedule it", "negmem automation show")
            skipped.append(SkippedChange(**self.change(job).model_dump(), why=why, hint=hint))
        return due, skipped

    def _leave(self, job: JudgedJob, consent: JobConsent) -> tuple[str, str] | None:
        if consent.refusal is not None:
            return consent.refusal
        if job.leave is None:
            return None
        if "no_longer_wanted" in job.differences and consent.prune:
            return None
        if "not_recorded" in job.differences and job.todo == "alter" and consent.adopt:
            return None
        return job.leave.why, job.leave.hint

    def _act(self, job: JudgedJob) -> Callable[[], None]:
        """Do what is to do in pg_cron; returns what then is to be written into negmem's record."""
        cron, row, want = self.cron, job.standing, job.wanted
        assert cron is not None
        if job.todo == "delete":
            assert row is not None
            cron.unschedule(row.job_id)
            return lambda: cron_records.forget(self.database, job.name, job.app)
        assert want is not None
        owner = cron.role
        if job.todo == "create":
            kept = job.recorded
            if kept is not None and kept.owner_exists and cron.facts.sees_all_jobs:
                owner = kept.owner
            job_id = cron.schedule(
                want.name, want.schedule, want.command, owner=None if owner == cron.role else owner
            )
        else:
            assert row is not None
            job_id, owner = row.job_id, row.owner
            if job.todo == "alter":
                job_id, owner = self._alter(job, row)
        return lambda: cron_records.record(
            self.database,
            want.name,
            want.app,
            job_id=job_id,
            owner=owner,
            schedule=want.schedule,
            command=want.command,
        )

    def _alter(self, job: JudgedJob, row: CronJob) -> tuple[int, str]:
        cron, want = self.cron, job.wanted
        assert cron is not None
        assert want is not None
        owner = row.owner
        if "owner" in job.differences and job.recorded is not None and job.recorded.owner_exists:
            owner = job.recorded.owner
        if cron.may_alter:
            cron.alter(row, want.schedule, want.command)
            if owner != row.owner:
                cron.give(row, owner)
            return row.job_id, owner
        # Without alter_job a job is scheduled anew: that needs what scheduling needs, and no more.
        cron.unschedule(row.job_id)
        return cron.schedule(want.name, want.schedule, want.command), cron.role

    def change(self, job: JudgedJob) -> Change:
        """One job's difference as `diff` and `sync` tell it."""
        row, want = job.standing, job.wanted
        here = self.database.facts.database
        after = None
        if want is not None and want.enabled:
            owner = job.recorded.owner if job.recorded is not None else ""
            owner = owner or (self.cron.role if self.cron is not None else "")
            after = definition_text(want.schedule, want.command, here, owner, True)
        is_cosmetic = job.status not in ("missing", "drifted")
        action: Action = "update"
        if job.todo in _ACTIONS:
            action = _ACTIONS[job.todo]
        elif "switched_off" in job.differences:
            action = "delete"
        return Change(
            kind="job",
            name=job.name,
            state="missing" if job.status == "missing" else "drifted",
            reason="missing"
            if job.status == "missing"
            else ", ".join(job.differences) or "spelling",
            action=action,
            significance="cosmetic" if is_cosmetic else "semantic",
            before=None if row is None else row.text(),
            after=after,
            differences=list(job.cosmetic if is_cosmetic else job.differences),
            detail=self._detail(job),
        )

    def _detail(self, job: JudgedJob) -> str:
        parts = [] if job.standing is None else [f"job {job.standing.job_id}"]
        if self.cron is not None and self.cron.facts.is_elsewhere:
            parts.append(f'in "{self.cron.facts.database}"')
        return " ".join(parts)

    def _outcome(self, due: Sequence[JudgedJob], skipped: list[SkippedChange]) -> JobOutcome:
        return JobOutcome(
            [self.change(job) for job in due if job.todo != "record"],
            skipped,
            {j.name: j.standing.job_id for j in due if j.todo == "delete" and j.standing},
        )

    def told(self, changes: Sequence[Change], removed: Mapping[str, int]) -> list[Change]:
        """What was done; a removed job that still runs with its process. Outside a transaction."""
        pids = self._pids(list(removed.values()))
        return [
            _with_detail(change, f"removed, still running pid {pids[removed[change.name]]}")
            if removed.get(change.name) in pids
            else change
            for change in changes
        ]

    def _pids(self, job_ids: Sequence[int]) -> dict[int, int]:
        """The process of each of these jobs that runs now."""
        if self.cron is None or not job_ids:
            return {}
        return {run.job_id: run.pid for run in self.cron.running(job_ids)}

    def close(self) -> None:
        """Close the database of pg_cron, where it is another one."""
        if self.cron is not None:
            self.cron.close()

    def __enter__(self) -> JobScope:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _none(cron: Cron, names: Sequence[str], job_ids: Sequence[int]) -> list[CronJob]:
    return []


def _with_detail(change: Change, detail: str) -> Change:
    parts = [part for part in (change.detail, detail) if part]
    return change.model_copy(update={"detail": ", ".join(parts)})
