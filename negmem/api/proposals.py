"""`mem.proposals`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.proposal import ProposalDecision, ProposalList, ProposalShown


class Proposals(Noun):
    """`mem.proposals`: writes that wait for a person."""

    def list(
        self,
        *,
        user: str | None = None,
        namespace: str | None = None,
        store: str | None = None,
        status: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> ProposalList:
        """A page of proposals, what waits first; with `user` what that user may see."""
        from negmem.core.learning import proposals

        return proposals.list_proposals(
            self._owner.session,
            None if user is None else user_of(user),
            namespace=namespace,
            store=store,
            status=status,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str | None = None) -> ProposalShown:
        """One proposal, and what it would change of what stands now."""
        from negmem.core.learning import proposals

        whose = None if user is None else user_of(user)
        return proposals.show(self._owner.session, whose, proposals.parse_id(id))

    def approve(
        self,
        id: UUID | str,
        *,
        user: str | None = None,
        actor: str | None = None,
        reason: str | None = None,
        anyway: bool = False,
        dry_run: bool = False,
    ) -> ProposalDecision:
        """Make the write that was proposed, once; in mode hitl by another than proposed it.

        Args: anyway, though what it changes was changed meanwhile.
        """
        from negmem.core.learning import proposals

        return proposals.approve(
            self._owner.session,
            proposals.parse_id(id),
            user=None if user is None else user_of(user),
            actor=actor,
            reason=reason,
            anyway=anyway,
            dry_run=dry_run,
        )

    def reject(
        self,
        id: UUID | str,
        *,
        user: str | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> ProposalDecision:
        """Decide against a proposal; the same is not proposed again for 30 days."""
        from negmem.core.learning import proposals

        return proposals.reject(
            self._owner.session,
            proposals.parse_id(id),
            user=None if user is None else user_of(user),
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )
