"""Turns the driver's errors into negmem's: a stable code, the server's evidence, a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

from negmem.errors import NegmemError

NO_PRIVILEGE = "42501"
NO_LOCK = "55P03"
# The line of the context that names a row by its place, and with it the table, in whatever language.
_LOCKED_ROW = re.compile(r"^.*\(\d+,\d+\).*$", re.MULTILINE)


class DatabaseError(NegmemError):
    """A statement failed; `sqlstate` is the server's five-letter code ("" when the client failed).

    `said` is the server's first line, `statement` the SQL that failed, where it is known.
    """

    def __init__(
        self, code: str, message: str, *, why: str = "", hint: str = "", sqlstate: str = ""
    ) -> None:
        super().__init__(code, message, why=why, hint=hint)
        self.sqlstate = sqlstate
        self.said = ""
        self.statement = ""


_INCOMPLETE = (
    "schema_incomplete",
    "a table, column or type of negmem is missing",
    "negmem doctor",
)
_LOST = (
    "connection_lost",
    "the server closed the connection",
    "run the same command again; what was not committed was rolled back",
)
# sqlstate → code, what failed, what to do
_KNOWN: dict[str, tuple[str, str, str]] = {
    NO_PRIVILEGE: (
        "privilege_missing",
        "the database role lacks a privilege",
        "ask the schema's owner for the grant, or connect as the owner",
    ),
    "25006": (
        "read_only_server",
        "the server takes no writes",
        "connect to the primary, or set target_session_attrs=read-write with several hosts",
    ),
    NO_LOCK: (
        "lock_timeout",
        "another session holds the lock",
        "look for it in pg_stat_activity, then run the same command again",
    ),
    "57014": (
        "statement_timeout",
        "the statement took longer than allowed",
        "run it again when the server is less busy",
    ),
    "42P01": _INCOMPLETE,
    "42703": _INCOMPLETE,
    "42704": _INCOMPLETE,
    "42883": (
        "function_missing",
        "a function that negmem calls is missing",
        "negmem sync",
    ),
    "3F000": ("schema_missing", "the schema does not exist", "negmem init"),
    "53100": ("disk_full", "the server's disk is full", "free some space, then run it again"),
    "40P01": ("deadlock", "two sessions waited for each other", "run the same command again"),
    "08003": _LOST,
    "08006": _LOST,
    "25P03": _LOST,
    "57P01": _LOST,
    "57P02": _LOST,
    "57P05": _LOST,
    "NM001": (
        "user_being_erased",
        "this person is being erased",
        "wait until that is done, or finish it: negmem audit erase --user NAME --yes",
    ),
    "NM002": (
        "user_paused",
        "nothing is to be remembered of this person",
        "negmem user resume --user NAME",
    ),
    "NM003": (
        "user_on_hold",
        "a legal hold stops every deletion for this person",
        "negmem user release --user NAME",
    ),
    "53300": (
        "too_many_connections",
        "the server has no connection left",
        "close others, or connect through a pooler",
    ),
}


def translate(error: psycopg.Error, statement: str = "") -> DatabaseError:
    """The driver's error as one of negmem's, with SQLSTATE and DETAIL kept.

    The server's HINT is the remedy only where negmem has none: it is about SQL, not about negmem.
    """
    sqlstate = error.sqlstate or ""
    diag = error.diag
    # A value that the driver itself refuses has no diagnostics.
    evidence = [diag.message_primary or ("" if sqlstate else str(error).strip())]
    if diag.message_detail:
        evidence.append(diag.message_detail)
    if diag.constraint_name:
        evidence.append(f"constraint {diag.constraint_name}")
    if sqlstate:
        evidence.append(f"SQLSTATE {sqlstate}")
    why = " · ".join(part for part in evidence if part)
    if isinstance(error, psycopg.OperationalError) and not sqlstate:
        code, message, hint = _LOST
        why = "the connection broke off"
    else:
        code, message, hint = _KNOWN.get(sqlstate) or (
            "database_error",
            "the database refused a statement",
            diag.message_hint or "run again with -vv to see the statement",
        )
    made = DatabaseError(code, message, why=why, hint=hint, sqlstate=sqlstate)
    made.said = diag.message_primary or ""
    # Of a refusal inside a function the first lines of the context are the statement.
    context = diag.context or ""
    inner = context.partition("\nPL/pgSQL")[0]
    made.statement = "\n".join(
        part
        for part in (diag.internal_query, inner if sqlstate == NO_PRIVILEGE else "", statement)
        if part
    )
    if sqlstate == NO_LOCK and (row := _LOCKED_ROW.search(context)):
        made.statement = row[0]
    return made


def words_of(text: str) -> list[str]:
    """The words among which the server's sentence, in whatever language, names an object."""
    return re.findall(r"[^\s\"'`«»“”„]+", text)


def name_holder(error: DatabaseError, holder: Mapping[str, Any] | None) -> None:
    """Make a lock that was not had say who holds one on that table; no holder where it has let go meanwhile."""
    if holder is None:
        return
    pid, since = holder["pid"], f" since {holder['since']} UTC" if holder["since"] else ""
    error.why = (
        f"pid {pid} ({holder['application']}) holds {holder['mode']} on {holder['relation']}{since}"
        f" · {error.why}"
    )
    error.hint = f"look at pid {pid} in pg_stat_activity, then run the same command again"


Groups = Callable[[str, int, list[str]], list[str]]


def name_row(error: DatabaseError, person: str) -> DatabaseError:
    """Make a refusal of row-level security say whose rows the statement was allowed to write."""
    error.code = "row_security_refused"
    error.message = "row-level security refuses a row of somebody else"
    whose = f'the user "{person}"' if person else "nobody"
    error.why = f"the statement may write for {whose} · {error.said}"
    error.hint = "connect as a member of the owner's role for what is about several users"
    return error


def name_grant(error: DatabaseError, lacking: Sequence[dict[str, Any]], groups: Groups) -> None:
    """Make a refusal say which grant is missing, on what, to whom.

    Args: lacking, of each object that the server's sentence names: `kind`, `oid`, `name` (quoted, with
    its schema), `bare`, `privileges` that the `role` lacks, `owner`; groups, for a kind, an oid and
    privileges the roles of `init --roles` that hold them, the one with the least rights first: to be
    granted one of them is the remedy then, since `diff` would call the bare grant beyond the list.
    """
    if not lacking:
        return
    thing = max(lacking, key=lambda found: bool(found["privileges"]))
    role = thing["role"]
    privileges = _asked_for(error.statement, thing["bare"], thing["privileges"])
    if privileges:
        words = ", ".join(privileges)
        error.why = f"{role} lacks {words} on {thing['kind'].lower()} {thing['name']} · {error.why}"
        error.hint = f"GRANT {words} ON {thing['kind']} {thing['name']} TO {role};"
        if holders := groups(thing["kind"], thing["oid"], privileges):
            error.hint = f"GRANT {holders[0]} TO {role};    or connect as a member of it"
    else:
        error.why = f"{role} does not own {thing['name']}, {thing['owner']} does · {error.why}"
        error.hint = f"GRANT {thing['owner']} TO {role};    or connect as a member of it"


def _asked_for(statement: str, name: str, lacking: Sequence[str]) -> list[str]:
    """Those of the lacking privileges that the statement asks for; all where it does not tell."""
    end = rf'(?:"\w+"\.)?"?{re.escape(name)}\b'
    asked = {
        "INSERT": rf"\bINSERT\s+INTO\s+{end}",
        "DELETE": rf"\bDELETE\s+FROM\s+{end}",
        "UPDATE": rf"\bUPDATE\s+{end}|\bINSERT\s+INTO\s+{end}.*DO\s+UPDATE|{end}.*"
        r"\bFOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)\b",
        "SELECT": rf"(?<!DELETE )\bFROM\s+{end}|\bJOIN\s+{end}",
    }
    found = [p for p in lacking if p in asked and re.search(asked[p], statement, re.DOTALL)]
    return found or list(lacking)
