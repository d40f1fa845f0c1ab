"""`mem.profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.profile import Profile, ProfileChange


class Profiles(Noun):
    """`mem.profile`: who a user is, field by field."""

    def show(self, *, user: str) -> Profile:
        """What is known of a user, set by hand or extracted."""
        from negmem.core.learning import profile

        return profile.show(self._owner.session, user_of(user))

    def set(self, field: str, value: Any, *, user: str, note: str | None = None) -> ProfileChange:
        """Set a field of the schema; what is extracted does not change it. `note`: why, for the trail."""
        from negmem.core.learning import profile

        return profile.set_field(self._owner.session, user_of(user), field, value, note=note)

    def unset(self, field: str, *, user: str) -> ProfileChange:
        """Take what is known of a field away."""
        from negmem.core.learning import profile

        return profile.unset_field(self._owner.session, user_of(user), field)

    def undo(self, field: str, *, user: str) -> ProfileChange:
        """Take the last change of a field back; a second undo takes back the first."""
        from negmem.core.learning import profile

        return profile.undo(self._owner.session, user_of(user), field)
