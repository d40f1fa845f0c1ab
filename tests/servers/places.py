"""Where the test servers live: made once a machine, and once a checkout.

    <cache>/roots/<name>          Debian roots, shared by all checkouts
    <cache>/checkouts/<digest>/   clusters, sockets, logs and locks of one checkout

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


def cache() -> Path:
    """The folder of everything that the test servers keep."""
    named = os.environ.get("NEGMEM_TEST_CACHE")
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
