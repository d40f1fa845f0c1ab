"""Brings an export of one person back, with the same ids: checked whole, then written table by table."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import ValidationError

from negmem.core.embedding import embed_texts
from negmem.core.governance.export import TRAIL, exported_columns
from negmem.core.governance.registry import REWRITTEN, TABLES, owner_column
from negmem.core.learning import items
from negmem.core.learning.access import Owner
from negmem.core.models.export import (
    FORMAT,
    VERSION,
    Exported,
    Imported,
    ImportedTable,
    ImportSkipped,
)
from negmem.core.on_trail import record_brought_back
from negmem.core.pii import guard_of
from negmem.core.session import Session
from negmem.core.text.indexed import embedded_text
from negmem.core.text.refusals import being_erased, paused
from negmem.errors import NegmemError

_BATCH = 200
_KNOWN = {one.name: one for one in TABLES}
# Told by an export, and not brought back.
_NOT_BACK = {
    TRAIL: "the trail of an installation is its own",
    "consolidation_jobs": "the queue belongs to the installation; consolidate queues anew",
    "namespace_members": "who shares what is granted where it holds: namespace grant",
    "tool_calls": "a rate limit of the installation",
}
# Of which lesson or entity a row is, or is part of: kind of item, column.
_SHARED = {
    "learnings": (("learning", "id"),),
    "entities": (("entity", "id"),),
    "entity_facts": (("entity", "entity"),),
    "entity_events": (("entity", "entity"),),
    "entity_relations": (("entity", "source"),),
}
_SHARED_BATCH = 200
# Settings of the installation that a row was computed by.
_ANEW = ("fades_", "due_at", "erasing_since")


@dataclass
class _File:
    manifest: Exported
    sequence: list[int]


@dataclass
class _Work:
    added: dict[str, int] = field(default_factory=dict)
    stood: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    successors: list[tuple[UUID, UUID]] = field(default_factory=list)
    sequence: dict[int, int] = field(default_factory=dict)
    erased_at: datetime | None = None
    shared: dict[str, set[UUID]] = field(default_factory=dict)
    embedded: int = 0


def bring_back(
    session: Session,
    path: Path,
    *,
    dry_run: bool = False,
    consent: Callable[[str, datetime], bool] = lambda user, at: False,
    on_progress: Callable[[int, str], None] | None = None,
) -> Imported:
    """Write what an export holds into the session's app, with the same ids, searchable.

    The file is read whole and its hashes compared before anything is written. Rows that stand under the
    same key stay as they are, so that a run that was cut off may be repeated. The policies of personal
    data act as on any other write. Vectors are computed with this app's model.
    Who was erased here comes back only with `consent`, asked with the user and when that was; the trail keeps it.
    Raises: NegmemError `person_erased` without consent, `import_unreadable`, `import_damaged`, `import_newer`, `import_foreign`; `user_paused`,
    also where the person objected before an erasure, and `user_being_erased`.
    """
    checked = _check(path)
    user = checked.manifest.user
    work = _Work()
    scope = {"user_id": user, "app_name": session.app}
    _check_may_write(session, user)
    work.erased_at = _erased(session, user)
    if work.erased_at is not None and not dry_run and not consent(user, work.erased_at):
        raise NegmemError(
            "person_erased",
            "this person was erased here",
            why=_said_of(user, work.erased_at),
            hint=f"negmem import {shlex.quote(str(path))} --yes    brings the person back",
        )
    if not dry_run:
        work.sequence = _renumbered(session, checked.sequence)
    for table, rows in _batches(path):
        if table in _NOT_BACK:
            work.skipped[table] = work.skipped.get(table, 0) + len(rows)
            continue
        if not dry_run:
            _write(session, user, table, rows, work)
        if on_progress is not None:
            on_progress(sum(work.added.values()) + sum(work.stood.values()), table)
    if work.successors and not dry_run:
        with session.database.transaction():
            ids, successors = zip(*work.successors, strict=True)
            params = {"ids": list(ids), "successors": list(successors)}
            session.database.execute("export", "succeed", {**scope, **params})
    _index_shared(session, user, work)
    names = list(dict.fromkeys((*work.added, *work.stood)))
    return Imported(
        app=session.app,
        user=user,
        from_app=checked.manifest.app,
        exported_at=checked.manifest.exported_at,
        tables=[
            ImportedTable(table=one, added=work.added.get(one, 0), stood=work.stood.get(one, 0))
            for one in names
        ],
        added=sum(work.added.values()),
        stood=sum(work.stood.values()),
        skipped=[
            ImportSkipped(table=table, rows=rows, reason=_NOT_BACK[table])
            for table, rows in work.skipped.items()
        ],
        embedded=work.embedded,
        sha256=checked.manifest.sha256,
        dry_run=dry_run,
    )


def _check_may_write(session: Session, user: str) -> None:
    scope = {"user_id": user, "app_name": session.app}
    standing = session.database.row("user", "standing", scope)
    if standing is not None and standing["erasing_since"] is not None:
        raise being_erased(user)
    if standing is not None and standing["paused_at"] is not None:
        raise paused(user)


def _erased(session: Session, user: str) -> datetime | None:
    """When the person was erased here, with a warning; None for everybody else."""
    row = session.database.row("export", "erased", {"user_id": user, "app_name": session.app})
    at: datetime | None = row["at"] if row else None
    if at is not None:
        session.warn("person_erased", _said_of(user, at))
    return at


def _said_of(user: str, at: datetime) -> str:
    return (
        f'"{user}" was erased here on {at:%Y-%m-%d} and is still on the list: after a restore'
        " `audit replay` erases the person again"
    )


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise NegmemError(
            "import_unreadable",
            "the file can't be read",
            why=f"{path}: {error.strerror or error}",
            hint="negmem import FILE",
        ) from None


def _check(path: Path) -> _File:
    """Head and manifest of a file whose every line is as it was written, and of one person."""
    whole = hashlib.sha256()
    digests: dict[str, tuple[Any, int]] = {}
    sequence: list[int] = []
    head: dict[str, Any] | None = None
    manifest: Exported | None = None
    for number, data in enumerate(_lines(path), 1):
        document = _document(path, number, data)
        if manifest is not None:
            raise _damaged(path, f"line {number} comes after the manifest")
        if head is None:
            head = _head(path, document)
        elif "manifest" in document:
            manifest = _manifest(path, document["manifest"])
            continue
        else:
            table = document.get("table")
            _check_row(path, number, table, document.get("row"), head["user"])
            digest, count = digests.get(str(table), (hashlib.sha256(), 0))
            digest.update(data)
            digests[str(table)] = (digest, count + 1)
            if table == "events":
                place = document["row"].get("sequence_num")
                if not isinstance(place, int):
                    raise _damaged(path, f"line {number}: the event has no place in its order")
                sequence.append(place)
        whole.update(data)
    if head is None or manifest is None:
        raise _damaged(path, "it has no manifest: its end is missing")
    found = {name: (digest.hexdigest(), count) for name, (digest, count) in digests.items()}
    said = {one.table: (one.sha256, one.rows) for one in manifest.tables}
    if found != said or whole.hexdigest() != manifest.sha256 or manifest.user != head["user"]:
        wrong = sorted(
            name for name in found.keys() | said.keys() if found.get(name) != said.get(name)
        )
        raise _damaged(
            path, f"lines of {', '.join(wrong) or 'its head'} are not as they were written"
        )
    return _File(manifest, sequence)


def _renumbered(session: Session, sequence: list[int]) -> dict[int, int]:
    """New numbers for the events, in their old order: what is said from now on comes after them."""
    if not sequence:
        return {}
    with session.database.transaction():
        params = {"schema": session.database.schema, "count": len(sequence)}
        rows = session.database.rows("export", "numbers", params)
    return dict(zip(sorted(sequence), (row["number"] for row in rows), strict=True))


def _document(path: Path, number: int, data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise _damaged(path, f"line {number} is no JSON object")
    return document


def _head(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    if document.get("format") != FORMAT or not isinstance(document.get("user"), str):
        raise NegmemError(
            "import_unreadable",
            "this is no export",
            why=f"the first line of {path} does not say {FORMAT}",
            hint="negmem audit export --user NAME --output FILE    writes one; conversations: negmem ingest",
        )
    if document.get("version") != VERSION:
        raise NegmemError(
            "import_newer",
            "the export is of another version",
            why=f"version {document.get('version')!r}, this program reads {VERSION}",
            hint="pip install --upgrade negmem",
        )
    return document


def _manifest(path: Path, said: Any) -> Exported:
    try:
        return Exported.model_validate({**said, "path": None}, strict=False)
    except (ValidationError, TypeError):
        raise _damaged(path, "its manifest can't be read") from None


def _check_row(path: Path, number: int, table: object, row: object, user: str) -> None:
    if table == TRAIL:
        return
    entry = _KNOWN.get(str(table))
    if entry is None or entry.owner not in ("user", "kind") or not isinstance(row, dict):
        raise _damaged(path, f"line {number} is no row of a table that is known here")
    unknown = row.keys() - set(exported_columns(entry))
    if unknown:
        raise _damaged(path, f"line {number}: {entry.name} has no {sorted(unknown)[0][:40]!r} here")
    if row.get(owner_column(entry)) != user or row.get("owner_kind", "user") != "user":
        raise NegmemError(
            "import_foreign",
            "the file holds rows of somebody else",
            why=f'line {number} of {path} is not of user "{user}"',
            hint="negmem audit export --user NAME --output FILE    writes one person each",
        )


def _damaged(path: Path, why: str) -> NegmemError:
    return NegmemError(
        "import_damaged",
        "the export is damaged, nothing was written",
        why=f"{path}: {why}",
        hint="negmem audit export --user NAME --output FILE    once more",
    )


def _batches(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    name = ""
    rows: list[dict[str, Any]] = []
    for number, data in enumerate(_lines(path), 1):
        document = json.loads(data)
        if number == 1 or "manifest" in document:
            continue
        if rows and (document["table"] != name or len(rows) >= _BATCH):
            yield name, rows
            rows = []
        name = document["table"]
        rows.append(document["row"])
    if rows:
        yield name, rows


def _write(
    session: Session, user: str, table: str, rows: list[dict[str, Any]], work: _Work
) -> None:
    """One batch of one table, in one transaction; vectors after it."""
    entry = _KNOWN[table]
    guard = guard_of(session)
    ready: list[dict[str, Any]] = []
    for row in rows:
        mine = {key: value for key, value in row.items() if not key.startswith(_ANEW)}
        mine["app_name"] = session.app
        if table == "events":
            mine["sequence_num"] = work.sequence[row["sequence_num"]]
        if table == "facts" and mine.pop("superseded_by", None) is not None:
            work.successors.append((UUID(mine["id"]), UUID(row["superseded_by"])))
        if guard.is_active:
            names = [name for name in entry.of_kind(*REWRITTEN) if mine.get(name) is not None]
            values, flags = guard.screen_value([mine[name] for name in names])
            mine.update(zip(names, values, strict=True))
            for holder in ("metadata", "details"):
                if flags and isinstance(mine.get(holder), dict):
                    mine[holder] = {**mine[holder], **flags}
        ready.append(mine)
    scope = {"user_id": user, "app_name": session.app}
    database = session.database
    with database.transaction():
        standing = database.row("user", "share", scope)
        if standing is not None and standing["is_erasing"]:
            raise being_erased(user)
        added = database.rows("export", "import", {"table": table, "rows": Jsonb(ready)})
        places = [int(row["place"]) for row in added]
        ids = sorted(UUID(ready[place]["id"]) for place in places if "id" in ready[place])
        if ids and table == "memories":
            database.rows("pii", "index_memories", {**scope, "ids": ids})
            database.rows("export", "rescore", {**scope, "ids": ids})
        if ids and table == "facts":
            database.rows("pii", "index_facts", {**scope, "ids": ids})
        if places and work.erased_at is not None:
            # Once an import, with the first rows that come: what adds nothing brought nobody back.
            record_brought_back(session, user, f"by import, erased on {work.erased_at:%Y-%m-%d}")
            work.erased_at = None
    work.added[table] = work.added.get(table, 0) + len(places)
    work.stood[table] = work.stood.get(table, 0) + len(ready) - len(places)
    for kind, column in _SHARED.get(table, ()):
        work.shared.setdefault(kind, set()).update(UUID(row[column]) for row in ready)
    if table in ("memories", "facts"):
        every = [UUID(row["id"]) for row in ready]
        work.embedded += _embed(session, scope, every)


def _index_shared(session: Session, user: str, work: _Work) -> None:
    """Lessons and entities, once all of their parts stand: words, and vectors after them."""
    owner = Owner("user", user)
    for kind, found in work.shared.items():
        ids = sorted(found)
        for start in range(0, len(ids), _SHARED_BATCH):
            few = ids[start : start + _SHARED_BATCH]
            with session.database.transaction():
                items.lock_store(session, owner, kind)
                items.unindex(session, owner, kind, few)
                items.index(session, owner, kind, few)
            for one in few:
                items.embed(session, owner, kind, one)


def _embed(session: Session, scope: dict[str, str], ids: list[UUID]) -> int:
    """Vectors for those that have none: a run before may have ended between rows and vectors."""
    database = session.database
    bare = database.rows("export", "bare", {**scope, "ids": ids})
    texts = [
        embedded_text(row["speaker"], row["text"]) if row["kind"] == "memory" else row["text"]
        for row in bare
    ]
    made = embed_texts(session, texts)
    if made is None:
        return 0
    count = 0
    with database.transaction():
        for row, values in zip(bare, made.vectors, strict=True):
            if values is not None:
                put = {
                    f"{row['kind']}_id": row["id"],
                    "model_id": made.model_id,
                    "embedding": values,
                }
                count += database.execute("pii", f"put_{row['kind']}_vector", {**scope, **put})
    return count
