"""Row-level security, where `init --rls` asked for it: every table whose rows have an owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from negmem.core.automation import row_security
from negmem.core.automation.part import Part, digest
from negmem.core.automation.roles import current_names
from negmem.core.models.change import Change, UnmanagedObject
from negmem.core.session import Session
from negmem.db import row_security as db
from negmem.db.connect import Connection
from negmem.db.observed import Observed


@dataclass
class RowSecurityPart(Part):
    """One change a table; policies of others are shown and left alone.

    `widening` names those of them that show app or reader more than negmem's do: policies add up.
    """

    widening: list[str] = field(default_factory=list)

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Bring the tables to their policies, after their roles are there."""
        if due:
            row_security.bring(session, connection)


def find(session: Session, connection: Connection, observed: Observed) -> Part:
    """Compare what stands with what `init --rls` makes, inside the caller's transaction."""
    if not (observed.row_security_requested and observed.roles_requested):
        return RowSecurityPart()
    names = current_names(session.database)
    tables = db.live_tables(session.database, connection)
    part = RowSecurityPart()
    for table in tables:
        found = row_security.differences(table, names, session.database.schema)
        part.unmanaged += [
            UnmanagedObject(kind="policy", name=f"{name} on {table.name}") for name in table.foreign
        ]
        part.widening += [
            f"{policy.name} on {table.name}"
            for policy in table.policies
            if policy.name in table.foreign
            and policy.permissive
            and {"PUBLIC", names["app"], names["reader"]} & set(policy.roles)
        ]
        if found:
            part.changes.append(_change(table, found))
        else:
            part.unchanged += 1
    part.seen = digest(
        [[t.name, t.is_on, t.is_forced, [str(p) for p in t.policies]] for t in tables]
    )
    return part


def _change(table: db.SecuredTable, found: list[str]) -> Change:
    is_missing = not table.is_on and not table.ours
    before = ", ".join(sorted(table.ours)) or None
    return Change(
        kind="policy",
        name=table.name,
        state="missing" if is_missing else "drifted",
        reason="missing" if is_missing else "edited",
        action="create" if is_missing else "update",
        significance="semantic",
        before=None if is_missing else before,
        after="row-level security",
        differences=["row_security"],
        detail=f"row-level security of {table.name}: {', '.join(found)}",
    )
