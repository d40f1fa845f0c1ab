"""Reads the tables of the registry page by page, from where a run before ended."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.governance.registry import TABLES, Table
from negmem.core.models.pii import PiiSkipped
from negmem.core.session import Session
from negmem.db.failures import NO_PRIVILEGE, DatabaseError
from negmem.errors import UsageError

PAGE_ROWS = 500


@dataclass(frozen=True)
class Row:
    """One row: its key as stored, and the columns that were asked for."""

    table: Table
    key: list[Any]
    said: dict[str, Any]

    @property
    def id(self) -> UUID | None:
        """The last part of the key that is a UUID."""
        for part in reversed(self.key):
            try:
                return UUID(part)
            except (ValueError, TypeError, AttributeError):
                continue
        return None


class Pages:
    """Rows of the wanted tables, in the order of the registry. `rows` of `tables` were read so far.

    A table that the role may not read is `skipped`, or with `must_read` an error.
    """

    def __init__(
        self,
        session: Session,
        user: str | None,
        *,
        tables: Sequence[str] | None = None,
        after: str | None = None,
        must_read: bool = False,
    ) -> None:
        self._must_read = must_read
        self._session = session
        self._user = user
        self._wanted = _known(tables)
        self._start = None if after is None else _place(after)
        self.rows = 0
        self.tables = 0
        self.skipped: list[PiiSkipped] = []

    def read(self, columns: dict[str, list[str]], most: int) -> Iterator[list[Row]]:
        """Pages of up to 500 rows, `most` in all; `columns` by table. Each page is a statement of its own."""
        for table in self._tables(columns):
            key = None
            if self._start is not None and self._start[0] == table.name:
                key = self._start[1]
            self.tables += 1
            while self.rows < most:
                size = min(PAGE_ROWS, most - self.rows)
                try:
                    found = self._page(table, columns[table.name], key, size)
                except DatabaseError as error:
                    if self._must_read or error.sqlstate != NO_PRIVILEGE:
                        raise
                    self.skipped.append(PiiSkipped(table=table.name, reason=error.why))
                    self.tables -= 1
                    break
                self.rows += len(found)
                if found:
                    key = found[-1].key
                    yield found
                if len(found) < size:
                    break
            if self.rows >= most:
                return

    def _tables(self, columns: dict[str, list[str]]) -> Iterator[Table]:
        begun = self._start is None
        for table in TABLES:
            begun = begun or (self._start is not None and table.name == self._start[0])
            if not begun or table.name not in self._wanted or not columns.get(table.name):
                continue
            if self._user is not None and table.owner not in ("user", "kind"):
                continue
            yield table

    def _page(
        self, table: Table, columns: list[str], key: list[Any] | None, size: int
    ) -> list[Row]:
        params = {
            "table": table.name,
            "columns": columns,
            "scope": Jsonb(self._scope(table)),
            "after": None if key is None else Jsonb(key),
            "row_limit": size,
        }
        rows = self._session.database.rows("pii", "rows", params)
        return [Row(table, row["key"], row["said"]) for row in rows]

    def _scope(self, table: Table) -> dict[str, str]:
        scope = {"app_name": self._session.app} if "app_name" in table.plain else {}
        if self._user is not None:
            scope["owner" if table.owner == "kind" else "user_id"] = self._user
            if table.owner == "kind":
                scope["owner_kind"] = "user"
        return scope


def place_after(row: Row) -> str:
    """What `after` takes to go on behind this row."""
    text = json.dumps([row.table.name, row.key], ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _place(text: str) -> tuple[str, list[Any]]:
    try:
        padded = text + "=" * (-len(text) % 4)
        name, key = json.loads(base64.urlsafe_b64decode(padded))
        if name in {one.name for one in TABLES} and isinstance(key, list):
            return name, key
    except (ValueError, TypeError, binascii.Error):
        pass
    raise UsageError(
        "place_malformed",
        "this is no place to go on from",
        why=f"{text[:40]!r} is not what `next` of an earlier run said",
        hint="negmem pii scan    begins anew",
    )


def _known(tables: Sequence[str] | None) -> set[str]:
    names = {one.name for one in TABLES}
    if tables is None:
        return names
    wrong = [name for name in tables if name not in names]
    if wrong:
        raise UsageError(
            "table_unknown",
            f"the registry has no table {wrong[0][:60]!r}",
            why="docs/data-inventory.md lists those that it has",
            hint="--table memories",
        )
    return set(tables)
