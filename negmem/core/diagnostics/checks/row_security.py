"""Checks of row-level security: whole where it was asked for, and whether it narrows what doctor sees."""

from __future__ import annotations

from negmem.core.automation.changes_row_security import RowSecurityPart
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, check
from negmem.db.sqlfiles import quote_identifier

_SHOWN = 6


@check(
    "row_security_incomplete",
    "schema",
    needs=("schema_outdated", "table_missing", "config_missing", "stored_config_invalid"),
)
def row_security_incomplete(probe: Probe) -> Found | None:
    """Where row-level security was asked for, every table whose rows have an owner has its policies."""
    if probe.plan is None:
        return None
    open_tables = [change for change in probe.plan.changes if change.kind == "policy"]
    if not open_tables:
        return None
    shown = "; ".join(change.detail for change in open_tables[:_SHOWN])
    more = len(open_tables) - _SHOWN
    return Found(
        f"row-level security is not as it was asked for on {len(open_tables)} tables: one user's rows may"
        " be seen by another",
        evidence=shown + (f"; and {more} more tables" if more > 0 else ""),
        remedy="negmem sync",
        severity="fail",
    )


@check("row_security_widened", "schema", needs=("row_security_incomplete",))
def row_security_widened(probe: Probe) -> Found | None:
    """No policy of others shows app and reader rows that negmem's policies keep from them."""
    if probe.plan is None:
        return None
    parts = [part for part in probe.plan.parts if isinstance(part, RowSecurityPart)]
    wide = [name for part in parts for name in part.widening]
    if not wide:
        return None
    policy, _, table = wide[0].partition(" on ")
    more = len(wide) - _SHOWN
    return Found(
        "policies that are not negmem's may show the roles app and reader the rows of everybody",
        evidence="; ".join(wide[:_SHOWN]) + (f"; and {more} more" if more > 0 else ""),
        remedy=f"DROP POLICY {quote_identifier(policy)}"
        f" ON {quote_identifier(probe.database.schema)}.{quote_identifier(table)};"
        "    if it shows more than it should",
    )


@check("row_security_narrows", "schema", needs=("table_not_readable",))
def row_security_narrows(probe: Probe) -> Found | None:
    """This role sees the rows of all users."""
    if not probe.database.facts.sees_one_user:
        return None
    return Found(
        "row-level security shows this role one user at a time: what is counted here is not all there is",
        evidence=f"row_security_active(memories) as {probe.server.role}",
        remedy="run doctor, jobs and consolidation as a member of the owner's role",
        severity="info",
    )
