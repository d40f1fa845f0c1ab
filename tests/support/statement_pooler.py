"""PgBouncer in statement mode before the server `full`: what negmem can't work through."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from negmem.db.postmaster import answers, is_alive, wait_until
from tests.servers import full
from tests.servers.enclosure import Inside, start_in_background
from tests.servers.model import Server
from tests.servers.pooled import stop_pooler

_PORT = 6432
_WAIT_S = 20


@contextmanager
def statement_pooler(behind: Server) -> Iterator[str]:
    """Start it; gives a DSN of the database postgres through it."""
    folder = full.cluster().folder.parent / f"statement_{os.getpid()}"
    enclosure = Inside(full.ROOT.folder, "postgres")
    host = enclosure.host(folder)
    enclosure.make_folder(folder)
    (host / "users.txt").write_text('"postgres" ""\n', encoding="utf-8")
    (host / "pgbouncer.ini").write_text(
        f"""\
[databases]
* = host={full.cluster().folder} port={behind.admin_dsn.rpartition("port=")[2]}

[pgbouncer]
unix_socket_dir = {folder}
unix_socket_mode = 0777
listen_port = {_PORT}
pidfile = {folder}/pgbouncer.pid
logfile = {folder}/pgbouncer.log
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = statement
""",
        encoding="utf-8",
    )
    command: list[str | Path] = ["/usr/sbin/pgbouncer", folder / "pgbouncer.ini"]
    pid = start_in_background(enclosure, command, folder / "output.log")
    try:
        assert wait_until(lambda: not is_alive(pid) or answers(host, _PORT), _WAIT_S)
        yield f"postgresql://postgres@/postgres?host={quote(str(host), safe='')}&port={_PORT}"
    finally:
        stop_pooler(host)
        shutil.rmtree(host, ignore_errors=True)
