"""Where personal data stands: every column of the registry that can hold text, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from negmem.core.governance.pages import Pages, Row, place_after
from negmem.core.governance.registry import scanned
from negmem.core.models.pii import PiiPlace, PiiScan
from negmem.core.pii import Guard, guard_of
from negmem.core.pii_exit import UNSCANNED
from negmem.core.session import Session
from negmem.core.text.pii import KINDS, MODEL_KINDS, each_text
from negmem.errors import UsageError

MAX_ROWS = 100_000
_EXAMPLES = 3


@dataclass
class _Found:
    rows: int = 0
    findings: int = 0
    examples: list[UUID] = field(default_factory=list)


def scan(
    session: Session,
    user: str | None = None,
    *,
    kinds: Sequence[str] | None = None,
    tables: Sequence[str] | None = None,
    max_rows: int = MAX_ROWS,
    after: str | None = None,
    on_progress: Callable[[int, str], None] | None = None,
) -> PiiScan:
    """Personal data by kind and place, whatever the policies say; reads only, and shows no text.

    Args: user, whose rows alone, else all of the app and of the installation; max_rows, after which it
    stops and says where to go on (`after`). Names, persons and actors are scanned as texts are.
    Raises: UsageError `pii_kind_unknown`, `table_unknown`, `place_malformed`, `limit_invalid`.
    """
    wanted = check_kinds(kinds)
    check_rows(max_rows)
    check_user(session, user)
    guard = guard_of(session)
    pages = Pages(session, user, tables=tables, after=after)
    columns = {table.name: names for table, names in scanned()}
    found: dict[tuple[str, str, str, str], _Found] = {}
    unscanned = failed = 0
    last: Row | None = None
    for page in pages.read(columns, max_rows):
        for row in page:
            unscanned += is_unscanned(row)
            failed += not _take(guard, row, wanted, found)
        last = page[-1]
        if on_progress is not None:
            on_progress(pages.rows, last.table.name)
    return PiiScan(
        engine=session.config.governance.pii.engine,
        user=user,
        findings=[
            PiiPlace(
                kind=kind,
                table=table,
                column=column,
                kind_of_column=of_column,
                rows=one.rows,
                findings=one.findings,
                examples=one.examples,
            )
            for (table, column, kind, of_column), one in found.items()
        ],
        rows=pages.rows,
        tables=pages.tables,
        unscanned=unscanned,
        failed=failed,
        skipped=pages.skipped,
        next=place_after(last) if last is not None and pages.rows >= max_rows else None,
    )


def _take(
    guard: Guard,
    row: Row,
    wanted: frozenset[str],
    found: dict[tuple[str, str, str, str], _Found],
) -> bool:
    """Count what one row holds; whether all of it could be read."""
    could_read = True
    for column, value in row.said.items():
        counts: dict[str, int] = {}

        def look(text: str, counts: dict[str, int] = counts) -> str:
            nonlocal could_read
            findings, failure = guard.find(text)
            could_read = could_read and failure is None
            for one in findings:
                if one.kind in wanted:
                    counts[one.kind] = counts.get(one.kind, 0) + 1
            return text

        each_text(value, look)
        for kind, count in sorted(counts.items()):
            place = (row.table.name, column, kind, row.table.columns[column])
            one = found.setdefault(place, _Found())
            one.rows += 1
            one.findings += count
            if row.id is not None and len(one.examples) < _EXAMPLES:
                one.examples.append(row.id)
    return could_read


def is_unscanned(row: Row) -> bool:
    """Whether a row bears the mark that the detector could not read it."""
    holders: list[Any] = [row.said.get("metadata"), row.said.get("details")]
    content = row.said.get("content")
    if isinstance(content, dict):
        holders.append(content.get("metadata"))
    return any(isinstance(one, dict) and UNSCANNED in one for one in holders)


def check_kinds(kinds: Sequence[str] | None) -> frozenset[str]:
    """The kinds that are meant; all without a word. Raises: UsageError `pii_kind_unknown`."""
    known = (*KINDS, *MODEL_KINDS)
    wrong = [kind for kind in kinds or () if kind not in known]
    if wrong:
        raise UsageError(
            "pii_kind_unknown",
            f"{wrong[0][:60]!r} is no kind of personal data",
            why=f"the kinds are {', '.join(known)}",
            hint="--kind email",
        )
    return frozenset(known if kinds is None else kinds)


def check_user(session: Session, user: str | None) -> None:
    """Warns `user_unknown`."""
    if user is not None:
        session.knows_user(user)


def check_rows(max_rows: int) -> None:
    """Raises: UsageError `limit_invalid`."""
    if not 1 <= max_rows < 2**31:
        raise UsageError(
            "limit_invalid",
            "no scan reads so many rows",
            why=f"--max-rows goes from 1 to {2**31 - 1:,}, got {max_rows:,}",
            hint=f"--max-rows {MAX_ROWS}",
        )
