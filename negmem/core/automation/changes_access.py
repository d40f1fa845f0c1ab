"""Owner of and access to the managed functions: what a person changed since negmem looked last.

Grants are declared only where roles were asked for. Elsewhere they are the DBA's: a change is shown
once, kept by every replacement, and written down by `sync`; a function that was dropped gets them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from negmem.core.automation.part import Part, digest
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.db.connect import Connection
from negmem.db.function_access import Access, give_back, record
from negmem.db.function_catalog import LiveFunction, live_functions
from negmem.db.functions import Comparisons
from negmem.db.observed import Observed


@dataclass
class AccessPart(Part):
    """Owners and grants; `recorded` by signature."""

    recorded: dict[str, Access] = field(default_factory=dict)
    standing: set[str] = field(default_factory=set)
    unrecorded: set[str] = field(default_factory=set)

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Give a function that is back its old access, and write down what stands."""
        changed = {change.name for change in due}
        lost = self.recorded.keys() - self.standing
        if not (changed or lost or self.unrecorded):
            return
        live = live_functions(session.database, connection)
        back = [f for f in live if f.definition.signature in lost]
        for function in back:
            self._give_back(session, connection, function)
        gone = lost - {f.definition.signature for f in live}
        if gone:
            session.database.execute("functions", "forget", {"names": sorted(gone)})
        new = [f for f in live if f.definition.signature in changed | self.unrecorded]
        record(session.database, connection, new)

    def _give_back(self, session: Session, connection: Connection, function: LiveFunction) -> None:
        access = self.recorded[function.definition.signature]
        if access != Access.of(function):
            connection.execute(give_back(session.database, function, access))


def find(session: Session, comparisons: Comparisons, observed: Observed) -> AccessPart:
    """Compare owners and grants with what was written down when negmem looked last."""
    recorded = {r.name: Access.parse(r.definition) for r in observed.records if r.kind == "grant"}
    part = AccessPart(recorded=recorded)
    live = [c.live for c in comparisons.items if c.live is not None and c.wanted is not None]
    for function in live:
        name = function.definition.signature
        part.standing.add(name)
        known = recorded.get(name)
        if known is None:
            part.unrecorded.add(name)
        else:
            part.changes += _changes(name, known, Access.of(function))
    part.seen = digest([[f.definition.signature, str(Access.of(f))] for f in live])
    return part


def _changes(name: str, known: Access, now: Access) -> list[Change]:
    found = []
    if now.owner != known.owner:
        found.append(
            _change("function", name, "owner", f"owner {now.owner}", f"owner {known.owner}")
        )
    if now.grants != known.grants:
        lost = [grant for grant in known.grants if grant not in now.grants]
        new = [grant for grant in now.grants if grant not in known.grants]
        found.append(
            _change("grant", name, "grants", _callers(now), _callers(known), _words(new, lost))
        )
    return found


def _callers(access: Access) -> str:
    return f"EXECUTE: {', '.join(access.grants) or 'nobody'}"


def _words(new: list[str], lost: list[str]) -> str:
    parts = [f"given to {', '.join(new)}"] if new else []
    parts += [f"taken from {', '.join(lost)}"] if lost else []
    return "EXECUTE " + ", ".join(parts)


def _change(kind: str, name: str, what: str, before: str, after: str, detail: str = "") -> Change:
    return Change.model_validate(
        {
            "kind": kind,
            "name": name,
            "state": "drifted",
            "reason": "owner_changed" if what == "owner" else "grants_changed",
            "action": "update",
            "significance": "semantic",
            "before": before,
            "after": after,
            "differences": [what],
            "detail": detail or f"{before}, was {after.removeprefix('owner ')}",
        }
    )
