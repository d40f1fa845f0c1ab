"""Proof that nobody rewrote the audit trail: every hash computed anew, every link followed, heads compared."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from negmem.core.models.audit import HeadChecked, TrailFault, TrailHead, TrailVerified
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

_PAGE = 5000
_MAX_FAULTS = 100
_SHORTEST_KEY = 16
_HEAD = re.compile(
    r"^(?P<said>negmem-head:(?P<app>.+?):(?P<sequence>\d{1,18}):(?P<hash>[0-9a-f]{64}))"
    r"(?::(?P<signature>[0-9a-f]{64}))?$"
)
_NO_HEAD = (
    "without a head kept outside this database it can't be told whether the trail was rewritten whole"
    " or cut at its end: negmem audit head, then negmem audit verify --head"
)
_UNGUARDED = (
    "the trigger that refuses changes of the trail is off, changed or gone: who owns the table took it off. As the"
    " owner: ALTER TABLE memory_audit_logs ENABLE TRIGGER memory_audit_logs_append_only"
)
_UNSIGNED = "heads without a signature are believed as they were given: governance.trail_key_env"
_BEYOND = "entries after the last head are linked to it, and could have been cut off or rewritten"


def head(session: Session, *, signed: bool = True) -> TrailHead:
    """The last entry of the app's trail; signed where `governance.trail_key_env` asks for it.

    Raises: NegmemError `trail_key_missing`.
    """
    row = session.database.row("trail", "head", {"app_name": session.app})
    if row is None:
        genesis = session.database.row("trail", "genesis", {"app_name": session.app})
        assert genesis is not None
        row = {"sequence": 0, "entry_hash": genesis["entry_hash"], "at": None, "entries": 0}
    said = f"negmem-head:{session.app}:{row['sequence']}:{row['entry_hash']}"
    key = _key(session) if signed else None
    return TrailHead(
        app=session.app, head=said if key is None else f"{said}:{_signature(key, said)}", **row
    )


def _key(session: Session) -> bytes | None:
    """The key outside the database under which heads are signed. Raises: NegmemError `trail_key_missing`."""
    name = session.config.governance.trail_key_env
    if name is None:
        return None
    value = session.env.get(name, "")
    if len(value) < _SHORTEST_KEY:
        raise NegmemError(
            "trail_key_missing",
            "the key that signs heads of the trail is not at hand",
            why=f"governance.trail_key_env names {name}, which "
            + ("is not set" if not value else f"has less than {_SHORTEST_KEY} characters"),
            hint=f'export {name}="$(openssl rand -hex 32)"    once; the same from then on',
        )
    return value.encode()


def _signature(key: bytes, said: str) -> str:
    return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Head:
    """A head that was kept: what it says, the parts of it, and its signature in hexadecimal."""

    said: str
    app: str
    sequence: int
    entry_hash: str
    signature: str | None


def read_heads(given: Sequence[str]) -> list[Head]:
    """Heads as `audit head` prints them: as they are, or files with one in each line.

    Raises: UsageError `head_malformed`.
    """
    found = []
    for text in given:
        lines = [text]
        if not text.startswith("negmem-head:"):
            try:
                lines = [
                    line.strip()
                    for line in Path(text).read_text(encoding="utf-8").splitlines()
                    if line.strip()
                ]
            except (OSError, ValueError):
                lines = []
        for line in lines:
            match = _HEAD.match(line)
            if match is None:
                raise _malformed(text)
            said, app, number = match["said"], match["app"], int(match["sequence"])
            found.append(Head(said, app, number, match["hash"], match["signature"]))
        if not lines:
            raise _malformed(text)
    return found


def _malformed(text: str) -> UsageError:
    return UsageError(
        "head_malformed",
        "this is no head of a trail",
        why=f"{text[:60]!r} is neither what negmem audit head prints nor a file of such lines",
        hint="negmem audit head > head.txt; negmem audit verify --head head.txt",
    )


def verify(session: Session, heads: Sequence[str] = ()) -> TrailVerified:
    """Check the app's whole trail as of one moment, and against heads that were kept elsewhere.

    Any change, removal, reorder or insertion is a fault with its place. With `governance.trail_key_env` a head
    that is signed must be signed with that key. Without a head a trail that was
    rewritten whole, or cut at its end, looks whole: a remark says so.
    Raises: UsageError `head_malformed`, `head_of_another_app`; NegmemError `privilege_missing`,
    `trail_key_missing`.
    """
    wanted = read_heads(heads)
    key = _key(session)
    _ = (
        session.database.facts
    )  # asked for before the transaction, whose first statement takes the snapshot
    for app in (one.app for one in wanted):
        if app != session.app:
            raise UsageError(
                "head_of_another_app",
                "the head is that of another app",
                why=f"it is of {app!r}, the trail is that of {session.app!r}",
                hint=f"negmem audit verify --app {app} --head …",
            )
    with session.database.transaction(read_only=True, statement_timeout_ms=0):
        session.database.execute("export", "one_snapshot")
        found = check(session, [(one.sequence, one.entry_hash) for one in wanted])
    forged = [
        one
        for one in wanted
        if key is not None
        and one.signature is not None
        and not hmac.compare_digest(one.signature, _signature(key, one.said))
    ]
    said = "the head was not signed with the key at hand: another key, or made up"
    faults = [_fault("head_forged", one.sequence, one.sequence, said) for one in forged]
    remarks = list(found.remarks)
    if any(key is None or one.signature is None for one in wanted):
        remarks.append(_UNSIGNED)
    return found.model_copy(
        update={
            "faults": [*found.faults, *faults],
            "whole": found.whole and not faults,
            "proven_to": None if faults else found.proven_to,
            "remarks": remarks,
        }
    )


def check(session: Session, heads: Sequence[tuple[int, str]] = ()) -> TrailVerified:
    """As `verify`, in the transaction that is open; heads as sequence and hash in hexadecimal."""
    end = head(session, signed=False)
    genesis = session.database.row("trail", "genesis", {"app_name": session.app})
    assert genesis is not None
    faults: list[TrailFault] = []
    bare: dict[str, list[int]] = {}
    expected, link = 1, str(genesis["entry_hash"])
    hashes = {0: link}
    wanted = {sequence for sequence, _ in heads}
    for row in _entries(session):
        number = int(row["sequence"])
        if number in wanted:
            hashes[number] = row["entry_hash"]
        if number != expected:
            faults.append(
                _fault("removed", expected, number - 1, "entries are missing here")
                if number > expected
                else _fault("changed", number, number, "its number is none that a trail has")
            )
        elif row["previous_hash"] != link:
            faults.append(
                _fault("rewritten", number, number, "it does not follow from the entry before it")
            )
        if not row["is_intact"]:
            faults.append(_fault("changed", number, number, "it is not what its hash says"))
        if not row["has_details"]:
            bare.setdefault(row["person"], []).append(number)
        elif not row["are_details_intact"]:
            said = "note, key, actor or person are not what was hashed"
            faults.append(_fault("details_changed", number, number, said))
        expected, link = number + 1, row["entry_hash"]
    known = session.database.rows("trail", "known", {"app_name": session.app, "persons": [*bare]})
    for one in known:
        for number in bare[one["person"]]:
            said = "its readable side is gone, and the person was not erased"
            faults.append(_fault("details_missing", number, number, said))
    orphans = session.database.row("trail", "orphans", {"app_name": session.app})
    assert orphans is not None
    if orphans["orphans"]:
        said = f"{orphans['orphans']:,} readable sides belong to no entry"
        faults.append(_fault("details_foreign", None, None, said))
    checked, at_heads = _compare(heads, hashes)
    faults += at_heads
    proven = max((one.sequence for one in checked if one.holds), default=None)
    remarks = []
    if not heads:
        remarks.append(_NO_HEAD)
    elif proven is not None and proven < end.sequence:
        remarks.append(f"{_BEYOND}: {proven + 1:,} to {end.sequence:,}")
    guard = session.database.row("trail", "guard", {"schema": session.database.schema})
    if guard is None or not guard["stands"]:
        remarks.append(_UNGUARDED)
    erased = sum(len(numbers) for numbers in bare.values()) - sum(
        len(bare[one["person"]]) for one in known
    )
    if erased:
        remarks.append(f"{erased:,} entries are about persons who were erased: they name nobody")
    faults.sort(key=lambda fault: (fault.first is None, fault.first or 0))
    return TrailVerified(
        app=session.app,
        whole=not faults,
        entries=end.entries,
        faults=faults[:_MAX_FAULTS],
        heads=checked,
        proven_to=proven if not faults else None,
        remarks=remarks,
        head=end.head,
    )


def _entries(session: Session) -> Iterator[dict[str, Any]]:
    after = -(2**62)
    while True:
        params = {"app_name": session.app, "after": after, "row_limit": _PAGE}
        rows = session.database.rows("trail", "page", params)
        yield from rows
        if len(rows) < _PAGE:
            return
        after = rows[-1]["sequence"]


def _compare(
    heads: Sequence[tuple[int, str]], hashes: dict[int, str]
) -> tuple[list[HeadChecked], list[TrailFault]]:
    """Each head against the entry of its number; what is between the last that holds and the first that
    does not was rewritten."""
    checked, faults, sound = [], [], 0
    for sequence, digest in sorted(heads):
        holds = hashes.get(sequence) == digest
        checked.append(HeadChecked(sequence=sequence, entry_hash=digest, holds=holds))
        if holds:
            sound = sequence
        elif sequence not in hashes:
            said = f"the head names entry {sequence:,}, which is not there"
            faults.append(_fault("cut", min(sound + 1, sequence), sequence, said))
        else:
            said = f"entry {sequence:,} is not the one that the head names"
            faults.append(_fault("rewritten", min(sound + 1, sequence), sequence, said))
    return checked, faults


def _fault(kind: str, first: int | None, last: int | None, said: str) -> TrailFault:
    return TrailFault(kind=kind, first=first, last=last, said=said)
