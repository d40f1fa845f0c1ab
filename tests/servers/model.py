"""What a test knows about a server."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from psycopg.conninfo import make_conninfo


class ServerUnavailable(Exception):
    """A server can't be had on this machine; the text says why. A run that needs it fails."""


@dataclass(frozen=True)
class Server:
    """A running server.

    `admin_dsn` connects as a superuser to the database `postgres`; `extensions` are those that can
    be created; `cron_database` is where pg_cron lives; `password_dsn` asks for a password over TCP
    (role and password `negmem_login`). `direct` is the name of the server behind a pooler: databases
    are created and dropped there.
    """

    name: str
    admin_dsn: str
    version: str
    extensions: tuple[str, ...]
    cron_database: str | None = None
    password_dsn: str | None = None
    direct: str | None = None

    def dsn(self, database: str) -> str:
        """A superuser's DSN for another database of this server."""
        if "://" not in self.admin_dsn:
            return make_conninfo(self.admin_dsn, dbname=database)
        head, _, query = self.admin_dsn.partition("?")
        return f"{head.rpartition('/')[0]}/{quote(database, safe='')}" + (
            f"?{query}" if query else ""
        )

    @property
    def label(self) -> str:
        """Name, version and extensions, on one line."""
        return f"{self.name}: {self.version}, {', '.join(self.extensions) or 'no extensions'}"
