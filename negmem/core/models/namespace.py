"""Namespaces, as the API returns them and `--json` prints them."""

from __future__ import annotations

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

ROLES = ("reader", "writer", "admin")


class Member(Model):
    """Who may read (reader) or also write (writer, admin) in a namespace."""

    user: str
    role: str
    granted_by: str | None
    granted_at: Instant


class Namespace(Model):
    """A team, or the app's own namespace `global`, which exists without being made."""

    name: str
    kind: str
    created_by: str | None
    created_at: Instant | None
    members: list[Member]


class Namespaces(Model):
    """Namespaces by kind and name; `global_access` is what users have in global without a grant."""

    namespaces: list[Namespace]
    global_access: str


class NamespaceChange(Model):
    """What was done: create, grant or revoke; `changed` is false where it was so already."""

    action: str
    namespace: str
    user: str | None = None
    role: str | None = None
    previous_role: str | None = None
    changed: bool
    dry_run: bool = False
