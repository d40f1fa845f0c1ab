"""Roles, owners and grants as the catalog holds them, and the statements that change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from psycopg.types.json import Jsonb

from negmem import __version__
from negmem.db.connect import Connection, Database
from negmem.db.observed import catalog_rows
from negmem.db.sqlfiles import MIGRATION_FUNCTIONS, blocks, fill, function_names, quote_identifier

if TYPE_CHECKING:
    from typing_extensions import LiteralString

PUBLIC = "PUBLIC"


class LiveGrant(NamedTuple):
    """One privilege as it stands; `privilege` ends in WITH GRANT OPTION where that is so."""

    kind: str
    name: str
    grantee: str
    privilege: str


@dataclass(frozen=True)
class LiveRole:
    """A role of the server: what it may beyond a group role, and of which roles it is a member."""

    name: str
    attributes: tuple[str, ...]
    member_of: tuple[str, ...]


@dataclass(frozen=True)
class LiveObject:
    """The schema, a table, sequence or function. A sequence of a column follows its table's owner."""

    kind: str
    name: str
    owner: str
    owner_is_settable: bool
    is_ours: bool


@dataclass(frozen=True)
class RecordedRole:
    """Which role stands for a purpose here; `is_made`: negmem created it, and may drop it."""

    key: str
    role: str
    is_made: bool


@dataclass(frozen=True)
class LiveAccess:
    """Everything of one moment."""

    roles: dict[str, LiveRole] = field(default_factory=dict)
    objects: tuple[LiveObject, ...] = ()
    grants: frozenset[LiveGrant] = frozenset()


@dataclass(frozen=True)
class Caller:
    """What the connected role may do about roles."""

    is_superuser: bool
    may_create: bool
    inherits: bool
    may_grant: bool


def live_access(database: Database, connection: Connection, roles: Sequence[str]) -> LiveAccess:
    """Read it in one round trip; `roles` begins with the owner's role."""
    params = {
        "schema": database.schema,
        "roles": list(roles),
        "functions": [*function_names(), *MIGRATION_FUNCTIONS],
    }
    row = catalog_rows(database, connection, "roles", "observed", params)[0]
    return LiveAccess(
        roles={
            r["name"]: LiveRole(r["name"], tuple(r["attributes"]), tuple(r["member_of"]))
            for r in row["roles"]
        },
        objects=tuple(LiveObject(**o) for o in row["objects"]),
        grants=frozenset(LiveGrant(**g) for g in row["grants"]),
    )


def recorded_roles(database: Database) -> dict[str, RecordedRole]:
    """The roles of this installation by purpose; empty where none were asked for."""
    return {r["key"]: RecordedRole(**r) for r in database.rows("roles", "recorded")}


def record_roles(database: Database, roles: Sequence[RecordedRole]) -> None:
    """Write down which roles are meant, and that they were asked for."""
    objects = [
        {"name": r.key, "definition": r.role, "fingerprint": "made" if r.is_made else "found"}
        for r in roles
    ]
    params = {"objects": Jsonb(objects), "negmem_version": __version__}
    database.execute("roles", "record", params)
    database.execute("roles", "request")


def are_requested(database: Database) -> bool:
    """Whether `init` was asked for roles here."""
    row = database.row("roles", "requested")
    return bool(row and row["roles_requested"])


def caller(database: Database, owner: str) -> Caller:
    """What the connected role may do; `owner` is the owner's role."""
    row = database.row("roles", "caller", {"role": owner})
    assert row is not None
    return Caller(**row)


def existing(database: Database, roles: Sequence[str]) -> set[str]:
    """Those of the roles that the server has."""
    return {name for name in roles if database.row("roles", "role_exists", {"role": name})}


def statement(database: Database, block: str, **values: str) -> LiteralString:
    """One block of roles.sql with its own variables."""
    known = {
        "schema": database.schema,
        "vector_schema": database.facts.vector_schema or "public",
        **values,
    }
    return fill(blocks("roles")[block], known)


def grantee_text(grantee: str) -> str:
    """A grantee as SQL names it."""
    return PUBLIC if grantee == PUBLIC else quote_identifier(grantee)


def privileges_text(privileges: Sequence[str]) -> str:
    """Privileges as SQL lists them; those of columns with the columns quoted."""
    words = []
    for privilege in sorted(privileges):
        name, bracket, column = privilege.removesuffix(" WITH GRANT OPTION").partition("(")
        words.append(f"{name} ({quote_identifier(column[:-1])})" if bracket else name)
    return ", ".join(dict.fromkeys(words))


def grant_statements(
    database: Database, owner: str, grants: Sequence[LiveGrant], *, act: str = "grant"
) -> list[LiteralString]:
    """GRANT or REVOKE for each object and grantee; `act` is `grant` or `revoke`."""
    made = []
    for (kind, name, grantee), group in groupby(sorted(grants), key=lambda g: g[:3]):
        bare, _, rest = name.partition("(")
        values = {
            "privileges": privileges_text([g.privilege for g in group]),
            "grantee": grantee_text(grantee),
            "role": owner,
        }
        if kind == "default":
            values["kind"] = name.upper()
        elif kind == "function":
            values |= {"name": bare, "argument_types": rest[:-1]}
        else:
            values["name"] = name
        made.append(statement(database, f"{act}_{kind}", **values))
    return made


def own_statement(database: Database, owner: str, thing: LiveObject) -> LiteralString:
    """ALTER … OWNER TO the owner's role."""
    bare, _, rest = thing.name.partition("(")
    values = {"role": owner, "name": bare}
    if thing.kind == "function":
        values["argument_types"] = rest[:-1]
    return statement(database, f"own_{thing.kind}", **values)


def vector_strangers(database: Database, roles: Sequence[str]) -> list[str]:
    """The roles that may not use the schema of pgvector, and so can't search."""
    schema = database.facts.vector_schema
    if schema is None:
        return []
    params = {"roles": list(roles), "vector_schema": schema}
    return [row["role"] for row in database.rows("roles", "vector_users", params)]


def may_use_vector_by_grant(database: Database, role: str) -> bool:
    """Whether the role itself was given the schema of pgvector."""
    params = {"role": role, "vector_schema": database.facts.vector_schema or "public"}
    return database.row("roles", "vector_grant", params) is not None


def execute(connection: Connection, statements: Sequence[LiteralString]) -> None:
    """Run them in one round trip."""
    if statements:
        connection.execute("\n".join(statements))


def held_elsewhere(database: Database, role: str) -> list[str]:
    """What keeps a role from being dropped, in words."""
    rows = database.rows("roles", "held_elsewhere", {"role": role})
    return sorted(f"{row['what']} in {row['place']}" for row in rows)
