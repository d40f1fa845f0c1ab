"""pgvector: there, not older than what the server offers, in the schema where negmem found it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from negmem.core.automation.part import Consent, Part, Refusal, digest
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.db.connect import Connection
from negmem.db.index_changes import record_extension
from negmem.db.observed import LiveExtension, Observed
from negmem.errors import NegmemError

_NAME = "vector"


@dataclass
class ExtensionPart(Part):
    """pgvector as it stands."""

    vector: LiveExtension = field(default_factory=lambda: LiveExtension(None, None, None, False))
    is_recorded: bool = True

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """What only the extension's owner may do, or nobody any more."""
        if change.reason == "missing":
            return Refusal(
                "its types went with it, and the columns of vectors with them",
                "restore from a backup, or: negmem init --schema ANOTHER_NAME",
            )
        if change.reason == "outdated" and not self.vector.is_ours:
            return Refusal("this role does not own the extension", "ALTER EXTENSION vector UPDATE;")
        return None

    def known(self) -> Iterator[tuple[str, str]]:
        """pgvector by the name that PostgreSQL gives it."""
        yield _NAME, _NAME

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Update it, and write down in which schema it stands."""
        if any(change.reason == "outdated" for change in due):
            _update(session)
        is_moved = any(change.reason == "moved" for change in due)
        if self.vector.installed is not None and (is_moved or not self.is_recorded):
            record_extension(session.database, str(self.vector.schema))


def _update(session: Session) -> None:
    try:
        session.database.execute("drift", "update_vector")
    except NegmemError as error:
        raise NegmemError(
            "extension_not_updated",
            "pgvector could not be brought up to date; nothing was done",
            why=error.why,
            hint=f'psql -d {session.database.facts.database} -c "ALTER EXTENSION vector UPDATE;"',
        ) from error


def find(session: Session, observed: Observed) -> ExtensionPart:
    """Compare pgvector with what the server offers and with where it stood."""
    vector = observed.vector
    record = observed.record("extension", _NAME)
    part = ExtensionPart(vector=vector, is_recorded=record is not None)
    part.seen = digest([vector.installed, vector.available, vector.schema])
    if vector.installed is None:
        part.changes.append(_change("missing", "create", None, vector.available, "not installed"))
        return part
    if vector.available is not None and _version(vector.installed) < _version(vector.available):
        detail = f"{vector.installed} is installed, the server offers {vector.available}"
        part.changes.append(
            _change("outdated", "update", vector.installed, vector.available, detail)
        )
    if record is not None and record.definition != vector.schema:
        detail = f"from schema {record.definition} to {vector.schema}; the functions follow"
        part.changes.append(
            _change(
                "moved", "update", f"schema {vector.schema}", f"schema {record.definition}", detail
            )
        )
    part.unchanged = 0 if part.changes else 1
    return part


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _change(reason: str, action: str, before: str | None, after: str | None, detail: str) -> Change:
    return Change.model_validate(
        {
            "kind": "extension",
            "name": _NAME,
            "state": "missing" if reason == "missing" else "drifted",
            "reason": reason,
            "action": action,
            "significance": "semantic",
            "before": before,
            "after": after,
            "differences": ["schema"] if reason == "moved" else ["version"],
            "detail": detail,
        }
    )
