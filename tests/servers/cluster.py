"""A PostgreSQL cluster for tests: made anew whenever it does not answer, since it holds nothing."""

from __future__ import annotations

import shutil
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg

from negmem.db.postmaster import is_alive, stop_server, wait_until
from tests.servers.debian import tail
from tests.servers.enclosure import Enclosure, start_in_background
from tests.servers.model import ServerUnavailable

_START_S = 60
_STOP_S = 20
_PORT_ATTEMPTS = 5
_INITDB = (
    "--username=postgres",
    "--encoding=UTF8",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--no-sync",
    "--no-instructions",
)
_QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "unix_socket_permissions": "0777",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "dynamic_shared_memory_type": "mmap",
}


@dataclass
class Cluster:
    """One cluster: `programs` and `folder` are paths as its programs see them.

    `tcp` also listens on 127.0.0.1, on a free port, and asks for a password there.
    """

    name: str
    enclosure: Enclosure
    programs: Path
    folder: Path
    initdb: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    tcp: bool = False
    port: int = 5432

    @property
    def data(self) -> Path:
        """The data directory, as this process sees it."""
        return self.enclosure.host(self.folder / "data")

    @property
    def log(self) -> Path:
        """What the server writes, as this process sees it."""
        return self.enclosure.host(self.folder / "server.log")

    @property
    def dsn(self) -> str:
        """A superuser's DSN of the database postgres, over the unix socket."""
        place = quote(str(self.enclosure.host(self.folder)), safe="")
        return f"postgresql://postgres@/postgres?host={place}&port={self.port}"

    def up(self) -> None:
        """A new cluster in the place of whatever was there, running and answering."""
        self.down()
        shutil.rmtree(self.enclosure.host(self.folder), ignore_errors=True)
        self.enclosure.make_folder(self.folder)
        options = (*_INITDB, *self.initdb)
        self.enclosure.run([self.programs / "initdb", *options, "-D", self.folder / "data"])
        for _ in range(_PORT_ATTEMPTS):
            if self.tcp:
                self.port = _free_port()
            self._write_settings()
            if self._start():
                return
        raise ServerUnavailable(f"{self.name} does not start:\n{tail(self.log)}")

    def down(self) -> None:
        """Stop the server of this data directory, if one runs."""
        stop_cluster(self.data)

    def _write_settings(self) -> None:
        wanted = {
            **_QUICK,
            "listen_addresses": "127.0.0.1" if self.tcp else "",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            **self.settings,
        }
        lines = "".join(f"{name} = '{value}'\n" for name, value in wanted.items())
        (self.data / "postgresql.auto.conf").write_text(lines, encoding="utf-8")

    def _start(self) -> bool:
        """Whether it came up; False when its port was taken meanwhile."""
        self.log.unlink(missing_ok=True)
        command: list[str | Path] = [self.programs / "postgres", "-D", self.folder / "data"]
        pid = start_in_background(self.enclosure, command, self.folder / "server.log")
        settled = wait_until(lambda: not is_alive(pid) or self._answers(), _START_S)
        if settled and self._answers():
            return True
        if self.tcp and "Address already in use" in tail(self.log):
            return False
        raise ServerUnavailable(f"{self.name} does not start:\n{tail(self.log)}")

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


def stop_cluster(data_dir: Path) -> None:
    """Stop the server of a data directory without ceremony.

    Raises: ServerUnavailable when it does not go.
    """
    for sign in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if stop_server(data_dir, _STOP_S, sign):
            return
    raise ServerUnavailable(f"the server of {data_dir} can't be stopped")


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
