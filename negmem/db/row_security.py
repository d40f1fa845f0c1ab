"""Row-level security as the catalog holds it, and the statements that change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from negmem.db.connect import Connection, Database
from negmem.db.expected import expected_schema
from negmem.db.observed import catalog_rows
from negmem.db.sqlfiles import blocks, fill, quote_identifier

if TYPE_CHECKING:
    from typing_extensions import LiteralString

    from negmem.core.models.grants import RoleKey

OURS = ("negmem_own", "negmem_read", "negmem_all")


@dataclass(frozen=True)
class Policy:
    """One policy; `command` as pg_policy has it: * all, r select."""

    name: str
    command: str
    permissive: bool
    roles: tuple[str, ...]
    using: str | None
    check: str | None


@dataclass(frozen=True)
class SecuredTable:
    """One table whose rows have an owner: `owner` is user, or kind (owner_kind and owner)."""

    name: str
    owner: str
    is_on: bool
    is_forced: bool
    policies: tuple[Policy, ...]

    @property
    def ours(self) -> dict[str, Policy]:
        """The policies that negmem makes, by name."""
        return {p.name: p for p in self.policies if p.name in OURS}

    @property
    def foreign(self) -> list[str]:
        """The names of the others."""
        return [p.name for p in self.policies if p.name not in OURS]


def live_tables(database: Database, connection: Connection) -> list[SecuredTable]:
    """All tables with an owner in their rows, read inside the caller's transaction."""
    params = {"schema": database.schema}
    rows = catalog_rows(database, connection, "row_security", "observed", params)
    return [
        SecuredTable(
            row["name"],
            row["owner"],
            row["is_on"],
            row["is_forced"],
            tuple(Policy(**{**p, "roles": tuple(p["roles"])}) for p in row["policies"]),
        )
        for row in rows
    ]


def expected_tables() -> list[SecuredTable]:
    """The same tables, bare, as the migrations make them."""
    return [
        SecuredTable(name, "kind" if "owner_kind" in columns else "user", False, False, ())
        for name, columns in sorted(expected_schema().tables.items())
        if {"user_id", "owner_kind"} & set(columns) and name != "memory_audit_logs"
    ]


def is_requested(database: Database) -> bool:
    """Whether `init` was asked for row-level security here."""
    row = database.row("row_security", "requested")
    return bool(row and row["row_security_requested"])


def on_statements(
    database: Database, table: SecuredTable, names: Mapping[RoleKey, str]
) -> list[LiteralString]:
    """What brings one table to its policies, whatever it has of them now."""
    people = _list([names["app"], names["reader"]])
    made = [*_drops(database, table), _statement(database, "turn_on", table)]
    made.append(_statement(database, f"{table.owner}_own", table, roles=people))
    if table.owner == "kind":
        made.append(_statement(database, "kind_read", table, roles=people))
    made.append(_statement(database, f"{table.owner}_all", table, roles=_list([names["auditor"]])))
    return made


def off_statements(database: Database, table: SecuredTable) -> list[LiteralString]:
    """What takes negmem's policies away; policies of others keep it on."""
    made = _drops(database, table)
    if not table.foreign:
        made.append(_statement(database, "turn_off", table))
    return made


def _drops(database: Database, table: SecuredTable) -> list[LiteralString]:
    return [_statement(database, "drop_policy", table, policy=name) for name in OURS]


def _list(roles: Iterable[str]) -> str:
    return ", ".join(map(quote_identifier, roles))


def _statement(database: Database, block: str, table: SecuredTable, **values: str) -> LiteralString:
    known = {"schema": database.schema, "table": table.name, **values}
    return fill(blocks("row_security")[block], known)
