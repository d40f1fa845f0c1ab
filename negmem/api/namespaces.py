"""`mem.namespace`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.api.arguments import Noun, user_of, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.namespace import NamespaceChange
    from negmem.core.models.namespace import Namespaces as Found


class Namespaces(Noun):
    """`mem.namespace`: who shares learned knowledge and entities."""

    def create(self, name: str, *, admin: str | None = None) -> NamespaceChange:
        """Make a namespace of a team; global and each user's own exist without."""
        from negmem.core.learning import namespaces

        first = None if admin is None else user_of(admin)
        return namespaces.create(self._owner.session, name, admin=first)

    def list(self, *, user: str | None = None) -> Found:
        """The namespaces of the app, with their members."""
        from negmem.core.learning import namespaces

        whose = user_or_none(user)
        return namespaces.list_namespaces(self._owner.session, user=whose)

    def grant(self, name: str, user: str, *, role: str = "reader") -> NamespaceChange:
        """Give a user a role, in place of the one before."""
        from negmem.core.learning import namespaces

        return namespaces.grant(self._owner.session, name, user_of(user), role=role)

    def revoke(self, name: str, user: str) -> NamespaceChange:
        """Take a user's role away; what the user wrote there stays."""
        from negmem.core.learning import namespaces

        return namespaces.revoke(self._owner.session, name, user_of(user))
