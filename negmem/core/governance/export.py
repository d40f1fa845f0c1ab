"""Everything that is held about one person, as JSON Lines: a head, a row a line, a manifest with hashes.

Which tables and columns is said by the registry. What is computed from the rest (vectors, words, counts,
caches, groups) and keys are left out. All of it is read as of one moment.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from negmem.core.governance.pages import Pages
from negmem.core.governance.registry import KINDS, TABLES, Table
from negmem.core.models.export import FORMAT, VERSION, Exported, ExportedTable
from negmem.core.pii import guard_of
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

# Made anew from the rest, or no row of content: none of it is anybody's words.
LEFT_OUT = frozenset(
    (
        *("memory_vectors", "memory_terms", "memory_term_stats", "fact_vectors", "fact_terms"),
        *("fact_term_stats", "shared_vectors", "shared_terms", "shared_term_stats"),
        *("memory_preload_cache", "memory_topics", "memory_topic_members", "audit_keys"),
        *("audit_details", "audit_requests"),
    )
)
TRAIL = "audit_trail"
"""The person's entries of the trail with their readable side; told, never brought back."""
_ALL = 2**62


def exported_columns(table: Table) -> list[str]:
    """The columns of a table that an export has."""
    return sorted(table.plain) + [
        name for name, kind in table.columns.items() if KINDS[kind][2] or kind == "hash"
    ]


def export(
    session: Session,
    user: str,
    write: Callable[[str], object],
    *,
    path: str | None = None,
    on_progress: Callable[[int, str], None] | None = None,
) -> Exported:
    """Write everything about one person, line by line, through `write`; returns the manifest.

    Rows of others are in none of the statements; where a text speaks of somebody else, it is this
    person's text. Raises: NegmemError `export_withheld`, `privilege_missing`.
    """
    check_may_see(session, user)
    scope = {"user_id": user, "app_name": session.app}
    session.knows_user(user)
    whole = hashlib.sha256()
    tables: list[ExportedTable] = []
    rows = 0

    def line(document: dict[str, Any]) -> bytes:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        write(text + "\n")
        data = f"{text}\n".encode()
        whole.update(data)
        return data

    with session.database.transaction(read_only=True):
        session.database.execute("export", "one_snapshot")
        now = session.database.row("export", "now")
        assert now is not None
        line(
            {
                "format": FORMAT,
                "version": VERSION,
                "app": session.app,
                "user": user,
                "exported_at": now["now"].isoformat(),
            }
        )
        for name, found in _tables(session, user, scope):
            digest, count = hashlib.sha256(), 0
            for row in found:
                digest.update(line({"table": name, "row": row}))
                count += 1
                rows += 1
                if on_progress is not None and rows % 500 == 0:
                    on_progress(rows, name)
            if count:
                tables.append(ExportedTable(table=name, rows=count, sha256=digest.hexdigest()))
    manifest = Exported(
        format=FORMAT,
        version=VERSION,
        app=session.app,
        user=user,
        exported_at=now["now"],
        tables=tables,
        rows=rows,
        sha256=whole.hexdigest(),
        path=path,
    )
    said = manifest.model_dump(mode="json", exclude={"path"})
    write(json.dumps({"manifest": said}, ensure_ascii=False, separators=(",", ":")) + "\n")
    return manifest


def check_may_see(session: Session, user: str) -> None:
    """Refuse a role that may not see raw text. Raises: NegmemError `export_withheld`."""
    guard = guard_of(session)
    if guard.is_active and not guard.sees_raw:
        raise NegmemError(
            "export_withheld",
            "an export holds what is stored, and this role may not see it",
            why=f"{session.database.facts.role} is neither owner nor auditor",
            hint=f"negmem audit export --user {user}    as the owner",
        )


def _tables(
    session: Session, user: str, scope: dict[str, str]
) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    for table in TABLES:
        if table.owner in ("user", "kind") and table.name not in LEFT_OUT:
            yield table.name, rows_of(session, user, table)
    yield TRAIL, trail_of(session, scope)


def rows_of(session: Session, user: str, table: Table) -> Iterator[dict[str, Any]]:
    """The person's rows of one table with the columns of an export."""
    pages = Pages(session, user, tables=[table.name], must_read=True)
    for page in pages.read({table.name: exported_columns(table)}, _ALL):
        for row in page:
            yield row.said


def trail_of(session: Session, scope: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The person's entries of the trail with their readable side, in their order."""
    after = -1
    while True:
        params = {**scope, "after": after, "row_limit": 500}
        found = session.database.rows("export", "trail", params)
        for row in found:
            after = row["sequence"]
            yield json.loads(json.dumps(row, default=_as_text))
        if len(found) < 500:
            return


def _as_text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def export_to_file(
    session: Session,
    user: str,
    path: Path,
    *,
    on_progress: Callable[[int, str], None] | None = None,
) -> Exported:
    """As `export`, into a new file that only its owner may read; half a file is never left there.

    Raises: UsageError `file_exists`; NegmemError `export_not_written`, and as `export`.
    """
    with new_file(path) as write:
        return export(session, user, write, path=str(path), on_progress=on_progress)


@contextmanager
def new_file(path: Path) -> Iterator[Callable[[str], object]]:
    """What writes into a file that only its owner may read; it is there when all is in it, or not at all.

    Raises: UsageError `file_exists`; NegmemError `export_not_written`.
    """
    if path.exists():
        raise UsageError(
            "file_exists",
            "there is such a file already",
            why=f"{path} would be overwritten",
            hint=f"rm {path}    or another name",
        )
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                yield file.write
                file.flush()
                os.fsync(file.fileno())
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise NegmemError(
            "export_not_written",
            "the export could not be written",
            why=f"{path}: {error.strerror or error}",
            hint="--output with a folder that can be written to",
        ) from None
