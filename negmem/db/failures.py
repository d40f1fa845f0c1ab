"""Turns the driver's errors into negmem's: a stable code, the server's evidence, a remedy."""

from __future__ import annotations

import psycopg

from negmem.errors import NegmemError


class DatabaseError(NegmemError):
    """A statement failed; `sqlstate` is the server's five-letter code ("" when the client failed)."""

    def __init__(
        self, code: str, message: str, *, why: str = "", hint: str = "", sqlstate: str = ""
    ) -> None:
        super().__init__(code, message, why=why, hint=hint)
        self.sqlstate = sqlstate


# sqlstate or its class → code, what failed, what to do
_KNOWN: dict[str, tuple[str, str, str]] = {
    "42501": (
        "privilege_missing",
        "the database role lacks a privilege",
        "ask the schema's owner for the grant, or connect as the owner",
    ),
    "25006": (
        "read_only_server",
        "the server takes no writes",
        "connect to the primary, or set target_session_attrs=read-write with several hosts",
    ),
    "55P03": (
        "lock_timeout",
        "another session holds the lock",
        "look for it in pg_stat_activity, then run the same command again",
    ),
    "57014": (
        "statement_timeout",
        "the statement took longer than allowed",
        "run it again when the server is less busy",
    ),
    "42P01": (
        "schema_incomplete",
        "a table of negmem is missing",
        "negmem init",
    ),
    "42883": (
        "function_missing",
        "a function that negmem calls is missing",
        "negmem sync",
    ),
    "3F000": ("schema_missing", "the schema does not exist", "negmem init"),
    "53100": ("disk_full", "the server's disk is full", "free some space, then run it again"),
    "40P01": ("deadlock", "two sessions waited for each other", "run the same command again"),
    "57P01": (
        "connection_lost",
        "the server closed the connection",
        "run the same command again; what was not committed was rolled back",
    ),
}


def translate(error: psycopg.Error) -> DatabaseError:
    """The driver's error as one of negmem's, with SQLSTATE, DETAIL and HINT kept."""
    sqlstate = error.sqlstate or ""
    diag = error.diag
    evidence = [diag.message_primary or ""]
    if diag.message_detail:
        evidence.append(diag.message_detail)
    if diag.constraint_name:
        evidence.append(f"constraint {diag.constraint_name}")
    if sqlstate:
        evidence.append(f"SQLSTATE {sqlstate}")
    why = " · ".join(part for part in evidence if part)
    if isinstance(error, psycopg.OperationalError) and not sqlstate:
        code, message, hint = _KNOWN["57P01"]
        why = "the connection broke off"
    else:
        code, message, hint = _KNOWN.get(sqlstate) or (
            "database_error",
            "the database refused a statement",
            "run again with -vv to see the statement",
        )
    return DatabaseError(code, message, why=why, hint=diag.message_hint or hint, sqlstate=sqlstate)
