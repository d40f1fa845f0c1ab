"""What the kinds of managed things have in common: found at one moment, put right by one plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from negmem.core.automation.declared import Taken
from negmem.core.models.change import Change, UnmanagedObject
from negmem.core.session import Session
from negmem.db.connect import Connection


@dataclass(frozen=True)
class Consent:
    """What a person allowed `sync` to do beyond the harmless. `adopt`: jobs without a record of ours."""

    overwrite_edited: bool = False
    prune: bool = False
    take: Taken | None = None
    adopt: bool = False


@dataclass(frozen=True)
class Refusal:
    """Why a change is left alone, and what would make it."""

    why: str
    hint: str


@dataclass
class Part:
    """One kind of thing: what differs, what is not negmem's, how many agree.

    `seen` is a digest of everything that was looked at, by which a plan file is told from a database
    that moved on. A kind is a subclass in a module changes_<kind>.py with a function `find`.
    """

    changes: list[Change] = field(default_factory=list)
    unmanaged: list[UnmanagedObject] = field(default_factory=list)
    unchanged: int = 0
    seen: str = ""

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """Why this change is left alone; None where it is made."""
        return None

    def known(self) -> Iterator[tuple[str, str]]:
        """The words by which a thing of this part may be asked for, each with the thing's name.

        What agrees is among them, so that a name that says nothing is told from a mistyped one.
        """
        for name in [*(c.name for c in self.changes), *(u.name for u in self.unmanaged)]:
            yield name, name

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Make the changes of this part inside the plan's transaction.

        Called where nothing is due too, so that what is only to be recorded can be.
        """

    def finish(self, session: Session, due: Sequence[Change]) -> list[Change]:
        """Make, after the commit, what can't be in a transaction; may be repeated after a failure.

        Returns the changes that it made.
        """
        return []


def digest(value: object) -> str:
    """Sixteen hex digits that stand for a value of plain JSON types, whatever the order of keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
