"""The managed indexes: those that the migrations make, and those that negmem recorded as its own."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import psycopg

from negmem.core.automation.part import Consent, Part, Refusal, digest
from negmem.core.models.change import Change, UnmanagedObject
from negmem.core.session import Session
from negmem.db import index_changes
from negmem.db.connect import Connection
from negmem.db.index_changes import without_storage
from negmem.db.observed import LiveIndex, Observed, observe
from negmem.errors import NegmemError

_TURN_S = 600.0


@dataclass
class IndexPart(Part):
    """The managed indexes; `wanted` are statements, `canonical` what the server makes of them."""

    wanted: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    unrecorded: list[str] = field(default_factory=list)
    reduced: str = ""

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """Only a deletion needs a word."""
        if change.action == "delete" and not consent.prune:
            return Refusal("deletes only when asked to", "negmem sync --prune")
        return None

    def known(self) -> Iterator[tuple[str, str]]:
        """Every index by its name."""
        yield from super().known()
        yield from ((name, name) for name in self.wanted)

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Record what stands as wanted; the text of an index that will give way is kept."""
        index_changes.record(
            session.database, {name: self.canonical[name] for name in self.unrecorded}
        )
        for change in due:
            if change.reason == "edited":
                kept = {"kind": "index", "name": change.name, "definition": change.before}
                session.database.execute("drift", "keep_replaced", {**kept, "reason": "edited"})

    def finish(self, session: Session, due: Sequence[Change]) -> list[Change]:
        """Build, one by one, each by itself: what was built before an interruption stays."""
        if not due:
            return []
        database = session.database
        with _turn(session):
            with database.transaction() as connection:
                # Another process may have built them while this one waited for its turn.
                now = find(session, connection, observe(database, connection, app=session.app))
            made = [c for c in now.changes if c.name in {d.name for d in due}]
            for change in made:
                if change.action == "delete":
                    index_changes.drop(database, change.name)
                    values = {"kind": "index", "names": [change.name]}
                    database.execute("drift", "forget", values)
                else:
                    statement = self.wanted[change.name]
                    replaces = change.before is not None
                    index_changes.build(database, change.name, statement, replaces=replaces)
            with database.transaction() as connection:
                after = find(session, connection, observe(database, connection, app=session.app))
                after.apply(session, connection, [])
        wrong = {c.name for c in after.changes} & {c.name for c in due}
        if wrong:
            raise NegmemError(
                "sync_incomplete",
                "an index still differs after it was built; all else was kept",
                why=", ".join(sorted(wrong)),
                hint="negmem diff -v",
            )
        return made


class _turn:
    """Waits until no other process builds indexes of this schema, then holds the turn."""

    def __init__(self, session: Session) -> None:
        self._database = session.database

    def __enter__(self) -> None:
        deadline = time.monotonic() + _TURN_S
        while True:
            self._held = index_changes.sole_builder(self._database)
            if self._held.__enter__():
                return
            self._held.__exit__(None, None, None)
            if time.monotonic() > deadline:
                raise NegmemError(
                    "schema_locked",
                    "another process is building indexes of this schema",
                    why=f"it held the turn for {_TURN_S:.0f} s",
                    hint="negmem sync    once it has ended",
                )
            time.sleep(random.uniform(0.05, 0.25))

    def __exit__(self, *error: object) -> None:
        self._held.__exit__(None, None, None)


def find(session: Session, connection: Connection, observed: Observed) -> IndexPart:
    """Compare the indexes that stand with the wanted ones, inside the caller's transaction.

    An index that stands as negmem recorded it, from the same statement, costs no further question.
    """
    wanted = index_changes.wanted_indexes(session.database.schema)
    live = {index.name: index for index in observed.indexes}
    records = {r.name: r for r in observed.records if r.kind == "index"}
    part = IndexPart(wanted=wanted)
    open_names = []
    for name, statement in wanted.items():
        record, index = records.get(name), live.get(name)
        if index is None:
            continue
        is_known = record is not None and record.fingerprint == index_changes.template(statement)
        if is_known and record is not None:
            part.canonical[name] = record.definition
        if not is_known or _differs(index.definition, part.canonical[name]):
            open_names.append(name)
            part.unrecorded.append(name)
    _ask(session, connection, part, open_names)
    _accept_restored(session, connection, part, live)
    for name, statement in wanted.items():
        change = _compared(name, statement, live.get(name), part.canonical.get(name))
        if change is None:
            part.unchanged += 1
            continue
        part.changes.append(change)
        if name in part.unrecorded:
            part.unrecorded.remove(name)
    for name, index in live.items():
        if name in wanted or index.is_constraint:
            continue
        if name in records or name.endswith("_negmem_new"):
            part.changes.append(_leftover(index))
        else:
            part.unmanaged.append(UnmanagedObject(kind="index", name=name))
    part.seen = digest([[i.name, i.definition, i.is_valid] for i in observed.indexes])
    return part


def _ask(session: Session, connection: Connection, part: IndexPart, names: list[str]) -> None:
    """Let the server say what it makes of the statements of these indexes."""
    if not names:
        return
    database = session.database
    if database.facts.in_recovery or database.facts.read_only:
        part.reduced = "the server takes no writes, so bodies alone are compared"
        part.unrecorded.clear()
        return
    try:
        statements = {name: part.wanted[name] for name in names}
        part.canonical |= index_changes.expected_indexes(database, connection, statements)
    except psycopg.Error:
        part.reduced = "this role may not make temporary objects, so bodies alone are compared"
        part.unrecorded.clear()


def _accept_restored(
    session: Session, connection: Connection, part: IndexPart, live: Mapping[str, LiveIndex]
) -> None:
    """Take an index as it stands for the wanted one, where it is what a dump of the wanted one restores."""
    doubtful = {
        name: text
        for name, text in part.canonical.items()
        if name in live and _differs(live[name].definition, text)
    }
    if not doubtful or part.reduced:
        return
    printed = index_changes.reprinted_indexes(session.database, connection, doubtful)
    for name, text in printed.items():
        if not _differs(live[name].definition, text):
            part.canonical[name] = live[name].definition


def _differs(one: str, other: str) -> bool:
    return without_storage(one) != without_storage(other)


def _compared(
    name: str, statement: str, index: LiveIndex | None, canonical: str | None
) -> Change | None:
    if index is None:
        return _change(name, "missing", "create", None, canonical or statement, [])
    if canonical is not None and _differs(index.definition, canonical):
        differences = ["definition"] if index.is_valid else ["definition", "valid"]
        return _change(name, "edited", "replace", index.definition, canonical, differences)
    if not index.is_valid:
        after = canonical or statement
        before = f"{index.definition}\n-- invalid"
        return _change(name, "invalid", "replace", before, after, ["valid"])
    return None


def _leftover(index: LiveIndex) -> Change:
    return _change(index.name, "leftover", "delete", index.definition, None, [])


_DETAILS = {
    "edited": "another definition than negmem gave it",
    "invalid": "a build of it failed: it costs every write and serves no read",
    "leftover": "negmem's, wanted no longer",
}


def _change(
    name: str,
    reason: str,
    action: str,
    before: str | None,
    after: str | None,
    differences: list[str],
) -> Change:
    return Change.model_validate(
        {
            "kind": "index",
            "name": name,
            "state": "missing" if reason == "missing" else "drifted",
            "reason": reason,
            "action": action,
            "significance": "semantic",
            "before": before,
            "after": after,
            "differences": differences,
            "detail": _DETAILS.get(reason, ""),
        }
    )
