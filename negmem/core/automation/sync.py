"""`diff` says what differs, `sync` makes the database agree: all of it or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from negmem.core.automation.declared import Taken, apply_config
from negmem.core.automation.jobs import degraded_reasons, job_states, warn_of_unscheduled
from negmem.core.automation.plan import Plan, make_plan
from negmem.core.models.change import Change, Difference, SkippedChange, SyncReport
from negmem.core.session import Session
from negmem.db import ledger
from negmem.db.function_changes import apply
from negmem.db.functions import Comparison
from negmem.errors import NegmemError

_LOCK_WAIT_MS = 60_000


@dataclass(frozen=True)
class Consent:
    """What a person allowed `sync` to do beyond the harmless."""

    overwrite_edited: bool = False
    prune: bool = False
    take: Taken | None = None


def diff(session: Session, names: Sequence[str] = ()) -> Difference:
    """What differs between YAML, stored config and the functions that stand. Changes nothing.

    Args: names, of functions or config keys; none means all.
    Raises: NegmemError `app_unknown`, `stored_config_invalid`, and as `require_installed`.
    """
    session.require_installed()
    database = session.database
    read_only = database.facts.in_recovery or database.facts.read_only
    with database.transaction(read_only=read_only) as connection:
        plan = make_plan(session, connection)
    _warn_of_reduced(session, plan)
    path = session.loaded.path
    changes = [c for c in plan.changes if not names or _is_named(c, names)]
    return Difference(
        drift=any(change.significance == "semantic" for change in changes),
        changes=changes,
        unmanaged=plan.unmanaged,
        unchanged=plan.unchanged,
        declared_in=None if path is None or plan.config.yaml_hash is None else str(path),
        target=database.label,
        schema_name=database.schema,
        app=session.app,
    )


def _is_named(change: Change, names: Sequence[str]) -> bool:
    return change.name in names or change.name.partition("(")[0] in names


def sync(session: Session, consent: Consent | None = None, *, dry_run: bool = False) -> SyncReport:
    """Make stored config and functions agree with what is declared, in one transaction.

    Hand-edited functions stay as they are unless `consent` says otherwise, and so does everything
    where YAML and stored config both changed. A second run changes nothing. Eight at once end in
    one result: the schema's lock lets one plan at a time.

    Raises: NegmemError `read_only_server`, `schema_locked`, `function_not_owned`,
    `function_has_dependents`, `sync_incomplete`, and as `diff`.
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
    read_only = dry_run and (database.facts.in_recovery or database.facts.read_only)
    with database.transaction(read_only=read_only, lock_timeout_ms=_LOCK_WAIT_MS) as connection:
        if not dry_run:
            ledger.lock_schema(database, connection)
        plan = make_plan(session, connection, take=consent.take)
        if plan.config.decision == "apply" and not dry_run:
            # Only now, so that a run with nothing to do writes nothing, not even a row lock.
            plan = make_plan(session, connection, take=consent.take, for_update=True)
        due, applied, skipped = _sorted_out(plan, consent)
        if not dry_run and plan.config.decision != "conflict":
            apply_config(session, plan.config)
            apply(database, connection, [*due, *plan.to_stamp])
            if due:
                _verify(make_plan(session, connection, take=consent.take), skipped)
    _warn_of_reduced(session, plan)
    jobs = job_states(session, plan.config.document)
    warn_of_unscheduled(session, jobs)
    return SyncReport(
        dry_run=dry_run,
        applied=applied,
        skipped=skipped,
        unchanged=plan.unchanged,
        degraded_reasons=degraded_reasons(jobs),
        unmanaged=plan.unmanaged,
        target=database.label,
        schema_name=database.schema,
        app=session.app,
    )


def _sorted_out(
    plan: Plan, consent: Consent
) -> tuple[list[Comparison], list[Change], list[SkippedChange]]:
    """What to act on, what that means to a reader, and what stays with the reason."""
    due: list[Comparison] = []
    applied: list[Change] = []
    skipped: list[SkippedChange] = []
    conflict = plan.config.decision == "conflict"
    for change in plan.config.changes:
        if plan.config.decision == "apply":
            applied.append(change)
        else:
            skipped.append(_skipped(change, *_config_reason(change.reason, consent)))
    for item in plan.functions:
        change, found = item.change, item.comparison
        if conflict:
            skipped.append(
                _skipped(
                    change,
                    "nothing is done while YAML and stored config both changed",
                    "negmem sync --take yaml    or: negmem sync --take stored",
                )
            )
        elif found.is_by_hand and not consent.overwrite_edited:
            if change.significance == "semantic":
                skipped.append(
                    _skipped(change, "changed by hand", "negmem sync --overwrite-edited")
                )
        elif found.state == "leftover" and not (consent.prune or _is_renewed(found, plan)):
            skipped.append(_skipped(change, "deletes only when asked to", "negmem sync --prune"))
        else:
            due.append(found)
            applied.append(change)
    return due, applied, skipped


def _is_renewed(found: Comparison, plan: Plan) -> bool:
    """Whether the leftover is the untouched old form of a function that is created anew.

    Two forms of one name side by side would make calls ambiguous.
    """
    live = found.live
    return (
        live is not None
        and live.is_as_written
        and any(
            other.comparison.state == "missing"
            and other.comparison.wanted is not None
            and other.comparison.wanted.name == live.definition.name
            for other in plan.functions
        )
    )


def _config_reason(reason: str, consent: Consent) -> tuple[str, str]:
    if reason == "both_changed" and consent.take is None:
        return (
            "changed in the YAML and in the database",
            "negmem sync --take yaml    or: negmem sync --take stored",
        )
    return (
        "changed in the database; the stored value stays",
        "put it into the YAML (negmem config export), or: negmem sync --take yaml",
    )


def _skipped(change: Change, why: str, hint: str) -> SkippedChange:
    return SkippedChange(**change.model_dump(), why=why, hint=hint)


def _verify(after: Plan, skipped: list[SkippedChange]) -> None:
    """Look again before committing: what was to be put right must be.

    Raises: NegmemError `sync_incomplete`; the transaction rolls back.
    """
    left = {change.name for change in skipped}
    wrong = [
        change.name
        for change in after.changes
        if change.significance == "semantic" and change.name not in left
    ]
    if wrong:
        raise NegmemError(
            "sync_incomplete",
            "the database still differs after the changes; nothing was kept",
            why=", ".join(wrong),
            hint="negmem diff -v",
        )


def _warn_of_reduced(session: Session, plan: Plan) -> None:
    if plan.comparisons.reduced:
        session.warn("comparison_reduced", plan.comparisons.reduced)
