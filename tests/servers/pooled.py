"""pooled: `full` behind PgBouncer in transaction mode, from the same Debian root.

Strict: no prepared statement outlives a transaction, start-up options are refused, and the server
connections of a pool take turns, so that what relies on session state fails soon.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from pathlib import Path
from urllib.parse import quote

from negmem.db.postmaster import answers, is_alive, wait_until
from tests.servers import full
from tests.servers.debian import tail
from tests.servers.enclosure import Inside, start_in_background
from tests.servers.model import Server, ServerUnavailable
from tests.servers.places import checkout_digest
from tests.servers.probe import describe

_PORT = 6432
_WAIT_S = 20


def up(behind: Server) -> Server:
    """Start the pooler before the running server `behind`."""
    down()
    enclosure = _enclosure()
    shutil.rmtree(_host(), ignore_errors=True)
    enclosure.make_folder(_folder())
    (_host() / "users.txt").write_text('"postgres" ""\n', encoding="utf-8")
    (_host() / "pgbouncer.ini").write_text(_settings(behind), encoding="utf-8")
    command: list[str | Path] = ["/usr/sbin/pgbouncer", _folder() / "pgbouncer.ini"]
    pid = start_in_background(enclosure, command, _folder() / "output.log")
    wait_until(lambda: not is_alive(pid) or answers(_host(), _PORT), _WAIT_S)
    if not answers(_host(), _PORT):
        raise ServerUnavailable(f"pgbouncer does not start:\n{tail(_host() / 'output.log')}")
    place = quote(str(_host()), safe="")
    dsn = f"postgresql://postgres@/postgres?host={place}&port={_PORT}"
    return describe(Server("pooled", dsn, "", (), direct=behind.name))


def down() -> None:
    """Stop the pooler."""
    stop_pooler(_host())


def stop_pooler(folder: Path) -> None:
    """Stop the pooler that keeps its pid file in `folder`."""
    try:
        pid = int((folder / "pgbouncer.pid").read_text(encoding="ascii"))
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return
    if name == "pgbouncer":
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), _WAIT_S)


def _folder() -> Path:
    return Path("/srv/negmem") / checkout_digest() / "pooled"


def _enclosure() -> Inside:
    return Inside(full.ROOT.folder, "postgres")


def _host() -> Path:
    return _enclosure().host(_folder())


def _settings(behind: Server) -> str:
    server_folder = full.cluster().folder
    port = behind.admin_dsn.rpartition("port=")[2]
    return f"""\
[databases]
* = host={server_folder} port={port}

[pgbouncer]
unix_socket_dir = {_folder()}
unix_socket_mode = 0777
listen_port = {_PORT}
pidfile = {_folder()}/pgbouncer.pid
logfile = {_folder()}/pgbouncer.log
auth_type = trust
auth_file = {_folder()}/users.txt
auth_user = postgres
admin_users = postgres
pool_mode = transaction
max_prepared_statements = 0
server_round_robin = 1
default_pool_size = 20
max_client_conn = 500
server_idle_timeout = 10
"""
