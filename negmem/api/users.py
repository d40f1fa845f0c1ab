"""`mem.user`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.picture import UserPicture
    from negmem.core.models.standing import Standing


class Users(Noun):
    """`mem.user`: what stands for a person: a pause, an objection, a legal hold."""

    def show(self, user: str) -> Standing:
        """Whether a person is paused, held or being erased."""
        from negmem.core.governance.standing import show

        return show(self._owner.session, user_of(user))

    def picture(self, user: str, *, limit: int = 20) -> UserPicture:
        """All that is known of a person, store by store, with where it came from."""
        from negmem.core.learning.picture import picture

        return picture(self._owner.session, user_of(user), limit=limit)

    def pause(
        self,
        user: str,
        *,
        objection: bool = False,
        reason: str | None = None,
        actor: str | None = None,
    ) -> Standing:
        """Remember nothing of a person from now on; `objection`: at the person's own wish."""
        from negmem.core.governance.standing import stand

        name = user_of(user)
        if objection:
            return stand(self._owner.session, name, "object", reason=reason, actor=actor)
        return stand(self._owner.session, name, "pause", reason=reason, actor=actor)

    def resume(self, user: str, *, reason: str | None = None, actor: str | None = None) -> Standing:
        """End a pause or an objection."""
        from negmem.core.governance.standing import stand

        return stand(self._owner.session, user_of(user), "resume", reason=reason, actor=actor)

    def hold(self, user: str, *, reason: str | None = None, actor: str | None = None) -> Standing:
        """Legal hold: nothing of the person is deleted."""
        from negmem.core.governance.standing import stand

        return stand(self._owner.session, user_of(user), "hold", reason=reason, actor=actor)

    def release(
        self, user: str, *, reason: str | None = None, actor: str | None = None
    ) -> Standing:
        """End a legal hold."""
        from negmem.core.governance.standing import stand

        return stand(self._owner.session, user_of(user), "release", reason=reason, actor=actor)
