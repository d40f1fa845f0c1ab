"""Why a server was not reached, from what the driver says of an attempt."""

from __future__ import annotations

import re
import shlex

from negmem.db.dsn import Target
from negmem.errors import NegmemError

_STARTING = re.compile(r"starting up|not yet accepting|Connection refused|No such file", re.I)
_CAUSES: tuple[tuple[str, str, str, str], ...] = (
    (
        r"password authentication failed|no password supplied",
        "authentication_failed",
        "the server refuses the login",
        "set PGPASSWORD or ~/.pgpass, or check the user name",
    ),
    (
        r'database "[^"]*" does not exist',
        "database_not_found",
        "there is no such database",
        "",  # names the database: _how_to_make
    ),
    (
        r'role "[^"]*" does not exist|no pg_hba.conf entry|Peer authentication failed|Ident auth',
        "authentication_failed",
        "the server refuses the login",
        "check the user name and the server's pg_hba.conf",
    ),
    (
        r"too many clients|remaining connection slots",
        "too_many_connections",
        "the server has no connection left",
        "close others, or connect through a pooler",
    ),
    (
        r"server does not support SSL, but SSL was required|invalid sslmode value",
        "connection_failed",
        "the server and sslmode do not agree",
        "set sslmode=prefer in the connection string, or PGSSLMODE=prefer",
    ),
    (
        r'definition of service "[^"]*" not found|service file "[^"]*" not found',
        "connection_failed",
        "the service is not defined",
        "look into ~/.pg_service.conf, or name a database with --dsn",
    ),
    (
        r"invalid port number|invalid integer value",
        "connection_failed",
        "a connection parameter is no number",
        "look at PGPORT and the connection string",
    ),
    (
        r"received invalid response to (?:SSL|GSSAPI) negotiation|expected authentication request",
        "connection_failed",
        "what answers there is no PostgreSQL server",
        "check host and port",
    ),
    (
        r"translate host name|resolve host|Name or service not known|name resolution",
        "server_unreachable",
        "the host name can't be resolved",
        "check the host, and that the password in a URL is percent-encoded",
    ),
    (
        r"Connection refused|No such file|timeout|timed out|starting up|unreachable|not yet accept",
        "server_unreachable",
        "no PostgreSQL server answers",
        "negmem doctor --wait 30    waits for a server that is starting",
    ),
)


def is_starting(reason: str) -> bool:
    """Whether the server may only be on its way up, so that waiting helps."""
    return bool(_STARTING.search(reason))


def refusal(target: Target, reason: str) -> NegmemError:
    """The driver's text as an error of negmem's; what may repeat the connection string is withheld."""
    for pattern, code, message, hint in _CAUSES:
        if found := re.search(pattern, reason):
            said = found.group(0)
            if code == "database_not_found":
                hint = _how_to_make(target, said)
            why = f"{said} ({target.label}, from {target.origin})"
            return NegmemError(code, message, why=why, hint=hint)
    return NegmemError(
        "connection_failed",
        "no connection to the database",
        why=f"{target.label}, from {target.origin}; the driver's text is withheld, since it"
        " may repeat the connection string",
        hint="check host, port, user and database",
    )


def _how_to_make(target: Target, said: str) -> str:
    """The command that makes the missing database there, without the password."""
    words = ["createdb"]
    for flag, name in (("-h", "host"), ("-p", "port"), ("-U", "user")):
        if value := target.params.get(name):
            words += [flag, value]
    words.append(said.split('"')[1])
    return f"{shlex.join(words)}    or name another one with --dsn"
