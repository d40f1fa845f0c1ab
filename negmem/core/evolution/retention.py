"""Forgetting by the published curve: the sweep, its plan, and what it will take in days to come.

The sweep is cleanup_low_value_memories(), called until it returns 0, a transaction a call. The plan
and the preview ask the same functions that it calls (retention_owners, retention_due,
retention_allowance), so that what is shown is what goes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from negmem.config.automation import effective_automation, set_in_document
from negmem.core.formulas.bounds import SECONDS_PER_DAY, days_between
from negmem.core.models.retention import (
    DueByUser,
    FadingMemory,
    RetentionPreview,
    RetentionRun,
    RetentionSettings,
)
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.db import job_calls
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError, UsageError

_JOB = "cleanup_memories"
_PREFIX = "automation.retention."
_NUMBERS = (
    *("decay_lambda", "low_retention_threshold", "min_age_days", "keep_importance"),
    "max_share",
)
# A call is bounded by rows, not by time: this only ends one that hangs.
_CALL_TIMEOUT_MS = 600_000
_MOST_CALLS = 100_000
_MOST_DAYS = 36_500
_MOST_USERS = 1_000
_WAITS = " more wait"


@dataclass(frozen=True)
class Policy:
    """By which numbers an app forgets; `argument` None: the main app and apps without a config."""

    settings: RetentionSettings
    document: Mapping[str, Any]
    argument: str | None

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the queries."""
        numbers = self.settings.model_dump()
        threshold = numbers.pop("low_retention_threshold")
        return {**numbers, "threshold": threshold, "app_argument": self.argument}


def read_policy(session: Session) -> Policy:
    """The stored numbers of the session's app.

    Raises: NegmemError `app_unknown`, `stored_config_invalid`.
    """
    row = session.database.row("retention", "settings", {"app_name": session.app})
    if row is None:
        raise NegmemError(
            "app_unknown",
            f'the database holds no config of the app "{session.app}"',
            why=f'schema "{session.database.schema}" of {session.database.label} has no such row',
            hint=f"negmem init --app {session.app}",
        )
    return Policy(
        _settings_of(row["config"]), row["config"], None if row["is_main"] else session.app
    )


def _settings_of(document: Mapping[str, Any]) -> RetentionSettings:
    retention = effective_automation(document).retention
    return RetentionSettings(
        **{key: getattr(retention, key) for key in RetentionSettings.model_fields}
    )


def run(
    session: Session,
    *,
    user: str | None = None,
    dry_run: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> RetentionRun:
    """Forget what is due, batch by batch, each committed; what is cut off goes on at the next run.

    `on_progress` hears after each batch how many are forgotten. Warns `user_unknown`, `user_on_hold`.
    Raises: NegmemError `app_unknown`, or the server's refusal; what earlier batches did stays.
    """
    policy = read_policy(session)
    with session.database.transaction(read_only=True):
        _look_at(session, user)  # where a lock on the table is waited for, and given up
    started = time.perf_counter()
    users: list[DueByUser] = []
    waiting = 0
    if dry_run:
        with session.database.transaction(read_only=True, statement_timeout_ms=_CALL_TIMEOUT_MS):
            users = _forecast(session, policy.params, user, 0)
        forgotten = sum(one.today for one in users)
        waiting = sum(one.due for one in users) - forgotten
        calls, status, message = 0, "not_run", None
    else:
        forgotten, calls, status, message = _sweep(session, policy, user, on_progress)
        if _WAITS in (message or ""):
            # The call that found it counted no further than its own limit.
            with session.database.transaction(
                read_only=True, statement_timeout_ms=_CALL_TIMEOUT_MS
            ):
                waiting = sum(one.due for one in _forecast(session, policy.params, user, 0))
    return RetentionRun(
        forgotten=forgotten,
        waiting=waiting,
        calls=calls,
        status=status,
        message=message,
        user=user,
        dry_run=dry_run,
        users=users[:_MOST_USERS],
        took_ms=round((time.perf_counter() - started) * 1000, 1),
    )


def _look_at(session: Session, user: str | None) -> None:
    if user is None:
        return
    known = session.database.row(
        "retention", "user_known", {"app_name": session.app, "user_id": user}
    )
    if known is None:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    elif known["is_held"] or known["is_erasing"]:
        why = "is under legal hold" if known["is_held"] else "is being erased"
        session.warn("user_on_hold", f'"{user}" {why}: nothing of theirs is forgotten')


def _sweep(
    session: Session, policy: Policy, user: str | None, on_progress: Callable[[int], None] | None
) -> tuple[int, int, str, str | None]:
    database = session.database
    params = {**policy.params, "user_id": user}
    forgotten, calls = 0, 0
    status, message = "succeeded", None
    while calls < _MOST_CALLS:
        run_id = job_calls.begin(database, _JOB, policy.argument, source="manual")
        try:
            with database.transaction(statement_timeout_ms=_CALL_TIMEOUT_MS):
                database.row("cron", "hold_run", {"run_id": run_id})
                called = database.row("retention", "sweep", params)
                noted = database.row("cron", "outcome", {"job": _JOB})
                if noted is not None:
                    database.execute("cron", "forget_run", {"run_id": run_id})
        except DatabaseError as error:
            how = "cancelled" if error.sqlstate == "57014" else "failed"
            with contextlib.suppress(NegmemError):
                job_calls.record_failure(
                    database, run_id, status=how, message=f"{error.message}: {error.why}"
                )
            raise
        calls += 1
        gone = int(called["forgotten"]) if called else 0
        forgotten += gone
        message = noted["message"] if noted else None
        if noted is not None and noted["status"] == "skipped":
            status = "skipped" if calls == 1 else "succeeded"
            session.warn("sweep_under_way", "another sweep is under way, and this one leaves to it")
            break
        if on_progress is not None:
            on_progress(forgotten)
        if gone == 0:
            break
    return forgotten, calls, status, message


def decides(key: str) -> bool:
    """Whether what is forgotten depends on this key of the config."""
    return key.startswith(_PREFIX) and key.removeprefix(_PREFIX) in _NUMBERS


def changed_policy(policy: Policy, changes: Mapping[str, str]) -> tuple[Policy, dict[str, float]]:
    """The policy with some numbers set as a command line says, and those that differ by it.

    Keys are decay_lambda, low_retention_threshold, min_age_days, keep_importance, max_share, with or
    without `automation.retention.` before them.
    Raises: UsageError `retention_key_unknown`, `config_unknown_key`, ConfigError for a wrong value.
    """
    document = policy.document
    for key, value in changes.items():
        name = key.removeprefix(_PREFIX)
        if name not in _NUMBERS:
            raise UsageError(
                "retention_key_unknown",
                f'nothing that is forgotten depends on "{key}"',
                why=f"the keys are {', '.join(_NUMBERS)}",
                hint="negmem retention preview --set decay_lambda=0.05",
            )
        document = set_in_document(document, _PREFIX + name, value).document
    settings = _settings_of(document)
    before = policy.settings.model_dump()
    differing = {key: value for key, value in settings.model_dump().items() if before[key] != value}
    return Policy(settings, document, policy.argument), differing


@gated
def preview(
    session: Session,
    user: str | None = None,
    *,
    days: int = 30,
    changes: Mapping[str, str] | None = None,
    limit: int = 20,
    timeout_ms: int = _CALL_TIMEOUT_MS,
) -> RetentionPreview:
    """What may go within so many days if nobody reads it: in all, by user, and the first `limit`.

    Args: days 0..36500; changes, numbers of the config as they might be, compared with those stored;
    timeout_ms, of each of up to five statements.
    Raises: UsageError `usage` and those of `changed_policy`, NegmemError `app_unknown`.
    """
    if not 0 <= days <= _MOST_DAYS:
        raise UsageError(
            "usage",
            f"--days is 0 to {_MOST_DAYS:,}",
            why=f"got {days}",
            hint="negmem retention preview --days 30",
        )
    stored = read_policy(session)
    policy, differing = changed_policy(stored, changes or {})
    _look_at(session, user)
    without: int | None = None
    today_difference: int | None = None
    with session.database.transaction(read_only=True, statement_timeout_ms=timeout_ms):
        users = _forecast(session, policy.params, user, days)
        if changes:
            without = sum(one.due for one in _forecast(session, stored.params, user, days))
        if "max_share" in differing:
            now, then = (_forecast(session, p.params, user, 0) for p in (stored, policy))
            today_difference = sum(one.today for one in then) - sum(one.today for one in now)
        params = {**policy.params, "user_id": user, "days": days, "row_limit": limit}
        rows = session.database.rows("retention", "forecast_items", params) if limit else []
    total = sum(one.due for one in users)
    return RetentionPreview(
        days=days,
        total=total,
        tokens=sum(one.tokens for one in users),
        settings=policy.settings,
        changed=differing,
        unchanged_total=without,
        difference=None if without is None else total - without,
        today_difference=today_difference,
        users=users[:_MOST_USERS],
        items=[FadingMemory(**row, why=_why(row, policy.settings)) for row in rows],
        truncated=len(rows) < total or len(users) > _MOST_USERS,
    )


def _forecast(
    session: Session, params: Mapping[str, Any], user: str | None, days: int
) -> list[DueByUser]:
    rows = session.database.rows("retention", "forecast", {**params, "user_id": user, "days": days})
    return [DueByUser(**row) for row in rows]


def _why(row: Mapping[str, Any], settings: RetentionSettings) -> str:
    """Which of the conditions comes last, and on what the score rests."""
    times = row["access_count"]
    read = "never read" if times <= 0 else f"read {times:,} times" if times > 1 else "read once"
    waits = days_between(row["created_at"], row["goes_at"]) - settings.min_age_days
    if abs(waits) * SECONDS_PER_DAY < 2:
        what = "reaches the minimum age"
    elif row["score"] < settings.low_retention_threshold:
        what = "is under the threshold"
    else:
        what = "falls under the threshold"
    return f"{what}: {row['type']}, {read}, {row['related']} beside it in its thread"
