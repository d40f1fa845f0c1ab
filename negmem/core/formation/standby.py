"""The built-in scheduler's part in consolidation: work on the queue whenever something is due."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace

from negmem.core.formation.consolidate import Consolidation, Options
from negmem.core.formation.pipeline_run import another
from negmem.core.session import Session
from negmem.db.connect import Database
from negmem.errors import NegmemError

# Before the next try where a run could not even begin: twice as long each time, this at most.
_PATIENCE_S = 300.0
_FIRST_PATIENCE_S = 5.0


class Standby:
    """Works on the queues of enabled apps in a thread of its own, so that jobs keep their times.

    Args: emit, called with an event's name and fields.
    """

    def __init__(self, session: Session, emit: Callable[..., None]) -> None:
        self._session = session
        self._emit = emit
        self._thread: threading.Thread | None = None
        self._run: Consolidation | None = None
        self._is_stopped = False
        self._failures = 0
        self._not_before = 0.0

    def look(self, database: Database, enabled: Collection[str], *, main_enabled: bool) -> None:
        """Begin to work where something is due and no work is under way."""
        if self._is_stopped or (self._thread is not None and self._thread.is_alive()):
            return
        if time.monotonic() < self._not_before or not (enabled or main_enabled):
            return
        params = {"enabled": sorted(enabled), "main_enabled": main_enabled}
        apps = [row["app"] for row in database.rows("consolidation", "due_apps", params)]
        if apps:
            self._thread = threading.Thread(
                target=self._work, args=(apps,), name="negmem-standby", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Ask the work under way to end; its jobs go back to the queue. Signal-safe."""
        self._is_stopped = True
        run = self._run
        if run is not None:
            run.stop()

    def wait(self) -> None:
        """Until the work under way is done."""
        if self._thread is not None:
            self._thread.join()

    def _work(self, apps: list[str]) -> None:
        for app in apps:
            if self._is_stopped:
                return
            session = _session_for(self._session, app)
            try:
                self._consolidate(session, app)
            finally:
                session.close()

    def _consolidate(self, session: Session, app: str) -> None:
        self._run = run = Consolidation(session, Options(gated=True))
        if self._is_stopped:
            return
        try:
            done = run.run()
        except NegmemError as error:
            self._failures += 1
            wait = min(_PATIENCE_S, _FIRST_PATIENCE_S * 2.0 ** min(self._failures, 10))
            self._not_before = time.monotonic() + wait
            self._emit(
                "consolidation_failed", app=app, code=error.code, why=error.why or error.message
            )
            return
        finally:
            self._run = None
        self._failures = 0
        self._emit(
            "consolidated",
            app=app,
            done=done.jobs.done,
            skipped=done.jobs.skipped,
            failed=done.jobs.failed,
            parked=done.queue.parked,
            facts=done.facts,
            took_ms=round(done.took_ms),
        )


def _session_for(session: Session, app: str) -> Session:
    """The same session for another app, with a connection of its own."""
    config = session.config
    connection = config.connection.model_copy(update={"app": app})
    loaded = replace(session.loaded, config=config.model_copy(update={"connection": connection}))
    own = Session(
        loaded, another(session.database), config_path=session.config_path, env=session.env
    )
    own.use_embedder(session.embedder_or_reason)
    return own
