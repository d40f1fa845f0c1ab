"""Checks of the connection: the server, its clock, what it can store, and who we are on it."""

from __future__ import annotations

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, NotNeededError, check
from negmem.db.failures import DatabaseError
from negmem.db.ledger import MINIMUM_SERVER
from negmem.db.sqlfiles import quote_identifier

_MAX_CLOCK_DIFFERENCE_MS = 60_000
_MAX_CONNECTION_SHARE = 0.9
_PASSWORD_WARNING_DAYS = 7


@check("pooler_in_statement_mode", "connection")
def pooler_in_statement_mode(probe: Probe) -> Found | None:
    """Transactions can be opened: no pooler in statement mode stands between."""
    try:
        # BEGIN by itself: in one string with what follows it would pass.
        with probe.database.transaction(read_only=True):
            pass
    except DatabaseError as error:
        if "statement pooling" not in error.why:
            raise
        probe.note("connection", "a pooler in statement mode")
        return Found(
            "a pooler in statement mode stands between: no transaction can be opened through it",
            evidence=error.why,
            remedy="set pool_mode = transaction in pgbouncer.ini, or connect to the server itself",
            severity="fail",
            blocks=True,
        )
    return None


_OPEN = ("pooler_in_statement_mode",)


@check("server_too_old", "connection", needs=_OPEN)
def server_too_old(probe: Probe) -> Found | None:
    """The server is PostgreSQL 16 or newer."""
    server = probe.server
    probe.note("connection", f"{server.answered_in_ms:.0f} ms")
    if server.version_number >= MINIMUM_SERVER:
        return None
    probe.note("connection", f"PostgreSQL {server.version} is too old")
    return Found(
        "the server is older than PostgreSQL 16: negmem can't be set up here",
        evidence=f"server_version is {server.version}",
        remedy="upgrade the server, or name another one with --dsn",
        severity="fail",
        blocks=True,
    )


@check("server_read_only", "connection", needs=_OPEN)
def server_read_only(probe: Probe) -> Found | None:
    """The server takes writes."""
    server = probe.server
    if server.is_standby:
        probe.note("connection", "read-only standby")
        return Found(
            "a standby: search works and records nothing, all that writes is refused",
            evidence="pg_is_in_recovery() is true",
            remedy="connect to the primary, or name both hosts with target_session_attrs=read-write",
        )
    if server.read_only_by_default:
        probe.note("connection", "read-only by default")
        return Found(
            "transactions are read-only here: search works and records nothing",
            evidence="default_transaction_read_only is on for this role, database or server",
            remedy=f"ALTER ROLE {quote_identifier(server.role)} RESET default_transaction_read_only;"
            "   (or the database, or the server)",
        )
    probe.note("connection", "read-write primary")
    return None


@check("letters_lost", "connection", needs=_OPEN)
def letters_lost(probe: Probe) -> Found | None:
    """The database stores letters of all scripts as letters."""
    probe.note("connection", f"zone {probe.server.time_zone}")
    encoding = probe.server.encoding
    evidence = f"encoding {encoding}"
    try:
        row = probe.row("capabilities", "letters")
    except DatabaseError as error:
        row, evidence = {"are_letters": False}, f"{evidence}: {error.why}"
    if row["are_letters"]:
        return None
    probe.note("connection", f"encoding {encoding}")
    return Found(
        "this database can't hold every letter: text is refused or counted in bytes",
        evidence=evidence,
        remedy="CREATE DATABASE negmem ENCODING 'UTF8' TEMPLATE template0;   and set up negmem there",
        severity="fail",
        blocks=True,
    )


@check("clock_differs", "connection", needs=_OPEN)
def clock_differs(probe: Probe) -> Found | None:
    """The server's clock and this machine's agree within a minute."""
    ahead, doubt = probe.server.clock_ahead_ms, probe.server.clock_uncertainty_ms
    if abs(ahead) - doubt <= _MAX_CLOCK_DIFFERENCE_MS:
        return None
    side = "ahead of" if ahead > 0 else "behind"
    probe.note("connection", f"clock {abs(ahead) / 1000:,.0f} s {side} this machine's")
    return Found(
        "the server's clock and this machine's differ: ages and time filters are off by as much",
        evidence=f"the server is {abs(ahead) / 1000:,.1f} s {side} this machine"
        f" (± {doubt / 1000:.1f} s)",
        remedy="timedatectl set-ntp true    on the machine that is wrong",
    )


@check("connections_short", "connection", needs=_OPEN)
def connections_short(probe: Probe) -> Found | None:
    """The server, and the role on it, have connections left."""
    server = probe.server
    room = server.max_connections - server.reserved_connections
    limit = server.role_connection_limit
    if server.used_connections >= room * _MAX_CONNECTION_SHARE:
        evidence = (
            f"{server.used_connections} of {room} in use (max_connections {server.max_connections})"
        )
        remedy = "put PgBouncer in front, or raise max_connections and restart"
    elif 0 <= limit <= server.role_connections / _MAX_CONNECTION_SHARE:
        evidence = f"role {server.login_role}: {server.role_connections} of {limit} in use"
        remedy = f"ALTER ROLE {quote_identifier(server.login_role)} CONNECTION LIMIT -1;    or close others"
    else:
        return None
    return Found("hardly a connection is left: the next command may be refused", evidence, remedy)


@check("password_expires", "connection", needs=_OPEN)
def password_expires(probe: Probe) -> Found | None:
    """The login role's password is valid for another week."""
    until = probe.server.password_valid_until
    if until is None:
        return None
    days = (until - probe.server.clock).total_seconds() / 86_400
    if days > _PASSWORD_WARNING_DAYS:
        return None
    when = f"in {days:.1f} days" if days > 0 else "now; the session still runs"
    return Found(
        f"the password of {probe.server.login_role} ends {when}",
        evidence=f"valid until {until:%Y-%m-%d %H:%M %Z}",
        remedy=f"ALTER ROLE {quote_identifier(probe.server.login_role)} VALID UNTIL 'infinity';",
    )


@check("collation_changed", "connection", needs=_OPEN)
def collation_changed(probe: Probe) -> Found | None:
    """The collation library is the one that the indexes were built with."""
    if probe.server.version_number < 150_000:
        raise NotNeededError("the server keeps no collation version")
    row = probe.row("capabilities", "collation_version")
    if row["recorded"] is None or row["actual"] is None:
        raise NotNeededError("this collation has no version")
    if row["recorded"] == row["actual"]:
        return None
    name = quote_identifier(probe.server.database)
    return Found(
        "the collation library changed: indexes on text may miss rows until they are rebuilt",
        evidence=f"built with {row['recorded']}, now {row['actual']}; negmem's own keys sort as bytes",
        remedy=f"REINDEX DATABASE {name}; ALTER DATABASE {name} REFRESH COLLATION VERSION;",
    )


@check("behind_pooler", "connection", needs=_OPEN)
def behind_pooler(probe: Probe) -> Found | None:
    """Whether a pooler stands between; negmem works through one in transaction mode."""
    if not probe.server.pooled:
        return None
    probe.note("connection", "through a pooler")
    return Found(
        "a pooler stands between: negmem keeps no session state, so nothing is lost by it",
        evidence="the process that answers is not the one that the connection was opened to",
        remedy="nothing to do; LISTEN, session locks and SET of other programs need a direct one",
        severity="info",
    )
