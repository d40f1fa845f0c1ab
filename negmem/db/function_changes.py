"""Puts functions into the schema, each with a stamp that later tells who changed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import psycopg
from psycopg.types.json import Jsonb

from negmem import __version__
from negmem.db.connect import Connection, Database
from negmem.db.failures import translate
from negmem.db.function_access import Access, give_back, record
from negmem.db.function_catalog import LiveFunction, Stamp, live_functions
from negmem.db.functions import Comparison, Wanted
from negmem.db.sqlfiles import blocks, fill
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from typing_extensions import LiteralString


def apply(database: Database, connection: Connection, changes: Sequence[Comparison]) -> None:
    """Create, replace, drop or stamp each function, inside the caller's transaction.

    Owner and grants of a replaced function stay. The text of one changed by hand is kept in
    replaced_definitions.

    Raises: NegmemError `function_not_owned`, `function_has_dependents`, or the server's refusal.
    """
    due = [c for c in changes if c.state != "present" or c.needs_stamp]
    if not due:
        return
    connection.execute(database.queries("session", "bodies_unchecked"))
    standing = {f.oid for f in live_functions(database, connection)}
    for change in due:
        _change(database, connection, change)
    written = [c for c in due if c.wanted is not None]
    pairs = _where_written(database, connection, written, standing)
    _stamp(database, connection, pairs)
    _record_access(database, connection, pairs, standing)
    gone = [c.signature for c in due if c.wanted is None]
    if gone:
        database.execute("functions", "forget", {"names": gone})


def _change(database: Database, connection: Connection, change: Comparison) -> None:
    live = change.live
    if change.is_by_hand and live is not None:
        kept = {"name": change.signature, "definition": live.text, "reason": change.state}
        database.execute("functions", "keep_replaced", kept)
    try:
        if live is not None and (change.needs_drop or change.wanted is None):
            connection.execute(_statement(database, "drop", live))
            if change.wanted is not None:
                connection.execute(change.wanted.text)
                connection.execute(give_back(database, live, Access.of(live)))
        elif change.wanted is not None and change.state != "present":
            connection.execute(change.wanted.text)
    except psycopg.errors.InsufficientPrivilege as error:
        refused = translate(error)  # whose grant is missing, is told where the transaction ends
        refused.code = "function_not_owned"
        refused.message = f"{change.signature} can't be written by this role"
        refused.why = f"{error.diag.message_primary} (as {database.facts.role} on {database.label})"
        refused.hint = "run negmem as the owner of the schema"
        raise refused from None
    except psycopg.errors.DependentObjectsStillExist as error:
        raise NegmemError(
            "function_has_dependents",
            f"{change.signature} must be dropped to be changed, and others depend on it",
            why=" ".join((error.diag.message_detail or "").split()),
            hint="drop what depends on it, run this again, and make it anew",
        ) from None
    except psycopg.Error as error:
        failure = translate(error)
        failure.why = f"{change.signature}: {failure.why}"
        raise failure from error


def _where_written(
    database: Database,
    connection: Connection,
    written: Sequence[Comparison],
    standing: set[int],
) -> list[tuple[Wanted, LiveFunction]]:
    """Each wanted function with the one that stands for it now.

    A replaced function keeps its oid; new ones of a name come in the order in which they were made.
    """
    live = {f.oid: f for f in live_functions(database, connection)}
    fresh = [f for oid, f in live.items() if oid not in standing]
    pairs = []
    for change in written:
        assert change.wanted is not None
        if change.live is not None and change.live.oid in live:
            pairs.append((change.wanted, live[change.live.oid]))
        else:
            made = next(f for f in fresh if f.definition.name == change.wanted.name)
            fresh.remove(made)
            pairs.append((change.wanted, made))
    return pairs


def _stamp(
    database: Database, connection: Connection, pairs: Sequence[tuple[Wanted, LiveFunction]]
) -> None:
    """Write the stamps into the comments, and the record of what was written."""
    comments, objects = [], []
    for wanted, live in pairs:
        stamp = Stamp(__version__, wanted.template, live.definition.digest)
        comment = stamp.comment(wanted.purpose)
        if live.comment != comment:
            comments.append(_statement(database, "stamp", live, comment=comment))
        objects.append(
            {
                "name": live.definition.signature,
                "fingerprint": f"template {stamp.template} definition {stamp.definition}",
                "definition": live.text,
            }
        )
    if comments:
        connection.execute("\n".join(comments))
    if objects:
        recorded = {"objects": Jsonb(objects), "negmem_version": __version__}
        database.execute("functions", "record", recorded)


def _statement(database: Database, block: str, live: LiveFunction, **values: str) -> LiteralString:
    """One statement about a function that stands in the schema."""
    names = {
        "schema": database.schema,
        "name": live.definition.name,
        "argument_types": live.definition.argument_types,
        **values,
    }
    return fill(blocks("functions")[block], names)


def _record_access(
    database: Database,
    connection: Connection,
    pairs: Sequence[tuple[Wanted, LiveFunction]],
    standing: set[int],
) -> None:
    """Write down owner and grants of functions that were made for the first time."""
    known = {row["name"] for row in database.rows("functions", "recorded_access")}
    fresh = [
        live
        for _, live in pairs
        if live.oid not in standing and live.definition.signature not in known
    ]
    record(database, connection, fresh)
