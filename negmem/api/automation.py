"""`mem.automation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.api.arguments import Noun

if TYPE_CHECKING:
    from negmem.core.models.change import AutomationSnapshot, JobSwitch, Reconciled
    from negmem.core.models.config import ConfigHistory
    from negmem.core.models.job import JobRun, PurgedRuns, RunLog


class Automation(Noun):
    """`mem.automation`: config, functions and the predefined jobs."""

    def show(self) -> AutomationSnapshot:
        """Config, functions, jobs and what the database can carry, each with its state."""
        from negmem.core.automation.snapshot import snapshot

        return snapshot(self._owner.session)

    def enable(self, job: str, *, dry_run: bool = False) -> JobSwitch:
        """Store the wish that a job run; says whether anything runs it."""
        from negmem.core.automation.jobs import switch

        return switch(self._owner.session, job, True, dry_run=dry_run)

    def disable(self, job: str, *, dry_run: bool = False) -> JobSwitch:
        """Store the wish that a job not run."""
        from negmem.core.automation.jobs import switch

        return switch(self._owner.session, job, False, dry_run=dry_run)

    def reconcile(self, job: str, *, dry_run: bool = False) -> Reconciled:
        """Make pg_cron hold one job as the stored config asks."""
        from negmem.core.automation.jobs import reconcile

        return reconcile(self._owner.session, job, dry_run=dry_run)

    def run(self, job: str, *, dry_run: bool = False) -> JobRun:
        """Run one job now, with or without pg_cron."""
        from negmem.core.automation.job_runs import run

        return run(self._owner.session, job, dry_run=dry_run)

    def purge(self, *, older_than_days: int | None = None, dry_run: bool = False) -> PurgedRuns:
        """Delete old records of runs, of negmem's jobs alone. Default: `retention.run_log_days`."""
        from negmem.core.automation.run_history import purge

        return purge(self._owner.session, older_than_days=older_than_days, dry_run=dry_run)

    def logs(self, job: str | None = None, *, limit: int = 20) -> RunLog:
        """Recent runs, newest first, each saying what ran it."""
        from negmem.core.automation.job_runs import logs

        return logs(self._owner.session, job, limit=limit)

    def history(self, *, limit: int = 20) -> ConfigHistory:
        """Who changed which keys of the stored config, when and by which command; newest first."""
        from negmem.core.automation.stored import history

        return history(self._owner.session, limit=limit)
