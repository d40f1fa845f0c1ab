"""The final removal: what was removed, after the restore window; searches, jobs and caches after their lifetime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from negmem.core.models.audit import Reached
from negmem.core.models.retention import PurgeByUser, RetentionPurge
from negmem.core.session import Session
from negmem.db.connect import Database

_BATCH = 1_000
_LOG_BATCH = 5_000


@dataclass(frozen=True)
class Expired:
    """Rows of one table that are over their lifetime, of one owner."""

    owner_kind: str
    owner: str
    table: str
    rows: int


@dataclass(frozen=True)
class PurgePlan:
    """What may go of each user, counted when it was made."""

    users: tuple[PurgeByUser, ...]
    removed: int
    window_days: int
    log_days: int
    job_days: int
    expired: tuple[Expired, ...]

    @property
    def memories(self) -> int:
        """Removed memories whose window is over."""
        return sum(one.memories for one in self.users)

    @property
    def retrieval_logs(self) -> int:
        """Searches whose lifetime is over."""
        return sum(one.retrieval_logs for one in self.users)

    @property
    def others(self) -> int:
        """Rows of other tables whose lifetime is over."""
        return sum(one.rows for one in self.expired)

    @property
    def rows(self) -> int:
        """All that may go."""
        return self.memories + self.retrieval_logs + self.others


def plan(
    session: Session, *, user: str | None = None, database: Database | None = None
) -> PurgePlan:
    """What may be removed for good, by the lifetimes of `retention`; `database`, another connection."""
    database = database or session.database
    limits = session.config.retention
    params = {
        "app_name": session.app,
        "user_id": user,
        "window_days": limits.restore_window_days,
        "log_days": limits.retrieval_log_days,
        "job_days": limits.job_days,
    }
    with database.transaction(read_only=True):
        rows = database.rows("retention", "purgeable", params)
        expired = database.rows("retention", "expired", params)
    if user is not None and not rows:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    held = sum(row["is_held"] and row["memories"] + row["retrieval_logs"] > 0 for row in rows)
    if held:
        session.warn(
            "user_on_hold", f"{held:,} users are under legal hold or being erased: all stays"
        )
    users = tuple(
        PurgeByUser(
            user=row["user"],
            memories=0 if row["is_held"] else row["memories"],
            retrieval_logs=0 if row["is_held"] else row["retrieval_logs"],
            held=row["is_held"],
        )
        for row in rows
        if row["memories"] or row["retrieval_logs"]
    )
    return PurgePlan(
        users=users,
        removed=sum(row["removed"] for row in rows),
        window_days=limits.restore_window_days,
        log_days=limits.retrieval_log_days,
        job_days=limits.job_days,
        expired=tuple(Expired(**row) for row in expired),
    )


def preview(planned: PurgePlan) -> RetentionPurge:
    """The plan as an answer; nothing is touched."""
    others: dict[str, int] = {}
    for one in planned.expired:
        others[one.table] = others.get(one.table, 0) + one.rows
    return _answer(planned, list(planned.users), others, dry_run=True)


def apply(
    session: Session,
    planned: PurgePlan,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    database: Database | None = None,
) -> RetentionPurge:
    """Remove it, batch by batch, each committed; what is held, pinned or restored meanwhile stays.

    `on_progress` hears after each batch how many rows of how many are gone.
    """
    database = database or session.database
    done: list[PurgeByUser] = []
    total = planned.rows
    seen = 0
    for one in planned.users:
        if one.held:
            done.append(one)
            continue
        scope: dict[str, Any] = {"app_name": session.app, "user_id": one.user}
        gone = {"memories": 0, "retrieval_logs": 0}
        for name, most, params in (
            ("memories", _BATCH, {"window_days": planned.window_days, "actor": session.actor}),
            ("retrieval_logs", _LOG_BATCH, {"days": planned.log_days}),
        ):
            while True:
                with database.transaction():
                    row = database.row(
                        "retention", f"purge_{name}", {**scope, **params, "max_rows": most}
                    )
                batch = int(row["gone"]) if row else 0
                gone[name] += batch
                seen += batch
                if on_progress is not None and batch:
                    on_progress(seen, total)
                if batch < most:
                    break
        done.append(one.model_copy(update=gone))
    others: dict[str, int] = {}
    for kind, owner in dict.fromkeys((one.owner_kind, one.owner) for one in planned.expired):
        while True:
            values = {
                "owner_kind": kind,
                "owner": owner,
                "app_name": session.app,
                "window_days": planned.window_days,
                "job_days": planned.job_days,
                "max_rows": _BATCH,
                "actor": session.actor,
            }
            with database.transaction():
                rows = database.rows("retention", "purge_expired", values)
            for row in rows:
                others[row["table"]] = others.get(row["table"], 0) + row["rows"]
                seen += row["rows"]
            if on_progress is not None and rows:
                on_progress(seen, total)
            if all(row["rows"] < _BATCH for row in rows):
                break
    return _answer(planned, done, others, dry_run=False)


def _answer(
    planned: PurgePlan, users: list[PurgeByUser], others: dict[str, int], *, dry_run: bool
) -> RetentionPurge:
    memories = sum(one.memories for one in users)
    return RetentionPurge(
        memories=memories,
        retrieval_logs=sum(one.retrieval_logs for one in users),
        waiting=planned.removed - memories,
        restore_window_days=planned.window_days,
        retrieval_log_days=planned.log_days,
        job_days=planned.job_days,
        others=[Reached(table=name, rows=rows) for name, rows in sorted(others.items())],
        dry_run=dry_run,
        users=users,
    )
