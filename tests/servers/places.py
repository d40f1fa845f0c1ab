"""Where the test servers live: made once a machine, and once a checkout.

    <cache>/roots/<name>          Debian roots, shared by all checkouts
    <cache>/checkouts/<digest>/   clusters, sockets, logs and locks of one checkout
    /dev/shm/negmem-test-<digest>/  its clusters that are made from PyPI, where memory allows it

The cache is NEGMEM_TEST_CACHE, else /var/cache/negmem-test for root (the servers run as other users
and can't enter root's home), else negmem-test in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
_CACHE = "NEGMEM_TEST_CACHE"
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30


def cache() -> Path:
    """The folder of everything that the test servers keep."""
    named = os.environ.get(_CACHE)
    if named:
        return Path(named).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/negmem-test")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "negmem-test"


def checkout_digest() -> str:
    """A short name for this checkout."""
    return hashlib.sha256(str(CHECKOUT).encode()).hexdigest()[:8]


def checkout_folder() -> Path:
    """What belongs to this checkout; made if missing."""
    folder = cache() / "checkouts" / checkout_digest()
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / "checkout"
    if not note.exists():
        note.write_text(f"{CHECKOUT}\n", encoding="utf-8")
    return folder


def clusters_folder() -> Path:
    """Where the clusters from PyPI go: into memory where there is room, else to the checkout's folder.

    Each test copies a database of 600 files and drops it again, for which a disk's file system takes
    three times as long: ext4 passes over every file that was deleted lately before it makes a new one.
    """
    folder = memory_folder()
    if os.environ.get(_CACHE) or not (folder.exists() or _has_room(_MEMORY)):
        return checkout_folder()
    folder.mkdir(exist_ok=True)
    return folder if folder.stat().st_uid == os.geteuid() else checkout_folder()


def memory_folder(digest: str | None = None) -> Path:
    """Where a checkout (this one by default) has clusters in memory; it need not exist."""
    return _MEMORY / f"negmem-test-{digest or checkout_digest()}"


def _has_room(memory: Path) -> bool:
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
        known = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        space = os.statvfs(memory)
    except OSError:
        return False
    free = {line.split()[0]: int(line.split()[1]) << 10 for line in known}.get("MemAvailable:", 0)
    usable = any(
        line.split()[1:3] == [str(memory), "tmpfs"] and "noexec" not in line.split()[3].split(",")
        for line in mounts
    )
    return usable and min(free, space.f_bavail * space.f_frsize) >= _ROOM


@contextlib.contextmanager
def locked(name: str, folder: Path | None = None) -> Iterator[None]:
    """Hold a lock of this checkout (or of `folder`) that other processes respect."""
    place = folder or checkout_folder()
    place.mkdir(parents=True, exist_ok=True)
    handle = os.open(place / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
