"""Old records of runs, deleted: negmem's own, and those of its jobs in pg_cron's log, which nothing trims."""

from __future__ import annotations

from negmem.config.automation import effective_automation
from negmem.core.automation.job_catalog import JOBS, command_starts
from negmem.core.models.job import PurgedRuns
from negmem.core.session import Session
from negmem.db import cron_history
from negmem.db.connect import Database
from negmem.db.cron import Cron
from negmem.db.cron_records import Basis, own_row, read_basis
from negmem.db.failures import NO_PRIVILEGE, DatabaseError
from negmem.errors import UsageError

_MOST_DAYS = 36_500


def purge(
    session: Session,
    *,
    older_than_days: int | None = None,
    dry_run: bool = False,
    database: Database | None = None,
) -> PurgedRuns:
    """Delete the records of runs that began longer ago than the lifetime, batch by batch.

    Of each job the last run that ended stays. In pg_cron's log only rows of negmem's own jobs are
    touched, also where pg_cron lives in another database; a log that can't be had is told as a warning.

    Args: older_than_days, 1..36500, default `retention.run_log_days`; database, another connection
    than the session's.
    Raises: UsageError `usage`, or the server's refusal.
    """
    days = session.config.retention.run_log_days if older_than_days is None else older_than_days
    if not 1 <= days <= _MOST_DAYS:
        raise UsageError(
            "usage",
            f"the lifetime is 1 to {_MOST_DAYS} days",
            why=f"got {days}",
            hint="negmem automation purge --older-than 90",
        )
    database = database or session.database
    keys = [job.key for job in JOBS]
    own = cron_history.purge_own(database, keys, days=days, dry_run=dry_run)
    theirs: int | None = None
    statement: str | None = None
    with Cron(database, timeout_ms=session.config.doctor.check_timeout_ms) as cron:
        if cron.facts.state is None:
            session.warn("pg_cron_logs_unavailable", f"pg_cron: {cron.facts.reason}")
        elif cron.facts.state == "created" and not (cron.is_reached and cron.facts.runs_readable):
            session.warn("pg_cron_logs_unavailable", f"{cron.role} may not read pg_cron's tables")
        elif cron.facts.state == "created":
            theirs, statement = _of_cron(session, cron, days, dry_run=dry_run)
    return PurgedRuns(
        dry_run=dry_run,
        keep_days=days,
        automation_runs=own,
        job_run_details=theirs,
        schedule_statement=statement,
    )


def _of_cron(
    session: Session, cron: Cron, days: int, *, dry_run: bool
) -> tuple[int | None, str | None]:
    basis = read_basis(cron.database)
    recorded = basis.recorded
    here = cron.database.facts.database
    ids = [r.job_id for r in recorded if r.job_id is not None]
    rows = cron.look_jobs([r.name for r in recorded], ids)
    own = [row for r in recorded if (row := own_row(r, rows, here)) is not None]
    statement = None
    if own:
        statement = cron_history.purge_statement(
            f"{_prefix(basis)}purge_run_log", [row.name for row in own], here, days
        )
    try:
        deleted = cron_history.purge(
            cron.home,
            [row.job_id for row in own],
            command_starts(cron.database.schema),
            here,
            days=days,
            dry_run=dry_run,
        )
    except DatabaseError as error:
        if error.sqlstate != NO_PRIVILEGE:
            raise
        session.warn(
            "pg_cron_logs_unavailable",
            f"GRANT DELETE ON cron.job_run_details TO {cron.role}; in database"
            f' "{cron.facts.database}": this role may not trim the log',
        )
        return None, statement
    return deleted, statement


def _prefix(basis: Basis) -> str:
    documents = [row["config"] for row in basis.configs if row["is_main"]]
    return effective_automation(documents[0] if documents else {}).jobs.prefix
