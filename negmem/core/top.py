"""What goes on at the moment: the queue, searches, runs, rows, drift, locks and connections."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from negmem.core.automation.sync import diff
from negmem.core.models.top import (
    BlockedSession,
    Connections,
    DriftState,
    LastRun,
    OpenJobs,
    RowStates,
    RunningJob,
    SchedulerState,
    SearchLoad,
    Top,
    UnreadPart,
)
from negmem.core.session import Session
from negmem.core.whole_view import require_all_users
from negmem.errors import NegmemError

# What costs more is looked at less often: seconds between.
ROWS_EVERY_S = 10.0
DRIFT_EVERY_S = 60.0
SAMPLE_PAGES = 1_000
_TIMEOUT_MS = 5_000
_LOCK_TIMEOUT_MS = 500
_LIST = 10
_MOST_COUNTED = 10_000
# Codes that say the server is away: nothing else can be read then.
AWAY = frozenset(
    ("connection_lost", "server_unreachable", "too_many_connections", "connection_failed")
)
_OVER_USERS = frozenset(("queue", "running", "searches", "rows"))

Part = TypeVar("Part")


class Watch:
    """Looks at a deployment again and again over one session; what changes slowly is kept between looks."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: dict[str, tuple[float, Any, list[UnreadPart]]] = {}
        self._unread: list[UnreadPart] = []

    def look(self, *, afresh: bool = False) -> Top:
        """One look. `afresh`: also at what is otherwise kept for some seconds.

        Raises: NegmemError where the server is away (its code is in AWAY), or as `require_installed`.
        """
        started = time.perf_counter()
        session = self._session
        session.require_installed()
        if afresh:
            self._kept.clear()
        self._unread = []
        at: datetime = self._row("clock")["at"]
        return Top(
            app=session.app,
            target=session.database.label,
            schema_name=session.database.schema,
            at=at,
            queue=self._part("queue", self._queue),
            running=self._part("running", self._running),
            searches=self._part("searches", lambda: SearchLoad(**self._row("searches"))),
            runs=self._part("runs", lambda: [LastRun(**row) for row in self._rows("runs")]),
            rows=self._slow("rows", ROWS_EVERY_S, self._states),
            drift=self._drift(),
            connections=self._part("connections", lambda: Connections(**self._row("connections"))),
            blocked=self._part("blocked", self._blocked),
            scheduler=self._part("scheduler", self._scheduler),
            unread=self._unread,
            took_ms=round((time.perf_counter() - started) * 1000, 1),
        )

    def _queue(self) -> OpenJobs:
        parked = self._slow("parked", ROWS_EVERY_S, lambda: self._row("parked")["parked"])
        accesses = self._part("accesses", lambda: int(self._row("accesses")["waiting"]))
        return OpenJobs(**self._row("queue"), parked=parked or 0, accesses=accesses)

    def _running(self) -> list[RunningJob]:
        return [RunningJob(**row) for row in self._rows("running")]

    def _blocked(self) -> list[BlockedSession]:
        return [BlockedSession(**row) for row in self._rows("blocked")]

    def _scheduler(self) -> SchedulerState | None:
        found = self._rows("scheduler")
        return SchedulerState(**found[0]) if found else None

    def _states(self) -> RowStates:
        # Asked here, not with the clock: it waits for whoever has locked the table, as the sample does.
        pages: int = self._row("pages")["pages"]
        percent = 100.0 * SAMPLE_PAGES / max(pages, SAMPLE_PAGES)
        found = {name: round(n * 100 / percent) for name, n in self._row("rows", percent).items()}
        return RowStates(**found, is_sampled=percent < 100)

    def _drift(self) -> DriftState | None:
        def compare() -> DriftState:
            database = self._session.database
            patience_ms = database.lock_timeout_ms
            database.lock_timeout_ms = min(patience_ms, _LOCK_TIMEOUT_MS)
            try:
                found = diff(self._session)
            finally:
                database.lock_timeout_ms = patience_ms
            return DriftState(drift=found.drift, changes=len(found.changes), looked_s=0.0)

        found = self._slow("drift", DRIFT_EVERY_S, compare)
        if found is None:
            return None
        looked_s = round(time.monotonic() - self._kept["drift"][0], 1)
        return found.model_copy(update={"looked_s": looked_s})

    def _slow(self, name: str, every_s: float, read: Callable[[], Part]) -> Part | None:
        """What was read less than so many seconds ago, else read now; a failure is kept for a while too."""
        kept = self._kept.get(name)
        if kept is not None and kept[1] is None:
            every_s = min(every_s, ROWS_EVERY_S)
        if kept is None or time.monotonic() - kept[0] >= every_s:
            before = len(self._unread)
            found = self._part(name, read)
            self._kept[name] = (time.monotonic(), found, self._unread[before:])
            return found
        self._unread += kept[2]
        value: Part | None = kept[1]
        return value

    def _part(self, name: str, read: Callable[[], Part]) -> Part | None:
        try:
            if name in _OVER_USERS:
                require_all_users(self._session)
            return read()
        except NegmemError as error:
            if error.code in AWAY:
                raise
            why = f"{error.message}: {error.why}" if error.why else error.message
            self._unread.append(UnreadPart(part=name, code=error.code, why=why))
            return None

    def _row(self, name: str, percent: float = 100.0) -> dict[str, Any]:
        return self._rows(name, percent)[0]

    def _rows(self, name: str, percent: float = 100.0) -> list[dict[str, Any]]:
        database = self._session.database
        params = {
            "app_name": self._session.app,
            "row_limit": _LIST,
            "most": _MOST_COUNTED,
            "percent": percent,
        }
        with database.transaction(
            read_only=True, lock_timeout_ms=_LOCK_TIMEOUT_MS, statement_timeout_ms=_TIMEOUT_MS
        ):
            return database.rows("top", name, params)
