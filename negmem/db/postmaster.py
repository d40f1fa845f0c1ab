"""A PostgreSQL server on this machine, as its data directory shows it: running, starting, gone."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PORT = 5432
_PID_FILE = "postmaster.pid"
_POLL_S = 0.02
_SOCKET_PATH_BYTES = 103 if sys.platform == "darwin" else 107


@dataclass(frozen=True)
class Postmaster:
    """What postmaster.pid says, whether or not it is still true."""

    pid: int
    port: int
    socket_dir: Path | None
    ready: bool


def read_postmaster(data_dir: Path) -> Postmaster | None:
    """The server that last wrote its pid file into `data_dir`, or None."""
    try:
        lines = (data_dir / _PID_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None
    padded = [line.strip() for line in lines] + [""] * 8
    try:
        pid = abs(int(padded[0]))  # a single-user server writes its pid as a negative number
        port = int(padded[3] or PORT)
    except ValueError:
        return None
    socket_dir = Path(padded[4]) if padded[4] else None
    return Postmaster(pid, port, socket_dir, padded[7].startswith("ready"))


def socket_path(socket_dir: Path, port: int = PORT) -> Path:
    """The unix socket that a server makes in `socket_dir`."""
    return socket_dir / f".s.PGSQL.{port}"


def socket_path_fits(socket_dir: Path, port: int = PORT) -> bool:
    """Whether the kernel can hold the path of that socket (about a hundred bytes)."""
    return len(os.fsencode(socket_path(socket_dir, port))) <= _SOCKET_PATH_BYTES


def answers(socket_dir: Path | None, port: int = PORT) -> bool:
    """Whether someone listens on the unix socket; nothing is sent."""
    if socket_dir is None or not socket_path_fits(socket_dir, port):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(socket_path(socket_dir, port)))
        except OSError:
            return False
    return True


def is_alive(pid: int) -> bool:
    """Whether a process with this number exists and is no zombie."""
    if not _exists(pid):
        return False
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[:1] != ["Z"]
    return True


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def is_server_of(pid: int, data_dir: Path) -> bool:
    """Whether process `pid` is the server of `data_dir`, not another that got its number.

    A server works in its data directory. Where /proc can't tell, a living process of the owner
    counts.
    """
    if not is_alive(pid):
        return False
    process = Path(f"/proc/{pid}")
    try:
        return not process.exists() or (process / "cwd").samefile(data_dir)
    except FileNotFoundError:
        return False
    except OSError:
        return process.stat().st_uid == data_dir.stat().st_uid


def running_server(data_dir: Path) -> Postmaster | None:
    """The server of `data_dir` that is ready and answers on its socket, or None."""
    found = read_postmaster(data_dir)
    if found is None or not found.ready or not is_alive(found.pid):
        return None
    return found if answers(found.socket_dir, found.port) else None


def forget_stale_pid(data_dir: Path) -> None:
    """Remove a pid file whose number belongs to a process that is not this server.

    PostgreSQL itself refuses to start then: when the number was given to another process of the
    same user, as happens after a reboot, or to the killed server itself while nobody collects it,
    as in containers without an init. Call under the cluster's lock.
    """
    found = read_postmaster(data_dir)
    if found is not None and _exists(found.pid) and not is_server_of(found.pid, data_dir):
        (data_dir / _PID_FILE).unlink(missing_ok=True)


def stop_server(data_dir: Path, timeout_s: float, sign: signal.Signals = signal.SIGINT) -> bool:
    """Ask the server of `data_dir` to stop and wait for it; False when it is still there.

    SIGINT ends sessions and writes a checkpoint (a fast shutdown), SIGQUIT leaves that to recovery.
    """
    found = read_postmaster(data_dir)
    if found is None or not is_server_of(found.pid, data_dir):
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(found.pid, sign)
    return wait_until(lambda: not is_alive(found.pid), timeout_s)


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Whether `condition` came true within `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True
