"""A page that tells a person what is held about them, who read it, and what was decided: for people, not for import.

One file without script, request or reference to anything outside; whatever was stored is text in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

from negmem.core.governance.erasure import UNREACHABLE
from negmem.core.governance.export import LEFT_OUT, check_may_see, new_file, rows_of, trail_of
from negmem.core.governance.registry import TABLES, Table
from negmem.core.models.audit import Reached
from negmem.core.models.disclosure import Disclosed
from negmem.core.session import Session

_PAGE = 500
NOT_RECORDED = (
    "Not recorded are: searches by accounts that may read and not write, on a copy of the database that takes no"
    " writes, or that were told not to record (--no-record); lists, and looks at one item; what an account reads in"
    " the database past this program; and what is older than the lifetime of the log."
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
# Open when the page is: what a person asks first.
_OPEN = frozenset(("memories", "facts"))
# Told in sections of their own.
_APART = frozenset(("memory_retrieval_logs",))
_FIRST = ("users", "memories", "facts", "memory_core_blocks", "memory_summaries", "events")
# What says nothing to a person: numbers that only the program reads.
_SILENT = frozenset(
    (
        *("app_name", "user_id", "owner", "owner_kind", "position", "sequence_num", "version"),
        *("fades_basis", "fades_lambda", "fades_threshold", "fades_min_age", "fades_importance"),
        *("due_at", "fades_next", "relevance_weight"),
    )
)


def disclose(
    session: Session,
    user: str,
    path: Path,
    *,
    on_progress: Callable[[int, str], None] | None = None,
) -> Disclosed:
    """Write a page on one person into a new file that only its owner may read, all of it as of one moment.

    Every table of the registry that an export has, in words; searches and contexts with what they gave; who
    may log in and read; what was decided. Who searched is the account that was logged in, not the person behind it.
    Raises: NegmemError `export_withheld`, `export_not_written`, `privilege_missing`; UsageError `file_exists`.
    """
    check_may_see(session, user)
    scope = {"user_id": user, "app_name": session.app}
    session.knows_user(user)
    counts: list[Reached] = []
    reads = 0
    with new_file(path) as write, session.database.transaction(read_only=True):
        session.database.execute("export", "one_snapshot")
        now = session.database.row("export", "now")
        assert now is not None
        for text in _head(session, user, now["now"]):
            write(text)
        for text in _reads(session, scope):
            reads += text.startswith("<article")
            write(text)
        write("</details>")
        for text in _decided(session, scope):
            write(text)
        for table in _ordered():
            found = 0
            for row in _sorted(rows_of(session, user, table)):
                if not found:
                    write(_opening(table))
                write(_article(row, table))
                found += 1
                if on_progress is not None and found % _PAGE == 0:
                    on_progress(found, table.name)
            if found:
                write(f"<p class=quiet>{found:,} in all</p></details>")
                counts.append(Reached(table=table.name, rows=found))
        for text in _foot(user):
            write(text)
    return Disclosed(
        app=session.app,
        user=user,
        read_at=now["now"],
        tables=sorted(counts, key=lambda one: one.table),
        rows=sum(one.rows for one in counts),
        reads=reads,
        path=str(path),
    )


def _ordered() -> list[Table]:
    shown = [
        one
        for one in TABLES
        if one.owner in ("user", "kind") and one.name not in LEFT_OUT and one.name not in _APART
    ]
    rank = {name: place for place, name in enumerate(_FIRST)}
    return sorted(shown, key=lambda one: rank.get(one.name, len(rank)))


def _sorted(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """By when it was said or written, as people remember."""
    return sorted(rows, key=lambda row: str(row.get("occurred_at") or row.get("created_at") or ""))


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _text(value: Any) -> str:
    """One value as HTML."""
    if isinstance(value, (datetime, date)):
        return _moment(value.isoformat())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"<bdi>{_escaped(value)}</bdi>"
    if isinstance(value, (dict, list)):
        return f"<bdi>{_escaped(json.dumps(value, ensure_ascii=False, indent=1))}</bdi>"
    return _escaped(str(value))


def _moment(text: str) -> str:
    return _escaped(text[:16].replace("T", " ")) if len(text) > 16 else _escaped(text)


_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d")


def _head(session: Session, user: str, now: datetime) -> Iterator[str]:
    style = Path(__file__).with_name("disclosure.css").read_text(encoding="utf-8")
    name = _escaped(user)
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>What is held about {name}</title><style>{style}</style></head>\n<body><main>"
        f"<h1>What is held about <bdi>{name}</bdi></h1>"
        f"<p class=quiet>App {_escaped(session.app)}, as of {now:%Y-%m-%d %H:%M} UTC. Times are UTC."
        " It holds all that stands in this database but numbers that the program alone reads; nothing of other"
        " people's rows.</p>"
    )
    rows = session.database.rows("export", "readers", {"schema": session.database.schema})
    listed = "".join(
        f"<li><bdi>{_escaped(row['role'])}</bdi>{' (administrator)' if row['is_superuser'] else ''}</li>"
        for row in rows
    )
    yield (
        "<section><h2>Who may read it</h2><p class=quiet>Accounts of the database that may log in and read"
        f" memories now:</p><ul>{listed}</ul></section>\n"
        "<details open><summary>What was read</summary><p class=quiet>Each search and each context that was"
        " put together, with what it gave. Who asked is the account of the database, not the person behind it."
        f" {NOT_RECORDED}</p>"
    )


def _reads(session: Session, scope: dict[str, str]) -> Iterator[str]:
    place: dict[str, Any] = {"after": None, "after_id": None}
    while True:
        params = {**scope, **place, "row_limit": _PAGE}
        rows = session.database.rows("export", "reads", params)
        for row in rows:
            place = {"after": row["created_at"], "after_id": row["id"]}
            gave = [
                f'<a href="#i{one}">{str(one)[:8]}</a>'
                for one in (
                    *(row["retrieved_memory_ids"] or ()),
                    *(row["retrieved_fact_ids"] or ()),
                )
            ]
            yield (
                f"<article><dl><dt>{_moment(row['created_at'].isoformat())}</dt><dd>{_text(row['query'])}</dd>"
                f"<dt>gave</dt><dd>{', '.join(gave) or 'nothing'}</dd>"
                f"<dt>by</dt><dd>{_text(row['reader'] or 'not recorded')}</dd></dl></article>\n"
            )
        if len(rows) < _PAGE:
            return


def _decided(session: Session, scope: dict[str, str]) -> Iterator[str]:
    yield (
        "<details open><summary>What was decided, and by whom</summary><table><tr><th>when<th>what<th>about"
        "<th>by<th>why</tr>\n"
    )
    for row in trail_of(session, scope):
        by = _text(row["actor"]) + ("" if row["actor_verified"] else " (unverified)")
        table, _, item = row["memory_id"].rpartition(":")
        about = _escaped(f"{_words(table)} {item[:8]}".strip())
        yield (
            f"<tr><td>{_moment(row['created_at'])}<td>{_escaped(row['decision'])}"
            f'<td><a href="#i{_escaped(item)}">{about}</a><td>{by}<td>{_text(row["note"] or "")}</tr>\n'
        )
    yield "</table></details>\n"


def _opening(table: Table) -> str:
    is_open = " open" if table.name in _OPEN else ""
    said = table.holds[:1].upper() + table.holds[1:]
    return f"<details{is_open}><summary>{_escaped(said)}<span class=quiet>{_escaped(table.name)}</span></summary>\n"


def _article(row: dict[str, Any], table: Table) -> str:
    parts = []
    for name, value in _arranged(row, table):
        shown = (
            _moment(value)
            if isinstance(value, str) and _TIME.match(value) and name.endswith("_at")
            else _text(value)
        )
        parts.append(f"<dt>{_escaped(_words(name))}</dt><dd>{shown}</dd>")
    anchor = f' id="i{_escaped(str(row["id"]))}"' if row.get("id") else ""
    return f"<article{anchor}><dl>{''.join(parts)}</dl></article>\n"


def _arranged(row: dict[str, Any], table: Table) -> Iterator[tuple[str, Any]]:
    """What was said first, then the rest; empty columns are left out."""
    said = [name for name in table.columns if name in row]
    for name in (*said, *(name for name in sorted(row) if name not in table.columns)):
        value = row[name]
        if (
            name in _SILENT
            or value is None
            or value in ("", {}, [])
            or table.columns.get(name) == "hash"
        ):
            continue
        yield name, value


def _foot(user: str) -> Iterator[str]:
    beyond = "".join(f"<li>{_escaped(one)}</li>" for one in UNREACHABLE)
    name = _escaped(user)
    yield (
        f"<section><h2>Where else something may stand</h2><ul>{beyond}</ul></section>"
        "<section><h2>What can be asked for</h2><table>"
        f"<tr><td>a copy for machines<td>negmem audit export --user {name}</tr>"
        f"<tr><td>a correction<td>negmem memory edit --note …, negmem fact set --note …: on record</tr>"
        f"<tr><td>that nothing more is remembered<td>negmem user pause --objection --user {name}</tr>"
        f"<tr><td>erasure, with a certificate<td>negmem audit erase --user {name}</tr>"
        "</table></section></main></body></html>\n"
    )
