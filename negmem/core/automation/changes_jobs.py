"""Jobs in pg_cron: scheduled as the stored configs ask, under the name, command and owner recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from negmem.core.automation.declared import ConfigPlan
from negmem.core.automation.job_changes import JobConsent, JobScope
from negmem.core.automation.job_states import JudgedJob
from negmem.core.automation.part import Consent, Part, Refusal, digest
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.db.connect import Connection


@dataclass
class JobPart(Part):
    """The jobs as they stand. Those in another database than negmem's are put right after the commit."""

    document: Mapping[str, Any] = field(default_factory=dict)
    judged: dict[str, JudgedJob] = field(default_factory=dict)
    is_elsewhere: bool = False
    adopts: bool = False
    has_records_due: bool = False

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """What is not negmem's, not permitted, or deletes what no switch turned off."""
        job = self.judged[change.name]
        if change.significance == "cosmetic":
            return Refusal("it means the same", "")
        if "no_longer_wanted" in job.differences and consent.prune:
            return None
        return None if job.leave is None else Refusal(job.leave.why, job.leave.hint)

    def known(self) -> Iterator[tuple[str, str]]:
        """Every job by its name, and by that which the other commands take, without prefix and app."""
        yield from super().known()
        for name, job in self.judged.items():
            yield name, name
            if job.wanted is not None:
                yield job.wanted.kind.key, name

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Put right the jobs of pg_cron in this database, within the plan's transaction."""
        if (due or self.has_records_due) and not self.is_elsewhere:
            with JobScope(session, adopts=self.adopts) as scope:
                scope.put_right(self.document, self._consent(due))

    def finish(self, session: Session, due: Sequence[Change]) -> list[Change]:
        """Put right the jobs of pg_cron in another database; say which removed ones still run."""
        if not due and not self.has_records_due:
            return []
        with JobScope(session, adopts=self.adopts) as scope:
            if self.is_elsewhere:
                scope.put_right_elsewhere(self.document, self._consent(due))
            return scope.told(list(due), self._removed(due))

    def _removed(self, due: Sequence[Change]) -> dict[str, int]:
        rows = {c.name: self.judged[c.name].standing for c in due if c.action == "delete"}
        return {name: row.job_id for name, row in rows.items() if row is not None}

    def _consent(self, due: Sequence[Change]) -> JobConsent:
        recorded = {job.name for job in self.judged.values() if job.todo == "record"}
        return JobConsent(frozenset(recorded | {change.name for change in due}), prune=True)


def find(session: Session, config: ConfigPlan, *, adopt: bool = False) -> JobPart:
    """Compare the jobs that the stored configs ask for with those of pg_cron, where it can be asked.

    Within a transaction: pg_cron is looked at through a connection of its own. Args: adopt, jobs that
    negmem did not schedule are to be taken over.
    """
    with JobScope(session, adopts=adopt) as scope:
        view = scope.view(config.document)
        part = JobPart(
            changes=scope.changes(view),
            unmanaged=scope.unmanaged(view),
            unchanged=sum(job.status == "scheduled" for job in view.jobs),
            document=config.document,
            judged={job.name: job for job in view.jobs},
            is_elsewhere=scope.is_elsewhere,
            adopts=adopt,
            has_records_due=any(job.todo == "record" for job in view.jobs),
        )
    for job in view.jobs:
        if job.status == "unknown" and job.leave is not None:
            words = dict.fromkeys((job.leave.why, job.reason))
            session.warn("job_unknown_state", f"{job.name}: {'; '.join(words)}")
    here = session.database.facts.database
    moved = [j for j in view.jobs if j.recorded is not None and j.recorded.database != here]
    if moved:
        there = ", ".join(sorted({j.recorded.database for j in moved if j.recorded is not None}))
        names = ", ".join(job.name for job in moved)
        session.warn(
            "jobs_of_another_database",
            f'negmem recorded {names} for database "{there}", and this is "{here}": a copy, or restored',
        )
    seen = [[j.name, j.status, j.reason, j.standing and j.standing.text()] for j in view.jobs]
    part.seen = digest(seen)
    return part
