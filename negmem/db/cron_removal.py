"""The jobs that negmem scheduled, taken out of pg_cron when negmem itself goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from negmem.db.connect import Database
from negmem.db.cron import Cron, unschedule_statement
from negmem.db.cron_records import own_row, read_basis

_TIMEOUT_MS = 5_000


@dataclass(frozen=True)
class RemovedJobs:
    """Jobs by name that are taken away (or can be), and those that stay, each with the reason."""

    removed: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)


def remove_jobs(database: Database, *, dry_run: bool) -> RemovedJobs:
    """Unschedule the recorded jobs, in whichever database pg_cron lives. Outside a transaction.

    Raises: the server's refusal; no job is unscheduled then.
    """
    recorded = read_basis(database).recorded
    found = RemovedJobs()
    if not recorded:
        return found
    with Cron(database, timeout_ms=_TIMEOUT_MS) as cron:
        if not cron.is_reached:
            if cron.facts.state in (None, "created"):
                why = cron.facts.reason or f"{cron.role} may not read cron.job"
                found.kept.update({job.name: why for job in recorded})
            return found
        ids = [job.job_id for job in recorded if job.job_id is not None]
        rows = cron.look_jobs([job.name for job in recorded], ids)
        going = []
        for job in recorded:
            row = own_row(job, rows, database.facts.database)
            if row is None:
                continue
            if row.owner != cron.role and not cron.facts.sees_all_jobs:
                found.kept[job.name] = f"{unschedule_statement(row.job_id)} as {row.owner}"
                continue
            found.removed.append(job.name)
            going.append(row.job_id)
        if going and not dry_run:
            with cron.home.transaction():
                for job_id in going:
                    cron.unschedule(job_id)
    return found
