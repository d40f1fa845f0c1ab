"""The queue of consolidation: claiming, leases, outcomes; all by the database's clock."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.models.consolidation import Queue, QueueCounts, QueuedJob
from negmem.db.connect import Database


@dataclass(frozen=True)
class Scope:
    """Which jobs are meant; None: all. `gated` leaves out users under a legal hold."""

    app: str
    user: str | None = None
    thread_id: UUID | None = None
    job: str | None = None
    gated: bool = False

    def params(self, **more: Any) -> dict[str, Any]:
        """As the queries take it."""
        return {
            "app_name": self.app,
            "user_id": self.user,
            "thread_id": self.thread_id,
            "job_types": None if self.job is None else [self.job],
            **more,
        }


@dataclass(frozen=True)
class Job:
    """A claimed job; `result` is what earlier attempts noted."""

    id: UUID
    user_id: str
    thread_id: UUID | None
    job_type: str
    attempts: int
    max_attempts: int
    since: datetime | None
    result: Mapping[str, Any]
    created_at: datetime
    thread_name: str | None


@dataclass(frozen=True)
class Backoff:
    """Seconds to wait after failures: `base_s` at first, each time twice as long, `most_s` at most."""

    base_s: float
    most_s: float


def worker_name() -> str:
    """A name for a worker of this process: host, process, where both are unique, and a random part."""
    return f"{_place()}:{secrets.token_hex(6)}"


def _place() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{_machine()}"


def _machine() -> str:
    """Eight hex digits that are the same only where process ids mean the same processes."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def release_dead(database: Database, app: str) -> list[str]:
    """Let the leases of workers of this machine run out whose processes are gone; returns them.

    A job that a killed process held goes on at once, instead of when its lease runs out.
    """
    rows = database.rows("consolidation", "held_by", {"app_name": app})
    dead = [name for row in rows if _is_dead(name := str(row["locked_by"]))]
    if dead:
        database.execute("consolidation", "give_up", {"app_name": app, "workers": dead})
    return dead


def _is_dead(worker: str) -> bool:
    parts = worker.split(":")
    if len(parts) != 4 or parts[2] != _machine() or not parts[1].isdigit():
        return False
    try:
        os.kill(int(parts[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def claim(database: Database, scope: Scope, worker: str, lease_s: float) -> Job | None:
    """The next job that is due, now this worker's; None where there is none to be had now."""
    params = scope.params(worker=worker, lease_s=lease_s, gated=scope.gated)
    row = database.row("consolidation", "claim", params)
    return None if row is None else Job(**row)


def renew(database: Database, job_id: UUID, worker: str, lease_s: float) -> bool:
    """Whether the job is still this worker's; if so, its lease begins anew."""
    params = {"job_id": job_id, "worker": worker, "lease_s": lease_s}
    return database.row("consolidation", "renew", params) is not None


def note_progress(
    database: Database, job_id: UUID, worker: str, lease_s: float, result: Mapping[str, Any]
) -> bool:
    """Note what is done so far, so that whoever goes on begins behind it; False where it was lost."""
    params = {"job_id": job_id, "worker": worker, "lease_s": lease_s, "result": Jsonb(result)}
    return database.row("consolidation", "progress", params) is not None


def finish(
    database: Database,
    job_id: UUID,
    worker: str,
    outcome: str,
    *,
    backoff: Backoff,
    result: Mapping[str, Any] | None = None,
    error: str | None = None,
    final: bool = False,
    at_least_s: float = 0.0,
) -> str | None:
    """End the hold on a job; returns completed, waiting, parked or released, None where it was lost.

    Args: outcome, completed, failed or released; final, park it now; at_least_s, wait so long.
    """
    params = {
        "job_id": job_id,
        "worker": worker,
        "outcome": outcome,
        "result": None if result is None else Jsonb(result),
        "error": error,
        "final": final,
        "base_s": backoff.base_s,
        "most_s": backoff.most_s,
        "at_least_s": at_least_s,
    }
    row = database.row("consolidation", "finish", params)
    return None if row is None else row["became"]


def retry(database: Database, scope: Scope) -> int:
    """Make parked and waiting jobs of the scope due now; returns how many."""
    row = database.row("consolidation", "retry", scope.params())
    return int(row["retried"]) if row else 0


def changed(database: Database, scope: Scope, *, again: bool) -> list[tuple[str, UUID | None]]:
    """Users and threads for which a job of the scope's type is to be queued.

    Those that grew since their last completed one, or with `again` all; never one that has an open
    job. A deep reflection is about a user, the others about a thread.
    """
    of_users = scope.job == "deep_reflection"
    params = {**scope.params(again=again), "job_type": scope.job}
    rows = database.rows(
        "consolidation", "changed_users" if of_users else "changed_threads", params
    )
    return [(row["user_id"], row["thread_id"]) for row in rows]


def enqueue(
    database: Database, app: str, job: str, places: Sequence[tuple[str, UUID | None]]
) -> int:
    """Queue a job that reads all for each user and thread; returns how many were added."""
    if not places:
        return 0
    params = {
        "app_name": app,
        "users": [user for user, _ in places],
        "threads": [thread for _, thread in places],
        "job_type": job,
    }
    row = database.row("consolidation", "enqueue", params)
    return int(row["queued"]) if row else 0


def version(database: Database, app: str, user: str, thread_id: UUID | None) -> int:
    """A number that grows with every transaction that adds to the thread, or to any of the user's."""
    params = {"app_name": app, "user_id": user, "thread_id": thread_id}
    row = database.row("consolidation", "version", params)
    return int(row["version"]) if row else 0


def thread_named(database: Database, app: str, user: str, name: str) -> UUID | None:
    """The id of a user's thread."""
    params = {"app_name": app, "user_id": user, "name": name}
    row = database.row("consolidation", "thread", params)
    return None if row is None else row["id"]


def count(database: Database, scope: Scope) -> QueueCounts:
    """How many jobs of the scope stand where."""
    row = database.row("consolidation", "counts", scope.params(gated=scope.gated))
    assert row is not None
    return QueueCounts(**{name: value for name, value in row.items() if name != "now"})


def listed(
    database: Database, scope: Scope, *, states: Sequence[str] | None = None, limit: int = 20
) -> Queue:
    """The jobs of the scope, those that need somebody first."""
    params = scope.params(states=None if states is None else list(states), limit=limit + 1)
    rows = database.rows("consolidation", "list", params)
    jobs = [QueuedJob(**{**row, "worker": _shown(row["worker"])}) for row in rows]
    return Queue(counts=count(database, scope), jobs=jobs[:limit], truncated=len(jobs) > limit)


def _shown(worker: str | None) -> str | None:
    """Host and process of a worker's name."""
    return None if worker is None else ":".join(worker.split(":")[:2])
