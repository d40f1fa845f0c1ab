"""The list of erased persons: written out before, replayed after a restore; certificates held against it."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from negmem.core.governance.erasure import digest_of, erase
from negmem.core.governance.trail import read_heads
from negmem.core.models.audit import TrailFault
from negmem.core.models.erasure import Erased, ErasureList, Replayed, ReplayedPerson
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

FORMAT = "negmem.erasures"
VERSION = 1


def write_list(session: Session, path: Path, *, with_key: bool = False) -> ErasureList:
    """Write the app's list of erased persons to a file that only its owner may read, replacing an older one.

    A line a person: an HMAC and when. With the key the list can be replayed on another installation, and
    whoever has it can test a name against the list.
    Raises: NegmemError `export_not_written`, `privilege_missing`.
    """
    database = session.database
    rows = database.rows("erasure", "list", {"app_name": session.app})
    installation = database.row("erasure", "installation")
    key = database.row("erasure", "key") if with_key else None
    assert installation is not None
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "app": session.app,
        "installation": installation["id"],
        "written_at": installation["now"].isoformat(),
        "key": None if key is None else key["key"],
    }
    lines = [head] + [
        {"person": row["person"], "erased_at": row["erased_at"].isoformat()} for row in rows
    ]
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise NegmemError(
            "export_not_written",
            "the list could not be written",
            why=f"{path}: {error.strerror or error}",
            hint="negmem audit head --erasures FILE    in a folder that can be written to",
        ) from None
    return ErasureList(path=str(path), app=session.app, persons=len(rows), with_key=with_key)


def replay(session: Session, path: Path, *, dry_run: bool = False) -> Replayed:
    """Erase again, after a restore, who is on the list and here.

    Users of the app are hashed under the list's key, or the installation's own where the list has none.
    Who became known after the erasure stays: that is a new beginning.
    Raises: UsageError `erasures_unreadable`, `erasures_of_another`; and as `erase`.
    """
    head, listed = _read(path)
    installation = session.database.row("erasure", "installation")
    key = session.database.row("erasure", "key")
    assert installation is not None and key is not None
    if head["app"] != session.app:
        raise UsageError(
            "erasures_of_another",
            "the list is that of another app",
            why=f"it is of {head['app']!r}, this is {session.app!r}",
            hint=f"negmem audit replay --app {head['app']} FILE",
        )
    if head["key"] is None and head["installation"] != installation["id"]:
        raise UsageError(
            "erasures_of_another",
            "the list is that of another installation, and has no key",
            why=f"it is of {head['installation']}, this is {installation['id']}",
            hint="negmem audit head --erasures FILE --with-key    on the installation that wrote it",
        )
    params = {"app_name": session.app, "key": head["key"] or key["key"], "persons": [*listed]}
    persons = []
    for row in session.database.rows("erasure", "listed_users", params):
        if row["created_at"] > listed[row["person"]]:
            persons.append(ReplayedPerson(person=row["person"], action="came_later", rows=0))
            continue
        try:
            done = erase(session, row["user_id"], dry_run=dry_run)
        except NegmemError as error:
            if error.code != "user_on_hold":
                raise
            persons.append(ReplayedPerson(person=row["person"], action="held", rows=0))
            continue
        action = "would_be_erased" if dry_run else "erased"
        persons.append(
            ReplayedPerson.model_validate(
                {"person": row["person"], "action": action, "rows": done.rows}
            )
        )
    return Replayed(
        app=session.app,
        listed=len(listed),
        persons=persons,
        erased=sum(1 for one in persons if one.action == "erased"),
        dry_run=dry_run,
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        lines = [
            json.loads(line)
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.strip()
        ]
        head, *rest = lines
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise ValueError("its first line is that of no such list")
        if head["key"] is not None and len(bytes.fromhex(head["key"])) != 32:
            raise ValueError("its key is none")
        if not isinstance(head["app"], str) or not isinstance(head["installation"], str):
            raise ValueError("its first line is that of no such list")
        return head, {str(one["person"]): datetime.fromisoformat(one["erased_at"]) for one in rest}
    except (OSError, ValueError, KeyError, TypeError, NegmemError) as error:
        raise UsageError(
            "erasures_unreadable",
            "this is no list of erased persons; nobody was erased",
            why=f"{path}: {str(error)[:120]}",
            hint="negmem audit head --erasures FILE    writes one",
        ) from None


def check_certificate(session: Session, path: Path) -> tuple[list[TrailFault], list[str]]:
    """What is wrong with a certificate of an erasure, and what can't be told of it.

    Its own hash; what the database keeps of this erasure, count for count; and the entry of the trail that
    it ends at. Of a person who was erased again since, the last certificate alone is kept.
    Raises: UsageError `certificate_unreadable`.
    """
    try:
        certificate = Erased.model_validate_json(
            json.dumps(
                {
                    key: value
                    for key, value in json.loads(path.read_text(encoding="utf-8")).items()
                    if key not in ("schema", "warnings")
                }
            )
        )
    except (OSError, ValueError, AttributeError, ValidationError):
        raise UsageError(
            "certificate_unreadable",
            "this is no certificate of an erasure",
            why=f"{path} holds no JSON that negmem audit erase --output wrote",
            hint="negmem audit erase --user NAME --output FILE",
        ) from None
    faults = []
    if digest_of(certificate) != certificate.sha256:
        faults.append(_fault("the certificate is not what its hash says"))
    params = {"app_name": session.app, "person": certificate.person}
    kept = session.database.row("erasure", "kept", params)
    if certificate.app != session.app or kept is None:
        said = "the list of erased persons does not have the one of the certificate"
        return [*faults, _fault(said)], []
    remarks = []
    if kept["sha256"] != certificate.sha256:
        ended = certificate.finished_at
        if ended is not None and kept["started_at"] is not None and kept["started_at"] > ended:
            remarks.append(_ERASED_AGAIN)
        else:
            faults.append(
                _fault("it is not the certificate that the database keeps of this erasure")
            )
    faults += _at_its_head(session, certificate.trail_head)
    return faults, remarks


def _at_its_head(session: Session, head: str) -> list[TrailFault]:
    """Whether the trail still has the entry that the certificate ends at."""
    (end,) = read_heads([head])
    row = session.database.row("trail", "at", {"app_name": end.app, "sequence": end.sequence})
    if row is not None and row["entry_hash"] == end.entry_hash:
        return []
    return [_fault(f"the trail does not have the entry that it ends at: {end.sequence:,}")]


_ERASED_AGAIN = (
    "the person was erased again since, and the database keeps the last certificate alone: the counts of this one"
    " rest on its own hash"
)


def _fault(said: str) -> TrailFault:
    return TrailFault(kind="certificate", first=None, last=None, said=said)
