"""How the embedded cluster is made and set: the files that negmem writes into it."""

from __future__ import annotations

import os
from pathlib import Path

FILE = "negmem.conf"

# The built-in provider knows Unicode everywhere; the C library's locales differ or are missing.
INITDB = (
    "--username=negmem",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--auth=peer",
    "--no-instructions",
)

INCLUDE = f"""
# What negmem sets lies in {FILE}, which each start writes anew. Your own settings: below this line.
include_if_exists = '{FILE}'
"""

HBA = """\
# Only the unix socket, only the owner of the cluster and root (pg_ident.conf), as any role.
local all all peer map=negmem
"""

_VERSION_MARK = "# PostgreSQL "
_MB = 1 << 20
_SMALL_SHARED_MEMORY = 1 << 29


def ident(owner: str) -> str:
    """pg_ident.conf: who of this machine may connect."""
    quoted = owner.replace('"', '""')
    return f'negmem "{quoted}" all\n' + ("" if owner == "root" else "negmem root all\n")


def version_in(data_dir: Path) -> str | None:
    """The server version that the cluster was last started with, from the head of negmem's file."""
    try:
        with (data_dir / FILE).open(encoding="utf-8") as lines:
            head = lines.readline()
    except OSError:
        return None
    return head.removeprefix(_VERSION_MARK).strip() if head.startswith(_VERSION_MARK) else None


def text(version: str, socket_dir: Path) -> str:
    """negmem.conf: sized for a laptop, durable, silent about what the statements hold."""
    memory = _memory_bytes()
    maintenance = 256 if memory >= 2048 * _MB else 64
    # Taken only as it is used. 200,000 memories with their vectors and words are 1 GB.
    shared = min(max(memory // 16 // _MB, 64), 1024)
    lines = [
        f"{_VERSION_MARK}{version}",
        "# Written by negmem at each start; your own go to the end of postgresql.conf.",
        "listen_addresses = ''",
        "port = 5432",
        f"unix_socket_directories = {_quoted_folder(socket_dir)}",
        "unix_socket_permissions = 0700",
        "max_connections = 100",
        f"shared_buffers = {shared}MB",
        f"effective_cache_size = {max(memory // 2 // _MB, 128)}MB",
        "work_mem = 16MB",
        f"maintenance_work_mem = {maintenance}MB",
        "max_wal_size = 2GB",
        "checkpoint_timeout = 15min",
        "random_page_cost = 1.1",
        "jit = off",
        "timezone = 'UTC'",
        "log_timezone = 'UTC'",
        "lc_messages = 'C'",
        "log_checkpoints = off",
        "# A failed statement may hold a memory: neither it nor its values go to the log.",
        "log_min_error_statement = panic",
        "log_error_verbosity = terse",
        "log_parameter_max_length_on_error = 0",
    ]
    if _shared_memory_bytes() < _SMALL_SHARED_MEMORY:
        # Containers often have 64 MB there, too little for a parallel index build.
        lines.append("dynamic_shared_memory_type = mmap")
    return "\n".join(lines) + "\n"


def _quoted_folder(folder: Path) -> str:
    """A folder as one element of a list in a configuration file."""
    element = '"' + str(folder).replace('"', '""') + '"'
    return "'" + element.replace("'", "''") + "'"


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _shared_memory_bytes() -> int:
    try:
        found = os.statvfs("/dev/shm")
    except OSError:
        return _SMALL_SHARED_MEMORY  # no such file system: the choice is the server's
    return found.f_frsize * found.f_blocks
