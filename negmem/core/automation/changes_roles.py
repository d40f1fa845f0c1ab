"""Roles, owners and grants, where `init --roles` asked for them: the list of core.models.grants rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from negmem.core.automation import roles
from negmem.core.automation.part import Consent, Part, Refusal, digest
from negmem.core.automation.roles import Differences
from negmem.core.models.change import Change, UnmanagedObject
from negmem.core.models.grants import LATER, ROLE_KEYS, SEQUENCES, TABLES
from negmem.core.session import Session
from negmem.db import roles as db
from negmem.db.connect import Connection
from negmem.db.observed import Observed
from negmem.db.roles import LiveGrant, RecordedRole

ROLES_MISSING = "roles are missing, and this role may not create any"


@dataclass
class RolesPart(Part):
    """Roles and grants; `others` may leave new objects behind, which then get their grants too.

    `by_hand` is the SQL that makes the missing roles, where the connected role may not: all of this part waits
    for it, since nothing can be granted to a role that is not there.
    """

    found: Differences | None = None
    recorded: Mapping[str, RecordedRole] = field(default_factory=dict)
    others: Sequence[Part] = ()
    by_hand: str | None = None

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """Without its roles nothing; and a role that negmem did not make keeps what makes it more than a group."""
        if self.by_hand is not None:
            return Refusal(ROLES_MISSING, self.by_hand)
        if change.kind != "role" or change.state == "missing":
            return None
        if any(r.role == change.name and r.is_made for r in self.recorded.values()):
            return None
        return Refusal(
            "negmem did not make this role",
            f"ALTER ROLE {db.grantee_text(change.name)} …    as its owner",
        )

    def known(self) -> Iterator[tuple[str, str]]:
        """Every role, and every grant of the list as `diff` names it."""
        yield from super().known()
        names = [] if self.found is None else list(self.found.names.values())
        objects = [*TABLES, *SEQUENCES, *(f"later {kind}" for kind in LATER)]
        for name in [*names, *(f"{thing} to {role}" for thing in objects for role in names)]:
            yield name, name

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Make the roles, then bring owners and grants to the list."""
        if (
            self.found is None
            or self.by_hand is not None
            or not (due or any(part.changes for part in self.others))
        ):
            return
        database = session.database
        names = self.found.names
        if self.found.absent:
            roles.make_roles(database, connection, self.found.absent, names)
            # A role made anew is negmem's, whoever made the one that is gone.
            db.record_roles(
                database,
                [
                    RecordedRole(r.key, r.role, r.is_made or r.role in self.found.absent)
                    for r in self.recorded.values()
                ],
            )
        now = roles.compare(database, connection, names)
        kept = {r.role for r in self.recorded.values() if not r.is_made}
        roles.bring(database, connection, now.without(kept))


def find(
    session: Session, connection: Connection, observed: Observed, others: Sequence[Part]
) -> RolesPart:
    """Compare roles, owners and grants with the list, inside the caller's transaction."""
    database = session.database
    recorded = {
        r.name: RecordedRole(r.name, r.definition, r.fingerprint == "made")
        for r in observed.records
        if r.kind == "role"
    }
    names = {key: recorded[key].role for key in ROLE_KEYS if key in recorded}
    if len(names) < len(ROLE_KEYS):
        names = roles.role_names(session)
    found = roles.compare(database, connection, names)
    return RolesPart(
        changes=[*_roles(found), *_owners(found), *_grants(found)],
        unmanaged=_foreign(found.foreign),
        unchanged=found.agreed,
        seen=digest(_seen(found)),
        found=found,
        recorded=recorded,
        others=others,
        by_hand=roles.by_hand(database, found) if found.absent else None,
    )


def _seen(found: Differences) -> list[object]:
    return [
        sorted(found.absent),
        {name: list(what) for name, what in found.attributes.items()},
        {name: list(what) for name, what in found.memberships.items()},
        sorted([t.kind, t.name, t.owner] for t in found.owners),
        sorted(found.missing),
        sorted(found.extra),
    ]


def _roles(found: Differences) -> list[Change]:
    changes = [
        _change("role", name, "missing", "missing", "create", None, "group role", ["role"], "")
        for name in found.absent
    ]
    for name, attributes in found.attributes.items():
        words = ", ".join(attributes)
        changes.append(
            _change(
                "role", name, "drifted", "extra", "update", words, "group role",
                list(attributes), f"has {words}, and should only be granted to others",
            )
        )  # fmt: skip
    for name, others in found.memberships.items():
        words = ", ".join(others)
        changes.append(
            _change(
                "role", name, "drifted", "extra", "update", f"member of {words}", "group role",
                ["membership"], f"is a member of {words}, and has its rights",
            )
        )  # fmt: skip
    return changes


def _owners(found: Differences) -> list[Change]:
    owner = found.names["owner"]
    return [
        _change(
            "function" if thing.kind == "function" else "grant",
            thing.name, "drifted", "owner_differs", "update",
            f"owner {thing.owner}", f"owner {owner}", ["owner"],
            f"{thing.kind} is owned by {thing.owner}, not by {owner}",
        )
        for thing in found.owners
    ]  # fmt: skip


def _grants(found: Differences) -> list[Change]:
    """One change for each object and role."""
    missing, extra = _grouped(found.missing), _grouped(found.extra)
    changes = []
    for place in sorted({*missing, *extra}):
        kind, name, grantee = place
        lacks, has = missing.get(place, []), extra.get(place, [])
        parts = [f"lacks {', '.join(lacks)}"] if lacks else []
        parts += [f"has {', '.join(has)} beyond the list"] if has else []
        label = f"later {name}" if kind == "default" else name
        changes.append(
            _change(
                "grant",
                f"{label} to {grantee}",
                "drifted" if has else "missing",
                "extra" if has else "missing",
                "delete" if has and not lacks else "update" if has else "create",
                ", ".join(has) or None,
                ", ".join(lacks) or None,
                [*lacks, *has],
                f"on {kind if kind != 'default' else 'later objects:'} {name}, {grantee}"
                f" {' and '.join(parts)}",
            )
        )
    return changes


def _grouped(grants: Iterable[LiveGrant]) -> dict[tuple[str, str, str], list[str]]:
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for grant in sorted(grants):
        found[grant[:3]].append(grant.privilege)
    return found


def _foreign(grants: Iterable[LiveGrant]) -> list[UnmanagedObject]:
    return [
        UnmanagedObject(kind="grant", name=f"{name} to {grantee}: {', '.join(privileges)}")
        for (_, name, grantee), privileges in _grouped(grants).items()
    ]


def _change(
    kind: str,
    name: str,
    state: str,
    reason: str,
    action: str,
    before: str | None,
    after: str | None,
    differences: list[str],
    detail: str,
) -> Change:
    return Change.model_validate(
        {
            "kind": kind,
            "name": name,
            "state": state,
            "reason": reason,
            "action": action,
            "significance": "semantic",
            "before": before,
            "after": after,
            "differences": differences,
            "detail": detail,
        }
    )
