"""The report: every section read, those that can't be are told with the reason, and what needs a person first."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from negmem import __version__
from negmem.core.models.report import Notice, Report, SectionName, UnreadSection
from negmem.core.pii import gated
from negmem.core.report import sections
from negmem.core.report.notices import notices_of
from negmem.core.session import Session
from negmem.core.whole_view import require_all_users
from negmem.errors import NegmemError, UsageError

MIN_DAYS, MAX_DAYS = 7, 366
_READERS: dict[SectionName, Callable[[sections.Scope], Any]] = {
    "health": sections.read_health,
    "drift": sections.read_drift,
    "growth": sections.read_growth,
    "retention": sections.read_retention,
    "retrieval": sections.read_retrieval,
    "cost": sections.read_cost,
    "topics": sections.read_topics,
    "benchmarks": sections.read_benchmarks,
}
# These count over users, through samples drawn by the size of the tables; the others tell of the deployment.
_OVER_USERS = frozenset(("growth", "retention", "retrieval", "cost", "topics"))


@gated
def make_report(session: Session, *, days: int = 90, personal: bool = False) -> Report:
    """The state of the app's memory. Reads only, with a number of statements that does not grow.

    No text that a user said and no user is named, unless `personal`: then the largest topics and users
    are, as far as the database role may see them. A section that can't be read is in `unread`.

    Args: days, 7..366, how far back the daily figures go.
    Raises: UsageError `usage`, NegmemError as `require_installed`.
    """
    if not MIN_DAYS <= days <= MAX_DAYS:
        raise UsageError(
            "usage",
            f"--days is {MIN_DAYS} to {MAX_DAYS}",
            why=f"got {days:,}",
            hint="negmem report --days 90",
        )
    started = time.perf_counter()
    session.require_installed()
    database = session.database
    facts = database.facts
    unread: list[UnreadSection] = []
    sizes: list[dict[str, Any]] = []
    without_sizes: NegmemError | None = None
    try:
        with database.transaction(read_only=True):
            sizes = database.rows("report", "tables", {"schema": database.schema})
    except NegmemError as error:  # whoever has locked a table keeps its size, not the rest
        without_sizes = error
    about = _about(session)
    scope = sections.Scope(session, about["now"], days, personal, sizes)
    found: dict[SectionName, Any] = {}
    for name, read in _READERS.items():
        try:
            if name in _OVER_USERS:
                require_all_users(session)
                if without_sizes is not None:
                    raise without_sizes
            found[name] = read(scope)
        except NegmemError as error:
            found[name] = None
            unread.append(
                UnreadSection(
                    section=name,
                    code=error.code,
                    message=error.message,
                    why=error.why,
                    hint=error.hint,
                )
            )
            session.warn("section_unread", f"{name}: {error.message}")
    notices: list[Notice] = notices_of(found, unread)
    return Report(
        app=session.app,
        other_apps=about["other_apps"],
        target=f"{database.label}",
        schema_name=database.schema,
        server_version=facts.server_version_text,
        vector_version=facts.vector_version,
        negmem_version=__version__,
        installed_at=about["installed_at"],
        made_at=about["now"],
        days=days,
        personal=personal,
        notices=notices,
        **found,
        unread=unread,
        page=None,
        took_ms=round((time.perf_counter() - started) * 1000, 1),
    )


def _about(session: Session) -> dict[str, Any]:
    """The clock, and of the installation what the role may see of it."""
    database = session.database
    try:
        with database.transaction(read_only=True):
            row = database.row("report", "about", {"app_name": session.app})
    except NegmemError:
        clock = database.row("metrics", "clock")
        row = None if clock is None else {**clock, "installed_at": None, "other_apps": []}
    assert row is not None
    return row
