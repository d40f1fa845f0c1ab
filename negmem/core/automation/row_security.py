"""Row-level security: asked for, compared with what is declared, brought to it, and taken away.

Who owns the tables passes by the policies: migrations, jobs, the scheduler and whoever is a member of the
owner's role. App and reader see the rows of the user whom their transaction names in `negmem.user_id`, what
this user shares, and nothing where it names nobody. The auditor reads all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from negmem.core.automation.roles import current_names, role_names
from negmem.core.models.grants import RoleKey
from negmem.core.session import Session
from negmem.db import row_security as db
from negmem.db.connect import Connection, Database
from negmem.db.roles import are_requested, execute
from negmem.db.row_security import SecuredTable
from negmem.errors import NegmemError

# How the catalog prints the policies' conditions, the same on PostgreSQL 16, 17 and 18 (tested on each).
_PERSON = "current_setting('negmem.user_id'::text, true)"
_USER = f"((user_id)::text = {_PERSON})"
_MEMBER = (
    f"( SELECT FROM {{schema}}.namespace_members m WHERE (((m.user_id)::text = {_PERSON}) AND"
    " ((m.app_name)::text = ({table}.app_name)::text) AND ((m.kind)::text = ({table}.owner_kind)::text)"
    " AND ((m.namespace)::text = ({table}.owner)::text){role}))"
)


def check_before(session: Session, *, with_roles: bool) -> None:
    """Refuse, before anything is made, what would secure nothing.

    Raises: NegmemError `row_security_needs_roles` where there are no roles that it could hold for.
    """
    database = session.database
    stands = database.facts.ledger_exists and database.facts.schema_usable
    if not with_roles and not (stands and are_requested(database)):
        raise NegmemError(
            "row_security_needs_roles",
            "row-level security holds for roles that do not own the tables; nothing was changed",
            why="this installation has no roles: whoever connects is the owner, and sees all",
            hint="negmem init --roles --rls",
        )


def differences(table: SecuredTable, names: Mapping[RoleKey, str], schema: str) -> list[str]:
    """What of one table is not as declared, in words; empty where all is."""
    found = [] if table.is_on else ["off"]
    found += ["forced on the owner too"] if table.is_forced else []
    wanted = _wanted(table, names, schema)
    stands = {name: _plain(policy, schema) for name, policy in table.ours.items()}
    for name, policy in wanted.items():
        live = stands.get(name)
        if live is None:
            found.append(f"policy {name} is missing")
        elif live != policy:
            found.append(f"policy {name} is another")
    found += [f"policy {name} is beyond the list" for name in stands.keys() - wanted.keys()]
    return found


def _plain(policy: db.Policy, schema: str) -> db.Policy:
    """The same, on one line, with the schema as it is whether its name needs quotes or not."""
    quoted = '"' + schema.replace('"', '""') + '".'
    texts = [
        t and " ".join(t.split()).replace(quoted, f"{schema}.")
        for t in (policy.using, policy.check)
    ]
    return replace(policy, using=texts[0], check=texts[1])


def _wanted(table: SecuredTable, names: Mapping[RoleKey, str], schema: str) -> dict[str, db.Policy]:
    people = tuple(sorted((names["app"], names["reader"])))
    everything = db.Policy("negmem_all", "r", True, (names["auditor"],), "true", None)
    if table.owner == "user":
        own = db.Policy("negmem_own", "*", True, people, _USER, _USER)
        return {"negmem_own": own, "negmem_all": everything}
    place = {"schema": schema, "table": table.name}
    writer = _MEMBER.format(**place, role=" AND ((m.role)::text <> 'reader'::text)")
    reader = _MEMBER.format(**place, role="")
    may_write = (
        "(((owner_kind)::text = 'global'::text) OR CASE (owner_kind)::text"
        f" WHEN 'user'::text THEN ((owner)::text = {_PERSON}) ELSE (EXISTS {writer}) END)"
    )
    may_read = f"(((owner_kind)::text = 'team'::text) AND (EXISTS {reader}))"
    return {
        "negmem_own": db.Policy("negmem_own", "*", True, people, may_write, None),
        "negmem_read": db.Policy("negmem_read", "r", True, people, may_read, None),
        "negmem_all": everything,
    }


def is_requested(database: Database) -> bool:
    """Whether it was asked for here."""
    return db.is_requested(database)


def planned_statements(session: Session) -> list[str]:
    """The SQL that `establish` would run now, as text; of a schema made anew by its migrations."""
    database = session.database
    stands = database.facts.ledger_exists and database.facts.schema_usable
    names = (current_names(database) if stands else {}) or role_names(session)
    if stands:
        with database.transaction(read_only=True) as connection:
            tables = db.live_tables(database, connection)
    else:
        tables = db.expected_tables()
    return [
        str(statement)
        for table in tables
        if differences(table, names, database.schema)
        for statement in db.on_statements(database, table, names)
    ]


def establish(session: Session, connection: Connection) -> None:
    """Ask for it, and bring every table to its policies, inside the caller's transaction."""
    session.database.execute("row_security", "request", {"wanted": True})
    bring(session, connection)


def bring(session: Session, connection: Connection) -> list[str]:
    """The tables that were not as declared, which they are now."""
    database = session.database
    names = current_names(database)
    changed = [
        table
        for table in db.live_tables(database, connection)
        if differences(table, names, database.schema)
    ]
    for table in changed:
        execute(connection, db.on_statements(database, table, names))
    return [table.name for table in changed]


def repair(session: Session, connection: Connection) -> None:
    """What migrations left open, where it was asked for."""
    if db.is_requested(session.database) and are_requested(session.database):
        bring(session, connection)


def remove(session: Session, connection: Connection) -> list[str]:
    """Take negmem's policies away, inside the caller's transaction; returns the tables that had some."""
    database = session.database
    database.execute("row_security", "request", {"wanted": False})
    had = [t for t in db.live_tables(database, connection) if t.ours or t.is_on]
    for table in had:
        execute(connection, db.off_statements(database, table))
    return [table.name for table in had]
