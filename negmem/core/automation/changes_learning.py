"""What of `learning` the database has to know: who may read and write what is shared with the whole app."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from negmem.core.automation.part import Part, digest
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.db.connect import Connection

_KEY = "learning.global_access"


@dataclass
class LearningPart(Part):
    """At most one change: functions that are called from SQL keep to what is stored."""

    def known(self) -> Iterator[tuple[str, str]]:
        """The key of the YAML."""
        yield _KEY, _KEY

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Store what is declared."""
        if due:
            store(session)


def find(session: Session) -> LearningPart:
    """Compare what is declared with what is stored for the app."""
    row = session.database.row("namespaces", "declared_access", {"app_name": session.app})
    declared = session.config.learning.global_access
    stored = declared if row is None else row["global_access"]
    part = LearningPart(unchanged=int(stored == declared), seen=digest(stored))
    if stored != declared:
        origin = session.loaded.origins.get(_KEY)
        part.changes.append(
            Change(
                kind="config",
                name=_KEY,
                state="drifted",
                reason="yaml_changed",
                action="update",
                significance="semantic",
                before=stored,
                after=declared,
                differences=["global_access"],
                detail="" if origin is None else str(origin),
            )
        )
    return part


def store(session: Session) -> None:
    """Write down what the config declares, inside of a transaction."""
    declared = {"app_name": session.app, "global_access": session.config.learning.global_access}
    session.database.execute("namespaces", "declare_access", declared)
