"""`diff` says what differs, `sync` makes the database agree: all of it or nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from negmem.core.automation.changes_roles import ROLES_MISSING
from negmem.core.automation.declared import apply_config
from negmem.core.automation.jobs import degraded_reasons, job_states, warn_of_unscheduled
from negmem.core.automation.part import Consent as Consent
from negmem.core.automation.part import Refusal
from negmem.core.automation.plan import Plan, make_plan
from negmem.core.automation.plan_file import PlanFile, check_plan, planned
from negmem.core.models.change import Change, Difference, SkippedChange, SyncReport
from negmem.core.session import Session
from negmem.db import ledger
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError

_PATIENCE_S = 60.0
_PASSING = frozenset({"schema_locked", "lock_timeout", "deadlock"})
_ACCESS = frozenset({"owner_changed", "grants_changed"})
_EITHER_SIDE = "negmem sync --take yaml    or: negmem sync --take stored"


@dataclass
class _Decided:
    """What to do with each change of a plan: by part, in the plan's order."""

    due: dict[int, list[Change]] = field(default_factory=dict)
    applied: list[Change] = field(default_factory=list)
    skipped: list[SkippedChange] = field(default_factory=list)

    def skip(self, change: Change, reason: Refusal) -> None:
        """Leave a change, with why and what would make it."""
        self.skipped.append(SkippedChange(**change.model_dump(), why=reason.why, hint=reason.hint))

    def retell(self, made: Sequence[Change]) -> None:
        """Take over what is known of changes only once they are made.

        An index that another process built while this one waited is none of ours.
        """
        told = {(change.kind, change.name): change for change in made}
        self.applied = [
            told.get((change.kind, change.name), change)
            for change in self.applied
            if change.kind != "index" or (change.kind, change.name) in told
        ]


def diff(session: Session, names: Sequence[str] = ()) -> Difference:
    """What differs between YAML, stored config and what stands. Changes nothing.

    Args: names, of functions, config keys or other things; none means all.
    Raises: UsageError `name_unknown`, NegmemError `app_unknown`, `stored_config_invalid`, and as
    `require_installed`.
    """
    session.require_installed()
    database = session.database
    read_only = database.facts.in_recovery or database.facts.read_only
    with database.transaction(read_only=read_only) as connection:
        plan = make_plan(session, connection)
    _warn_of_reduced(session, plan)
    path = session.loaded.path
    asked = plan.named(names)
    changes = [c for c in plan.changes if not names or c.name in asked]
    shown = {(change.kind, change.name) for change in changes}
    left = _decide(plan, Consent()).skipped
    return Difference(
        drift=any(change.significance == "semantic" for change in changes),
        changes=changes,
        left_by_sync=[change for change in left if (change.kind, change.name) in shown],
        unmanaged=plan.unmanaged,
        unchanged=max(0, len(asked) - len(changes)) if names else plan.unchanged,
        declared_in=None if path is None or plan.config.yaml_hash is None else str(path),
        target=database.label,
        schema_name=database.schema,
        app=session.app,
    )


def sync(
    session: Session,
    consent: Consent | None = None,
    *,
    dry_run: bool = False,
    plan_file: PlanFile | None = None,
) -> SyncReport:
    """Make what stands agree with what is declared, in one transaction.

    Hand-edited functions stay as they are unless `consent` says otherwise, and so does everything
    where YAML and stored config both changed. Indexes are built after the commit, while others read
    and write. A second run changes nothing. Eight at once end in one result: the schema's lock lets
    one plan at a time. Locks are waited for briefly and again, so that nobody queues behind.

    Args: plan_file, a plan made earlier: carried out only if all is as it was then.
    Raises: NegmemError `read_only_server`, `schema_locked`, `lock_timeout`, `function_not_owned`,
    `function_has_dependents`, `plan_stale`, `plan_elsewhere`, `sync_incomplete`, `index_not_built`,
    and as `diff`.
    """
    session.require_installed()
    database = session.database
    consent = consent or Consent()
    if database.facts.in_recovery and not dry_run:
        raise NegmemError(
            "read_only_server",
            "the server takes no writes",
            why=f"{database.label} is a standby",
            hint="connect to the primary; negmem diff works here",
        )
    if dry_run:
        plan, decided = _try(session, consent, dry_run=True, plan_file=plan_file)
    else:
        plan, decided = _patiently(session, consent, plan_file)
        made = [
            change
            for number, part in enumerate(plan.parts)
            for change in part.finish(session, decided.due.get(number, []))
        ]
        decided.retell(made)
    if not dry_run:
        _warn_of_access(session, decided)
    return _report(session, plan, decided, dry_run)


def plan_for(session: Session, consent: Consent) -> tuple[PlanFile, SyncReport]:
    """What `sync` would do, as a file that a later `sync` holds the database to. Changes nothing.

    Raises: as `diff`.
    """
    session.require_installed()
    plan, decided = _try(session, consent, dry_run=True, plan_file=None)
    made = planned(session, plan, consent, decided.applied)
    return made, _report(session, plan, decided, dry_run=True)


def _report(session: Session, plan: Plan, decided: _Decided, dry_run: bool) -> SyncReport:
    database = session.database
    _warn_of_reduced(session, plan)
    jobs = job_states(session, plan.config.document)
    if dry_run:
        mended = {change.name for change in decided.applied if change.kind == "job"}
        jobs = [job for job in jobs if job.name not in mended]
    warn_of_unscheduled(session, jobs)
    return SyncReport(
        dry_run=dry_run,
        applied=decided.applied,
        skipped=decided.skipped,
        unchanged=plan.unchanged,
        degraded_reasons=degraded_reasons(jobs),
        unmanaged=plan.unmanaged,
        target=database.label,
        schema_name=database.schema,
        app=session.app,
    )


def _patiently(
    session: Session, consent: Consent, plan_file: PlanFile | None
) -> tuple[Plan, _Decided]:
    """Try until the locks are had: each wait is short, so that no reader queues behind it for long."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return _try(session, consent, dry_run=False, plan_file=plan_file)
        except NegmemError as error:
            if not _is_passing(error) or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(0.05, 0.5))


def _is_passing(error: NegmemError) -> bool:
    """Whether another writer was in the way, so that the same again may succeed.

    A function that somebody writes at the same moment without negmem's lock is refused by the
    catalog itself: as a duplicate key, or in words alone.
    """
    if error.code in _PASSING:
        return True
    return isinstance(error, DatabaseError) and (
        error.sqlstate == "23505" or "concurrently" in error.why
    )


def _try(
    session: Session, consent: Consent, *, dry_run: bool, plan_file: PlanFile | None
) -> tuple[Plan, _Decided]:
    """One transaction: plan, apply, look again. All of it stays, or nothing."""
    database = session.database
    read_only = dry_run and (database.facts.in_recovery or database.facts.read_only)
    with database.transaction(read_only=read_only) as connection:
        if not dry_run:
            ledger.lock_schema(database, connection)
        plan = make_plan(session, connection, take=consent.take, adopt=consent.adopt)
        if plan_file is not None:
            check_plan(session, plan, plan_file)
        if plan.config.decision == "apply" and not dry_run:
            # Only now, so that a run with nothing to do writes nothing, not even a row lock.
            plan = make_plan(
                session, connection, take=consent.take, adopt=consent.adopt, for_update=True
            )
        decided = _decide(plan, consent)
        if not dry_run and plan.config.decision != "conflict":
            apply_config(session, plan.config)
            for number, part in enumerate(plan.parts):
                part.apply(session, connection, decided.due.get(number, []))
            if decided.applied:
                _verify(make_plan(session, connection, take=consent.take), decided, consent)
    return plan, decided


def _decide(plan: Plan, consent: Consent) -> _Decided:
    """What to act on, what that means to a reader, and what stays with the reason."""
    decided = _Decided()
    for change in plan.config.changes:
        if plan.config.decision == "apply":
            decided.applied.append(change)
        else:
            decided.skip(change, _config_refusal(change.reason, consent))
    for number, part in enumerate(plan.parts):
        for change in part.changes:
            refusal = part.refusal(change, consent)
            if plan.config.decision == "conflict":
                refusal = Refusal(
                    "nothing is done while YAML and stored config both changed", _EITHER_SIDE
                )
            elif refusal is not None and change.significance == "cosmetic":
                continue
            if refusal is None:
                decided.due.setdefault(number, []).append(change)
                decided.applied.append(change)
            else:
                decided.skip(change, refusal)
    return decided


def _config_refusal(reason: str, consent: Consent) -> Refusal:
    if reason == "both_changed" and consent.take is None:
        return Refusal("changed in the YAML and in the database", _EITHER_SIDE)
    return Refusal(
        "changed in the database; the stored value stays",
        "put it into the YAML (negmem config export), or: negmem sync --take yaml",
    )


def _verify(after: Plan, decided: _Decided, consent: Consent) -> None:
    """Look again before committing: what was to be put right must be.

    Indexes and jobs of another database come later, and are looked at then. A function that was made wants grants:
    where roles are missing, they wait as the others do. Raises: NegmemError `sync_incomplete`; the
    transaction rolls back.
    """
    waiting = [c for c in _decide(after, consent).skipped if c.why == ROLES_MISSING]
    left = {(change.kind, change.name) for change in (*decided.skipped, *waiting)}
    wrong = [
        change.name
        for change in after.changes
        if change.significance == "semantic"
        and change.kind not in ("index", "job")
        and (change.kind, change.name) not in left
    ]
    if wrong:
        raise NegmemError(
            "sync_incomplete",
            "the database still differs after the changes; nothing was kept",
            why=", ".join(wrong),
            hint="negmem diff -v",
        )


def _warn_of_reduced(session: Session, plan: Plan) -> None:
    for reason in plan.reduced:
        session.warn("comparison_reduced", reason)


def _warn_of_access(session: Session, decided: _Decided) -> None:
    for change in decided.applied:
        if change.reason in _ACCESS:
            session.warn(
                "access_recorded",
                f"{change.name}: {change.detail}; kept as it is, and no drift from now on",
            )
