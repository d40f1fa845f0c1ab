"""The four roles: named, made, compared with the list of grants, brought to it, and removed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from negmem.core.models.base import Model
from negmem.core.models.grants import LATER, PURPOSES, ROLE_KEYS, RoleKey, declared
from negmem.core.session import Session
from negmem.db import roles as db
from negmem.db.connect import Connection, Database
from negmem.db.roles import LiveAccess, LiveGrant, LiveObject, RecordedRole
from negmem.errors import NegmemError, UsageError

_MOST_BYTES = 63


class RemovedRoles(Model):
    """What became of the roles: dropped, or kept with the reason."""

    removed: list[str]
    kept: dict[str, str]


@dataclass(frozen=True)
class Differences:
    """What stands in the way of the declared roles and grants."""

    names: Mapping[RoleKey, str]
    absent: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    memberships: dict[str, tuple[str, ...]] = field(default_factory=dict)
    owners: tuple[LiveObject, ...] = ()
    missing: frozenset[LiveGrant] = frozenset()
    extra: frozenset[LiveGrant] = frozenset()
    foreign: frozenset[LiveGrant] = frozenset()
    agreed: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything is as declared."""
        return not (
            self.absent
            or self.attributes
            or self.memberships
            or self.owners
            or self.missing
            or self.extra
        )

    def without(self, roles: Collection[str]) -> Differences:
        """The same, with these roles left as they are; their grants on the objects still count."""
        return replace(
            self,
            attributes={n: a for n, a in self.attributes.items() if n not in roles},
            memberships={n: m for n, m in self.memberships.items() if n not in roles},
        )


def role_names(session: Session) -> dict[RoleKey, str]:
    """The names that the configuration gives, or those made from the schema's.

    Raises: UsageError `role_name_unfit`.
    """
    configured = session.config.governance.roles
    names: dict[RoleKey, str] = {
        key: getattr(configured, key) or f"{session.database.schema}_{key}" for key in ROLE_KEYS
    }
    for key, name in names.items():
        if len(name.encode()) > _MOST_BYTES:
            raise UsageError(
                "role_name_unfit",
                f"the role {name[:40]}… would have a name that is too long",
                why=f"PostgreSQL names have at most {_MOST_BYTES} bytes",
                hint=f"negmem config set governance.roles.{key} NAME",
            )
    if len(set(names.values())) < len(ROLE_KEYS):
        raise UsageError(
            "role_name_unfit",
            "two of the four roles have one name",
            why=", ".join(f"{key}: {name}" for key, name in names.items()),
            hint="negmem config show governance",
        )
    return names


def check_before(session: Session) -> None:
    """Refuse, before anything is made, what this role can't do.

    Raises: NegmemError `roles_not_created` with the SQL that an administrator must run, `role_unfit`.
    """
    database = session.database
    names = _names(session)
    have = db.existing(database, list(names.values()))
    absent = [name for name in names.values() if name not in have]
    caller = db.caller(database, names["owner"])
    if caller.is_superuser:
        return
    joins = caller.inherits or (names["owner"] not in have and caller.may_create)
    if (not absent or caller.may_create) and (joins or caller.may_grant):
        return
    statements = _by_hand(database, absent, names["owner"], joins=not caller.inherits)
    lacks = "has no CREATEROLE" if absent else f"is no member of {names['owner']}"
    raise NegmemError(
        "roles_not_created",
        "this role may not set up the four roles; nothing was changed",
        why=f"{database.facts.role} {lacks} on {database.label}",
        hint=f"as a superuser: {statements}   then: negmem init --roles",
    )


def by_hand(database: Database, found: Differences) -> str | None:
    """What an administrator has to run where roles are gone and the caller may not make them; None: it may."""
    caller = db.caller(database, found.names["owner"])
    if caller.is_superuser or caller.may_create:
        return None
    statements = _by_hand(database, found.absent, found.names["owner"], joins=not caller.inherits)
    return f"as a superuser: {statements}   then: negmem sync"


def _by_hand(database: Database, absent: Sequence[str], owner: str, *, joins: bool) -> str:
    """The SQL that makes roles, and lets the connected role act as the owner."""
    statements = [str(db.statement(database, "create_role", role=name)) for name in absent]
    if joins:
        member = database.facts.role
        statements.append(
            str(db.statement(database, "join_owner_by_hand", role=owner, member=member))
        )
    return " ".join(statements)


def _names(session: Session) -> dict[RoleKey, str]:
    """The roles that are recorded, else those that the configuration names."""
    database = session.database
    stands = database.facts.ledger_exists and database.facts.schema_usable
    return (current_names(database) if stands else {}) or role_names(session)


def planned_statements(session: Session) -> list[str]:
    """The SQL that `establish` would run on a schema made anew, as text."""
    database = session.database
    names = _names(session)
    have = db.existing(database, list(names.values()))
    made = [
        str(db.statement(database, "create_role", role=name))
        for name in names.values()
        if name not in have
    ]
    owner = names["owner"]
    wanted = declared(
        names, schema=database.schema, tables=_tables(), sequences=_sequences(), functions=()
    )
    for key in ROLE_KEYS[1:]:
        grantee = db.grantee_text(names[key])
        made.append(str(db.statement(database, "grant_all_functions", grantee=grantee)))
    grants = [LiveGrant(*grant) for grant in wanted]
    made += [str(text) for text in db.grant_statements(database, owner, grants)]
    return made


def _tables() -> list[str]:
    from negmem.core.models.grants import TABLES

    return list(TABLES)


def _sequences() -> list[str]:
    from negmem.core.models.grants import SEQUENCES

    return list(SEQUENCES)


def current_names(database: Database) -> dict[RoleKey, str]:
    """The roles that this installation recorded; empty where none were asked for."""
    found = db.recorded_roles(database)
    return {key: found[key].role for key in ROLE_KEYS if key in found}


def compare(
    database: Database, connection: Connection, names: Mapping[RoleKey, str]
) -> Differences:
    """Compare roles, owners and grants with the list, inside the caller's transaction."""
    return differences(database, names, db.live_access(database, connection, list(names.values())))


def differences(database: Database, names: Mapping[RoleKey, str], live: LiveAccess) -> Differences:
    """What of `live` is not as declared."""
    ours = [thing for thing in live.objects if thing.is_ours]
    wanted = {
        LiveGrant(*grant)
        for grant in declared(
            names,
            schema=database.schema,
            tables=[t.name for t in ours if t.kind == "table"],
            sequences=[t.name for t in ours if t.kind == "sequence"],
            functions=[t.name for t in ours if t.kind == "function"],
        )
    }
    known = {(thing.kind, thing.name) for thing in ours}
    known |= {("default", name) for name in (*LATER, "tables")}
    grantees = {*names.values(), db.PUBLIC}
    standing = {g for g in live.grants if g.grantee in grantees and (g.kind, g.name) in known}
    standing = {g for g in standing if g.grantee != names["owner"]}
    groups = [names[key] for key in ROLE_KEYS if names[key] in live.roles]
    return Differences(
        names=names,
        absent=tuple(name for name in names.values() if name not in live.roles),
        attributes={n: live.roles[n].attributes for n in groups if live.roles[n].attributes},
        memberships={n: live.roles[n].member_of for n in groups if live.roles[n].member_of},
        owners=tuple(t for t in ours if t.owner != names["owner"] and t.owner_is_settable),
        missing=frozenset(wanted - standing),
        extra=frozenset(standing - wanted),
        foreign=frozenset(
            g for g in live.grants if g.grantee not in grantees and g.kind != "default"
        ),
        agreed=len({g[:3] for g in wanted & standing} - {g[:3] for g in (wanted ^ standing)}),
    )


def establish(session: Session, connection: Connection) -> list[str]:
    """Make the roles that are missing, and bring owners and grants to the list; records what was asked for.

    Runs inside the caller's transaction. Returns the roles that were made.
    Raises: NegmemError `role_unfit`, or the server's refusal.
    """
    database = session.database
    before = db.recorded_roles(database)
    names = {key: before[key].role for key in ROLE_KEYS if key in before} or role_names(session)
    _warn_of_other_names(session, names)
    found = compare(database, connection, names)
    _refuse_unfit(found)
    make_roles(database, connection, found.absent, names)
    made = [
        RecordedRole(key, name, name in found.absent or (key in before and before[key].is_made))
        for key, name in names.items()
    ]
    db.record_roles(database, made)
    bring(database, connection, compare(database, connection, names))
    return list(found.absent)


def _warn_of_other_names(session: Session, names: Mapping[RoleKey, str]) -> None:
    wanted = role_names(session)
    configured = session.config.governance.roles
    other = [key for key in ROLE_KEYS if getattr(configured, key) and wanted[key] != names[key]]
    if other:
        session.warn(
            "roles_named_otherwise",
            "this installation has its roles already; the configured names of"
            f" {', '.join(other)} are not used",
        )


def _refuse_unfit(found: Differences) -> None:
    """A role that stood before must be a plain group role.

    Raises: NegmemError `role_unfit`.
    """
    for name, attributes in found.attributes.items():
        raise NegmemError(
            "role_unfit",
            f"the role {name} is no plain group role; nothing was changed",
            why=f"it has {', '.join(attributes)}",
            hint=f"negmem config set governance.roles.{_key(found, name)} ANOTHER_NAME",
        )
    for name, others in found.memberships.items():
        raise NegmemError(
            "role_unfit",
            f"the role {name} has the rights of others; nothing was changed",
            why=f"it is a member of {', '.join(others)}",
            hint=f"negmem config set governance.roles.{_key(found, name)} ANOTHER_NAME",
        )


def _key(found: Differences, name: str) -> str:
    return next(key for key, value in found.names.items() if value == name)


def make_roles(
    database: Database,
    connection: Connection,
    absent: Sequence[str],
    names: Mapping[RoleKey, str],
) -> None:
    """CREATE ROLE for those that are missing; whoever is no superuser joins the owner's role."""
    statements = []
    for key, name in names.items():
        if name in absent:
            comment = f"negmem, {database.schema}: {PURPOSES[key]}"
            statements.append(db.statement(database, "create_role", role=name))
            statements.append(db.statement(database, "comment_role", role=name, comment=comment))
    db.execute(connection, statements)
    caller = db.caller(database, names["owner"])
    if not caller.is_superuser and not caller.inherits:
        db.execute(connection, [db.statement(database, "join_owner", role=names["owner"])])


def bring(database: Database, connection: Connection, found: Differences) -> None:
    """Owners, attributes and grants as declared, inside the caller's transaction."""
    owner = found.names["owner"]
    statements = [
        db.statement(
            database,
            "alter_role",
            role=name,
            attributes=" ".join(f"NO{attribute}" for attribute in attributes),
        )
        for name, attributes in found.attributes.items()
    ]
    statements += [
        db.statement(database, "leave_role", role=name, other=other)
        for name, others in found.memberships.items()
        for other in others
    ]
    # The schema first: a new owner of what stands in it needs CREATE there.
    owned = sorted(found.owners, key=lambda thing: (thing.kind != "schema", thing.name))
    statements += [db.own_statement(database, owner, thing) for thing in owned]
    db.execute(connection, statements)
    if owned:
        found = compare(database, connection, found.names)
    revoked = db.grant_statements(database, owner, list(found.extra), act="revoke")
    again = {
        LiveGrant(*grant[:3], grant.privilege.removesuffix(" WITH GRANT OPTION"))
        for grant in found.extra
        if grant.privilege.endswith(" WITH GRANT OPTION")
    }
    granted = db.grant_statements(database, owner, list(found.missing))
    db.execute(connection, [*revoked, *granted])
    if again:
        # A revoked grant option took the privilege with it.
        left = compare(database, connection, found.names)
        db.execute(connection, db.grant_statements(database, owner, list(left.missing)))
    _open_vector(database, connection, found.names)


def _open_vector(database: Database, connection: Connection, names: Mapping[RoleKey, str]) -> None:
    """pgvector's types and operators may stand in a schema that not everybody may use."""
    for name in db.vector_strangers(database, list(names.values())):
        text = db.statement(database, "use_vector", grantee=db.grantee_text(name))
        db.execute(connection, [text])


def repair(session: Session, connection: Connection) -> None:
    """What migrations and new functions left open, where roles were asked for."""
    database = session.database
    names = current_names(database)
    if not names or not db.are_requested(database):
        return
    found = compare(database, connection, names)
    if not found.absent and not found.is_empty:
        bring(database, connection, found)


def removable(database: Database) -> list[RecordedRole]:
    """The roles that negmem made for this installation."""
    return [role for role in db.recorded_roles(database).values() if role.is_made]


def remove(
    database: Database, connection: Connection, made: Sequence[RecordedRole]
) -> RemovedRoles:
    """Drop the roles that negmem made, after the schema is gone, where nothing else depends on them.

    Runs inside the caller's transaction, which goes on when a role can't be dropped.
    """
    from psycopg import errors

    removed: list[str] = []
    kept: dict[str, str] = {}
    for role in made:
        if not db.existing(database, [role.role]):
            continue
        grantee = db.grantee_text(role.role)
        undo = []
        if db.may_use_vector_by_grant(database, role.role):
            undo.append(db.statement(database, "leave_vector", grantee=grantee))
        if role.key == "owner":
            undo.append(db.statement(database, "forget_later", role=role.role))
        try:
            with connection.transaction():
                db.execute(connection, undo)
                held = db.held_elsewhere(database, role.role)
                if not held:
                    db.execute(connection, [db.statement(database, "drop_role", role=role.role)])
        except (errors.InsufficientPrivilege, errors.DependentObjectsStillExist) as error:
            held = [str(error.diag.message_primary)]
        if held:
            kept[role.role] = ", ".join(held)
        else:
            removed.append(role.role)
    return RemovedRoles(removed=removed, kept=kept)
