"""How often a user's agents may call a tool: counted in the database, for all processes together."""

from __future__ import annotations

from negmem.core.learning.protocol import Bound
from negmem.core.session import Session
from negmem.core.tools.definition import Refusal
from negmem.db.failures import NO_PRIVILEGE, DatabaseError

_UNCOUNTED = "calls_not_counted"


def limit_of(session: Session, name: str) -> int:
    """Calls of a tool that the window may hold; 0: any number."""
    settings = session.config.learning.tools
    own = dict(entry.split(":") for entry in settings.limits)
    return int(own.get(name, settings.calls))


def admit(bound: Bound, name: str, *, writes: bool) -> None:
    """Count a call. Where nothing can be written, calls that read are not counted, and a warning says so.

    Raises: Refusal `rate_limited`, with the moment from which the call may be tried again.
    """
    session = bound.session
    facts = session.database.facts
    if facts.in_recovery or facts.read_only:
        session.warn(_UNCOUNTED, "calls of tools are not limited: the server takes no writes")
        return
    calls, window_s = limit_of(session, name), session.config.learning.tools.window_s
    params = {**_key(bound, name), "calls": calls, "window_s": window_s}
    try:
        row = session.database.row("tools", "admit", params)
    except DatabaseError as error:
        if writes or error.sqlstate != NO_PRIVILEGE:
            raise
        session.warn(_UNCOUNTED, "calls of tools are not limited: the database role only reads")
        return
    assert row is not None
    if not row["admitted"]:
        at = row["retry_at"]
        raise Refusal(
            "rate_limited",
            f"{name} was called {row['counted']} times in {window_s} seconds, at most {calls} are allowed",
            f"go on without it, or call it again in {row['retry_s']} seconds",
            retry_after_s=row["retry_s"],
            retry_at=at.isoformat(),
        )


def called_within(bound: Bound, name: str, window_s: int) -> bool:
    """Whether the user's agents called a tool in the last so many seconds."""
    row = bound.session.database.row(
        "tools", "called_within", {**_key(bound, name), "window_s": window_s}
    )
    return row is not None and bool(row["called"])


def _key(bound: Bound, name: str) -> dict[str, str | None]:
    return {"user_id": bound.user, "app_name": bound.session.app, "tool": name}
