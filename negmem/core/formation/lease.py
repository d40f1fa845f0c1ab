"""Leases kept alive while steps work, and the one place that says whether they may go on.

One thread of a process renews the leases of all its workers, on a connection of its own. It also ends
statements that run for nobody any more: the lease is lost, the step's time is over, somebody pressed Ctrl-C.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from negmem.core.formation import queue
from negmem.core.formation.pipeline import LeaseLostError, StepTimeoutError, WorkStopped
from negmem.db.connect import Database
from negmem.errors import NegmemError

_TICK_S = 0.25
# How long a statement under way may go on after Ctrl-C.
_GRACE_S = 0.5


@dataclass
class _Watch:
    """A step at work: until when it may, and the connection on which it works."""

    step: str
    limit_ms: int
    deadline: float
    database: Database


class Hold:
    """A worker's hold on a job, as its steps ask for it."""

    def __init__(self, keeper: LeaseKeeper, job_id: UUID, worker: str) -> None:
        self.job_id = job_id
        self.worker = worker
        self.renewed_at = time.monotonic()
        self.is_lost = False
        self._keeper = keeper
        self._watches: list[_Watch] = []

    def check(self) -> None:
        """Raises: WorkStopped, LeaseLostError."""
        if self._keeper.is_stopping:
            raise WorkStopped
        silent_s = time.monotonic() - self.renewed_at
        if self.is_lost or silent_s > self._keeper.lease_s:
            self.is_lost = True
            raise LeaseLostError(
                f"worker {':'.join(self.worker.split(':')[:2])} did not renew it in time"
            )

    @contextmanager
    def watched(self, step: str, limit_ms: int, database: Database) -> Iterator[Callable[[], None]]:
        """What a step calls as its checkpoint; while it works, its statements end with its time."""
        watch = _Watch(step, limit_ms, time.monotonic() + limit_ms / 1000, database)

        def checkpoint() -> None:
            self.check()
            if time.monotonic() > watch.deadline:
                raise StepTimeoutError(step, limit_ms)

        self._watches.append(watch)
        try:
            yield checkpoint
        finally:
            self._watches.remove(watch)

    def end_statements(self, now: float, *, stopping: bool) -> None:
        """Cancel what runs for a step that may not go on."""
        for watch in list(self._watches):
            if self.is_lost or stopping or now > watch.deadline:
                with contextlib.suppress(Exception):
                    watch.database.connection.cancel_safe(timeout=2)


class LeaseKeeper:
    """Renews the leases of one process. Use it as a context."""

    def __init__(self, database: Database, lease_s: float) -> None:
        self.lease_s = lease_s
        self._database = database
        self._holds: list[Hold] = []
        self._stopped_at: float | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="negmem-lease", daemon=True)

    @property
    def is_stopping(self) -> bool:
        """Whether the run was asked to end."""
        return self._stopped_at is not None

    def stop(self) -> None:
        """Ask all steps to end. Signal-safe."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()

    @contextmanager
    def holding(self, job_id: UUID, worker: str) -> Iterator[Hold]:
        """The hold on a job that was just claimed, renewed until the block ends."""
        hold = Hold(self, job_id, worker)
        self._holds.append(hold)
        try:
            yield hold
        finally:
            self._holds.remove(hold)

    @property
    def held(self) -> list[Hold]:
        """What is held at the moment."""
        return list(self._holds)

    def __enter__(self) -> LeaseKeeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._database.close()

    def _beat(self) -> None:
        while not self._ended.wait(min(_TICK_S, self.lease_s / 8)):
            now = time.monotonic()
            for hold in self.held:
                if not hold.is_lost and now - hold.renewed_at > self.lease_s / 3:
                    self._renew(hold)
                stopping = self._stopped_at is not None and now - self._stopped_at > _GRACE_S
                hold.end_statements(time.monotonic(), stopping=stopping)

    def _renew(self, hold: Hold) -> None:
        began = time.monotonic()
        try:
            is_held = queue.renew(self._database, hold.job_id, hold.worker, self.lease_s)
        except NegmemError:
            self._database.close()
            is_held = began - hold.renewed_at < self.lease_s
            if is_held:
                return
        if is_held:
            hold.renewed_at = began
        elif hold in self._holds:
            hold.is_lost = True
